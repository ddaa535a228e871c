"""Builders of health facts with harmless defaults."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from core.cluster.clusters import NodeRecovery
from core.health.faults import Accused, Confidence, Fault, FaultClass, Remediation
from core.health.remediation.fleet import Fleet, FleetNode, PastRepair, SeenFault
from core.health.signals import NodeIdentity, Signal, SignalFamily

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
BROKEN = NodeIdentity(host="node-0")


def a_fault(code: str = "79", node: NodeIdentity | None = BROKEN, **changes: object) -> Fault:
    """An Xid on `node` that a reboot is tried for first."""
    fault = Fault(
        fault_class=FaultClass.GPU_HW_BUS,
        rule=f"xid:{code}",
        first_remediation=Remediation.REBOOT,
        repeat_remediation=Remediation.REPLACE,
        accused=Accused.REPORTER,
        confidence=Confidence.STATED,
        is_fatal=True,
        source="test",
        leading=Signal(kind="xid", family=SignalFamily.KERNEL, code=code, node=node, at=NOW),
        node=node,
    )
    return replace(fault, **changes)  # type: ignore[arg-type]


def a_node(host: str = "node-0", **changes: object) -> FleetNode:
    return replace(FleetNode(identity=NodeIdentity(host=host), group="gpu"), **changes)  # type: ignore[arg-type]


def a_fleet(size: int = 20, broken: FleetNode | None = None, **changes: object) -> Fleet:
    """`size` healthy nodes of one group, the first of them `broken`; Muster is in charge."""
    nodes = (broken or a_node(), *(a_node(f"node-{number}") for number in range(1, size)))
    fleet = Fleet(now=NOW, nodes=nodes, node_recovery=NodeRecovery.NONE)
    return replace(fleet, **changes)  # type: ignore[arg-type]


def a_repair(host: str = "node-0", at: datetime = NOW, **changes: object) -> PastRepair:
    repair = PastRepair(node=NodeIdentity(host=host), fault_code="xid:79", remediation=Remediation.REBOOT, at=at)
    return replace(repair, **changes)  # type: ignore[arg-type]


def a_sighting(host: str = "node-0", at: datetime = NOW, code: str = "xid:79") -> SeenFault:
    return SeenFault(node=NodeIdentity(host=host), fault_code=code, at=at)
