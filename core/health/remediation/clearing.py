"""Clear rules: what ends a condition that was derived from logs.

Logs say when trouble begins and never when it ends, so each class of fault names what ends its condition: a reboot,
a probe that passes, or a quiet time. The restart of an agent ends nothing, and the absence of data is not health
(node-problem-detector 215, 304, 474, 673, 936).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from core.health.faults import FaultClass
from core.health.signals import NodeIdentity


class Probe(StrEnum):
    """An active check whose success is evidence of health."""

    GPU_DIAGNOSTIC = "gpu_diagnostic"
    """DCGM level 2 or deeper."""
    GPU_COUNT = "gpu_count"
    ROW_REMAP_CLEAN = "row_remap_clean"
    NETWORK_PAIR = "network_pair"
    """Bandwidth between two nodes, or EFA loopback."""
    MOUNT_READ_WRITE = "mount_read_write"
    FABRIC_MANAGER_RUNNING = "fabric_manager_running"
    JOB_STEPS = "job_steps"
    """The job made steps again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearRule:
    """Any of the given ways ends the condition; none given = only a person or a replacement does."""

    by_reboot: bool = False
    by_probe: Probe | None = None
    by_quiet: timedelta | None = None
    """Time without the fault, counted only while data arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition that holds on a node since `last_seen_at` at the latest."""

    node: NodeIdentity
    fault_class: FaultClass
    last_seen_at: datetime


class ClearingEvent(StrEnum):
    REBOOTED = "rebooted"
    REPLACED = "replaced"
    PROBE_PASSED = "probe_passed"
    DATA_SEEN = "data_seen"
    """The source of the condition delivered, without the fault in it."""
    AGENT_RESTARTED = "agent_restarted"
    PERSON_CLEARED = "person_cleared"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEvent:
    kind: ClearingEvent
    node: NodeIdentity
    at: datetime
    probe: Probe | None = None


_MINUTES_10, _HOURS_1, _HOURS_24 = timedelta(minutes=10), timedelta(hours=1), timedelta(hours=24)
_JOB: Final = ClearRule(by_probe=Probe.JOB_STEPS, by_quiet=_HOURS_1)

CLEAR_RULES: Final[dict[FaultClass, ClearRule]] = {
    FaultClass.GPU_HW: ClearRule(by_probe=Probe.GPU_DIAGNOSTIC),
    FaultClass.GPU_HW_BUS: ClearRule(by_probe=Probe.GPU_COUNT),
    FaultClass.GPU_HW_MEMORY: ClearRule(by_probe=Probe.ROW_REMAP_CLEAN),
    FaultClass.NVLINK_PEER: ClearRule(by_probe=Probe.GPU_DIAGNOSTIC),
    FaultClass.NVLINK_SWITCH: ClearRule(by_probe=Probe.GPU_DIAGNOSTIC),
    FaultClass.NETWORK: ClearRule(by_probe=Probe.NETWORK_PAIR, by_quiet=_MINUTES_10),
    FaultClass.NETWORK_HW: ClearRule(by_probe=Probe.NETWORK_PAIR, by_quiet=_HOURS_24),
    FaultClass.NETWORK_HW_SUSPECT: ClearRule(by_probe=Probe.NETWORK_PAIR, by_quiet=_HOURS_24),
    FaultClass.NETWORK_PEER: ClearRule(by_probe=Probe.NETWORK_PAIR, by_quiet=_MINUTES_10),
    FaultClass.FILESYSTEM: ClearRule(by_probe=Probe.MOUNT_READ_WRITE, by_quiet=_MINUTES_10),
    FaultClass.SITE_EVENT: ClearRule(by_reboot=True, by_quiet=_MINUTES_10),
    FaultClass.SOFTWARE: _JOB,
    FaultClass.SOFTWARE_USER: _JOB,
    FaultClass.SOFTWARE_CONFIG: _JOB,
    FaultClass.NODE_SOFTWARE: ClearRule(by_reboot=True, by_quiet=_HOURS_1),
    FaultClass.DRIVER_BUG: ClearRule(by_reboot=True, by_probe=Probe.GPU_DIAGNOSTIC),
    FaultClass.FABRIC_MANAGER: ClearRule(by_reboot=True, by_probe=Probe.FABRIC_MANAGER_RUNNING),
    FaultClass.HOST_CONFIG: ClearRule(by_reboot=True, by_quiet=_HOURS_1),
    FaultClass.NETWORK_CONFIG: ClearRule(by_probe=Probe.NETWORK_PAIR),
    FaultClass.RESOURCES: _JOB,
    FaultClass.BENIGN: ClearRule(by_quiet=_MINUTES_10),
    FaultClass.FALSE_POSITIVE: ClearRule(by_quiet=_MINUTES_10),
    FaultClass.STALE_CONDITION: ClearRule(by_reboot=True, by_quiet=_MINUTES_10),
    FaultClass.OPERATOR_ACTION: ClearRule(by_quiet=_MINUTES_10),
    FaultClass.UNKNOWN: ClearRule(by_reboot=True, by_quiet=_HOURS_24),
    FaultClass.AMBIGUOUS: ClearRule(by_reboot=True, by_quiet=_HOURS_24),
}
"""Hardware is not called healthy by a reboot alone: the probe after it has to pass."""


def is_cleared(condition: Condition, events: Iterable[NodeEvent]) -> bool:
    """Whether one of the events after the condition ends it. Events of other nodes and earlier ones do not count."""
    rule = CLEAR_RULES[condition.fault_class]
    return any(_ends(condition, rule, event) for event in events if event.at > condition.last_seen_at)


def _ends(condition: Condition, rule: ClearRule, event: NodeEvent) -> bool:
    is_here = event.node.is_same_machine(condition.node)
    match event.kind:
        case ClearingEvent.REPLACED:
            return event.node.host == condition.node.host
        case ClearingEvent.PERSON_CLEARED:
            return event.node.host == condition.node.host
        case ClearingEvent.REBOOTED:
            return is_here and rule.by_reboot and _is_another_life(condition.node, event.node)
        case ClearingEvent.PROBE_PASSED:
            return is_here and event.probe is not None and event.probe is rule.by_probe
        case ClearingEvent.DATA_SEEN:
            return is_here and rule.by_quiet is not None and event.at - condition.last_seen_at >= rule.by_quiet
        case ClearingEvent.AGENT_RESTARTED:
            return False


def _is_another_life(before: NodeIdentity, after: NodeIdentity) -> bool:
    return before.boot_id is None or after.boot_id is None or before.boot_id != after.boot_id
