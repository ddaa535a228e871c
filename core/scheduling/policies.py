"""The settings of a queue and of the scheduler, in Kueue's words.

Values and defaults: Kueue v0.20 API (`ClusterQueue.spec.preemption`, `.flavorFungibility`,
`.queueingStrategy`, `Configuration.fairSharing`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class QueueingStrategy(StrEnum):
    STRICT_FIFO = "StrictFIFO"
    """The head blocks its queue until it is admitted."""
    BEST_EFFORT_FIFO = "BestEffortFIFO"
    """A head that cannot be admitted is parked, and the next one is tried."""


class PreemptionPolicy(StrEnum):
    """Which workloads may be taken."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    """Strictly lower priority."""
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"
    ANY = "Any"


class WhenCanBorrow(StrEnum):
    MAY_STOP_SEARCH = "MayStopSearch"
    TRY_NEXT_FLAVOR = "TryNextFlavor"


class WhenCanPreempt(StrEnum):
    MAY_STOP_SEARCH = "MayStopSearch"
    TRY_NEXT_FLAVOR = "TryNextFlavor"


class FungibilityPreference(StrEnum):
    """Which flavor wins when the search has seen several."""

    BORROWING_OVER_PREEMPTION = "BorrowingOverPreemption"
    PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


class FairSharingStrategy(StrEnum):
    """When fair sharing may take a workload of another queue (Kueue's rules S2-a and S2-b)."""

    LESS_THAN_OR_EQUAL_TO_FINAL_SHARE = "LessThanOrEqualToFinalShare"
    LESS_THAN_INITIAL_SHARE = "LessThanInitialShare"


class RequeueTimestamp(StrEnum):
    """Where a workload that missed its pods-ready deadline queues again."""

    EVICTION = "Eviction"
    """At the back."""
    CREATION = "Creation"
    """In its old place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BorrowWithinCohort:
    """Whether a queue may preempt while it borrows."""

    policy: PreemptionPolicy = PreemptionPolicy.NEVER
    max_priority_threshold: int | None = None
    """Victims above it are safe from a queue that would borrow; absent = no such limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePreemption:
    """A policy that is `None` was never set: it takes no victims, but does not read as `Never`.

    The difference shows only under fair sharing, in the test whether a queue may preempt while borrowing.
    """

    within_queue: PreemptionPolicy | None = PreemptionPolicy.NEVER
    reclaim_in_cohort: PreemptionPolicy | None = PreemptionPolicy.NEVER
    borrow_in_cohort: BorrowWithinCohort | None = None

    @property
    def borrows_by_preempting(self) -> bool:
        return self.borrow_in_cohort is not None and self.borrow_in_cohort.policy is not PreemptionPolicy.NEVER


@dataclass(frozen=True, slots=True, kw_only=True)
class Fungibility:
    when_can_borrow: WhenCanBorrow = WhenCanBorrow.MAY_STOP_SEARCH
    when_can_preempt: WhenCanPreempt = WhenCanPreempt.TRY_NEXT_FLAVOR
    preference: FungibilityPreference = FungibilityPreference.BORROWING_OVER_PREEMPTION


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """Feature gates of Kueue v0.20 that change decisions, at their defaults."""

    partial_admission: bool = True
    reclaimable_pods: bool = True
    elastic_slices: bool = True
    topology_aware_scheduling: bool = True
    tas_profile_mixed: bool = True
    """Unconstrained placement fills the least free domains first."""
    tas_multi_layer_topology: bool = True
    tas_recompute_within_cycle: bool = True
    recompute_on_victim_overlap: bool = True
    """`RecomputeAssignmentUponPreemptionTargetsOverlap`."""
    preserve_scan_progress: bool = True
    scheduling_equivalence_hashing: bool = True
    """Parks every workload of a shape that was just refused."""
    fair_sharing_prioritize_non_borrowing: bool = True
    fair_sharing_preempt_within_nominal: bool = True
    fair_sharing_reevaluate_candidates: bool = False
    priority_sorting_within_cohort: bool = True
    prioritize_preemptors: bool = False
    """`PrioritizePreemptorWorkloads`, alpha: who has told victims to go is decided before everybody else."""


BOTH_STRATEGIES = (
    FairSharingStrategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
    FairSharingStrategy.LESS_THAN_INITIAL_SHARE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerConfig:
    fair_sharing: bool = False
    fair_strategies: tuple[FairSharingStrategy, ...] = BOTH_STRATEGIES
    requeue_timestamp: RequeueTimestamp = RequeueTimestamp.EVICTION
    gates: Gates = field(default_factory=Gates)
