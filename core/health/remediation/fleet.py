"""The state that a remediation decision is made over: nodes, past repairs, open faults, limits.

Everything is a value that the caller read a moment ago; nothing here looks anything up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from core.cluster.clusters import NodeHealthStatus, NodeRecovery
from core.health.faults import Remediation
from core.health.signals import NodeIdentity

MUSTER = "muster"
"""Who cordoned, when it was us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetNode:
    """One node as the decision sees it."""

    identity: NodeIdentity
    group: str
    is_healthy: bool = True
    """Running, joined and without an open fault."""
    health: NodeHealthStatus = NodeHealthStatus.SCHEDULABLE
    running_jobs: tuple[str, ...] = ()
    cordoned_by: str | None = None
    """`muster`, another actor, or None. A cordon whose owner is not known belongs to another."""
    in_repair: bool = False
    is_controller: bool = False
    """The Slurm controller: HyperPod does not replace it."""
    is_managed: bool = True
    """False = a person took the node out of Muster's care."""
    local_volumes: tuple[str, ...] = ()
    """Volumes that a replacement destroys."""
    is_spare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRepair:
    """A remediation that was carried out, or tried."""

    node: NodeIdentity
    fault_code: str
    remediation: Remediation
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenFault:
    """A fault that was diagnosed, once per incident, whether or not something was done."""

    node: NodeIdentity
    fault_code: str
    at: datetime


class BreakerState(StrEnum):
    CLOSED = "closed"
    TRIPPED = "tripped"
    """Stays so until a person resets it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingApproval:
    """What people allowed beforehand, bounded in scope, count and time."""

    remediations: frozenset[Remediation]
    groups: frozenset[str]
    """Empty = every group."""
    left: int
    until: datetime

    def covers(self, remediation: Remediation, group: str, now: datetime) -> bool:
        in_scope = remediation in self.remediations and (not self.groups or group in self.groups)
        return in_scope and self.left > 0 and now < self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The guards' settings. Defaults with the tool that they are from."""

    breaker_share: float = 0.5
    """Of a cluster's nodes taken within `breaker_window` (NVSentinel)."""
    breaker_window: timedelta = timedelta(minutes=5)
    minimum_healthy_share: float = 0.51
    """Below it there is a storm, and nothing is repaired (medik8s)."""
    storm_exit_delay: timedelta = timedelta(minutes=10)
    repairs_per_node: int = 5
    repairs_window: timedelta = timedelta(days=7)
    """Five repairs in seven days stop automatic repair (NVSentinel)."""
    fleet_wide_nodes: int = 3
    fleet_wide_share: float = 0.05
    """The same code on that many nodes, whichever is more, is a roll-out and not hardware."""
    fleet_wide_window: timedelta = timedelta(hours=1)
    look_back: timedelta = timedelta(hours=24)
    """The same fault inside it is a repeat."""
    flap_count: int = 3
    flap_window: timedelta = timedelta(hours=24)
    """A node that was repaired and failed that often is not repaired again without a person."""
    confirmations: int = 2
    """Samples that a checker's finding needs; codes of the kernel log need one."""
    follow_patience: timedelta = timedelta(minutes=10)
    """How long HyperPod is given to act on what it sees, with NodeRecovery Automatic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """One cluster at one moment."""

    now: datetime
    nodes: tuple[FleetNode, ...]
    node_recovery: NodeRecovery
    repairs: tuple[PastRepair, ...] = ()
    faults: tuple[SeenFault, ...] = ()
    breaker: BreakerState = BreakerState.CLOSED
    storm_ended_at: datetime | None = None
    """When the healthy share last rose above its minimum; None = no storm known."""
    standing: tuple[StandingApproval, ...] = ()
    is_paused: bool = False
    """The stop switch or the read-only mode."""
    limits: Limits = field(default_factory=Limits)

    def find(self, identity: NodeIdentity) -> FleetNode | None:
        return next((node for node in self.nodes if node.identity.is_same_machine(identity)), None)

    @property
    def healthy_share(self) -> float:
        """1 for an empty cluster: there is nothing to protect."""
        return sum(node.is_healthy for node in self.nodes) / len(self.nodes) if self.nodes else 1.0

    def spares(self, group: str) -> tuple[FleetNode, ...]:
        return tuple(
            node
            for node in self.nodes
            if node.is_spare and node.group == group and node.is_healthy and not node.running_jobs
        )
