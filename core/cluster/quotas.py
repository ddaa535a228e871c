"""Team, ComputeQuota and PriorityClass of HyperPod task governance.

Members and limits: SageMaker `CreateComputeQuota` and `CreateClusterSchedulerConfig` (botocore 1.44.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.ids import InstanceTypeName, TeamName

DEFAULT_BORROW_LIMIT_PERCENT = 50
"""AWS's default of `ResourceSharingConfig.BorrowLimit`."""


class SharingStrategy(StrEnum):
    """What a team does with the part of its quota that it does not use."""

    LEND = "Lend"
    DONT_LEND = "DontLend"
    LEND_AND_BORROW = "LendAndBorrow"


class PreemptTeamTasks(StrEnum):
    """Whether a team's own lower-priority workloads give way to its higher ones (strictly lower)."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaResource:
    """What a team owns of one instance type; at least one figure besides the type is set."""

    instance_type: InstanceTypeName
    count: int | None = None
    """Whole instances."""
    accelerators: int | None = None
    vcpus: float | None = None
    memory_gib: float | None = None
    mig_profile: str | None = None
    """`mig-1g.5gb` and so on; with `mig_count`."""
    mig_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSharing:
    strategy: SharingStrategy = SharingStrategy.LEND_AND_BORROW
    borrow_limit_percent: int = DEFAULT_BORROW_LIMIT_PERCENT
    """Of the team's own quota, 0 to 10,000."""
    absolute_borrow_limits: tuple[QuotaResource, ...] = ()
    """Caps that override the percentage, at most 15."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeQuota:
    """What one team owns of a cluster, and how it shares it. At most 15 resources."""

    name: str
    team: TeamName
    resources: tuple[QuotaResource, ...]
    sharing: ResourceSharing = ResourceSharing()
    preempt_team_tasks: PreemptTeamTasks = PreemptTeamTasks.LOWER_PRIORITY
    fair_share_weight: int = 0
    """0 to 100; 0 = last in line and first victim as soon as the team borrows."""
    is_active: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityClass:
    """A named weight, 0 to 100, at most 10 per cluster."""

    name: str
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerPolicy:
    """`SchedulerConfig` of a cluster."""

    priority_classes: tuple[PriorityClass, ...] = ()
    fair_share: bool = True
    """False = first come, first served."""
    idle_resource_sharing: bool = True
    """True = capacity that no quota covers can be borrowed too."""
