"""Who runs where: decisions equal to those of Kueue v0.20, each with its reason.

    World ──▶ Scheduler ──cycle(now_s)──▶ CycleResult(decisions, ...)
                 ▲  submit, withdraw, finish, requeue, mark_evicting, capacity_changed

A `World` states facts: flavors, cohorts, queues, nodes, what runs and what waits. A `Scheduler` keeps the state
between cycles; the caller tells it what happened and acts on what it decides:

* `Outcome.ADMITTED`: start the pods of `decision.admitted` (flavors, counts, places).
* `Outcome.PREEMPTING`: stop the workloads of `decision.evictions`; once one has left its nodes, call
  `requeue` (it waits again) or `finish` (it is gone). The preemptor is tried again by itself.
* `Outcome.REFUSED`: `decision.refusal` says why, and what would admit it.

One call of `cycle` decides the head of every queue once. Call it until `is_at_rest`: then nothing changes before
the next event. `check_policy` is stricter than `Scheduler`, for settings that are about
to be applied. Nothing here reads a clock, draws a random number or does I/O.
"""

from core.scheduling.decisions import CycleResult, Decision, Eviction, Outcome
from core.scheduling.errors import WorldField, WorldInvalid
from core.scheduling.refusals import Refusal, RefusalReason
from core.scheduling.scheduler import Scheduler
from core.scheduling.validation import check_policy, check_workload, check_world
from core.scheduling.victims import PreemptionReason
from core.scheduling.world import (
    AdmittedPodSet,
    AdmittedWorkload,
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    PendingWorkload,
    PodSetRequest,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    World,
)

__all__ = [
    "AdmittedPodSet",
    "AdmittedWorkload",
    "ClusterQueue",
    "Cohort",
    "CycleResult",
    "Decision",
    "Eviction",
    "FlavorQuotas",
    "Outcome",
    "PendingWorkload",
    "PodSetRequest",
    "PreemptionReason",
    "Quota",
    "Refusal",
    "RefusalReason",
    "ResourceFlavor",
    "ResourceGroup",
    "Scheduler",
    "World",
    "WorldField",
    "WorldInvalid",
    "check_policy",
    "check_workload",
    "check_world",
]
