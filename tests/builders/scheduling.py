"""Small worlds for the scheduling core. Quantities are `gpu` on flavor `h100` unless said otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.scheduling.policies import (
    BorrowWithinCohort,
    Fungibility,
    PreemptionPolicy,
    QueueingStrategy,
    QueuePreemption,
    SchedulerConfig,
)
from core.scheduling.scheduler import Scheduler
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

NEVER, LOWER, NEWER, ANY = (
    PreemptionPolicy.NEVER,
    PreemptionPolicy.LOWER_PRIORITY,
    PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY,
    PreemptionPolicy.ANY,
)


def group(quotas: Mapping[str, int | Quota], resource: str = "gpu") -> ResourceGroup:
    """One resource; flavor -> nominal quota, or the whole quota."""
    return ResourceGroup(
        resources=(resource,),
        flavors=tuple(
            FlavorQuotas(flavor=flavor, quotas={resource: quota if isinstance(quota, Quota) else Quota(nominal=quota)})
            for flavor, quota in quotas.items()
        ),
    )


def queue(
    name: str,
    gpus: int | Quota | Mapping[str, int | Quota] = 0,
    *,
    cohort: str | None = None,
    within: PreemptionPolicy = NEVER,
    reclaim: PreemptionPolicy = NEVER,
    borrow: BorrowWithinCohort | None = None,
    strategy: QueueingStrategy = QueueingStrategy.BEST_EFFORT_FIFO,
    weight: float = 1.0,
    fungibility: Fungibility | None = None,
) -> ClusterQueue:
    quotas = gpus if isinstance(gpus, Mapping) else {"h100": gpus}
    return ClusterQueue(
        name=name,
        cohort=cohort,
        strategy=strategy,
        weight=weight,
        groups=(group(quotas),),
        preemption=QueuePreemption(within_queue=within, reclaim_in_cohort=reclaim, borrow_in_cohort=borrow),
        fungibility=fungibility or Fungibility(),
    )


def cohort(name: str, gpus: int | Quota | None = None, *, parent: str | None = None, weight: float = 1.0) -> Cohort:
    groups = () if gpus is None else (group({"h100": gpus}),)
    return Cohort(name=name, parent=parent, weight=weight, groups=groups)


def pending(
    uid: str,
    queue: str,
    gpus: int = 1,
    *,
    count: int = 1,
    min_count: int | None = None,
    priority: int = 0,
    at_s: float = 0.0,
) -> PendingWorkload:
    """`gpus` per pod."""
    podset = PodSetRequest(name="main", count=count, min_count=min_count, requests={"gpu": gpus})
    return PendingWorkload(uid=uid, queue=queue, priority=priority, queued_at_s=at_s, podsets=(podset,))


def admitted(
    uid: str,
    queue: str,
    gpus: int = 1,
    *,
    priority: int = 0,
    reserved_s: float = 0.0,
    queued_s: float = 0.0,
    flavor: str = "h100",
    is_evicting: bool = False,
) -> AdmittedWorkload:
    """One pod; `gpus` in total."""
    podset = AdmittedPodSet(name="main", count=1, flavors={"gpu": flavor}, usage={"gpu": gpus})
    return AdmittedWorkload(
        uid=uid,
        queue=queue,
        priority=priority,
        queued_at_s=queued_s,
        reserved_at_s=reserved_s,
        is_evicting=is_evicting,
        podsets=(podset,),
    )


def world(
    queues: Sequence[ClusterQueue],
    *,
    cohorts: Sequence[Cohort] = (),
    admitted: Sequence[AdmittedWorkload] = (),
    pending: Sequence[PendingWorkload] = (),
    config: SchedulerConfig | None = None,
) -> World:
    """Every flavor that a queue or cohort names exists."""
    owners: list[ClusterQueue | Cohort] = [*queues, *cohorts]
    names = {quotas.flavor for owner in owners for g in owner.groups for quotas in g.flavors}
    return World(
        flavors=tuple(ResourceFlavor(name=name) for name in sorted(names)),
        cohorts=tuple(cohorts),
        queues=tuple(queues),
        admitted=tuple(admitted),
        pending=tuple(pending),
        config=config or SchedulerConfig(),
    )


def settle(scheduler: Scheduler, *, now_s: float = 0.0, cycles: int = 100) -> list[str]:
    """Run cycles, let every victim leave at once and wait again, until nothing moves. Who was evicted, in order.

    Raises `AssertionError` when it is still moving after `cycles`.
    """
    evicted: list[str] = []
    for _ in range(cycles):
        facts = {w.uid: w for w in scheduler.holders()}
        result = scheduler.cycle(now_s)
        for eviction in result.evictions:
            evicted.append(eviction.uid)
            scheduler.requeue(waiting_again(facts[eviction.uid]))
        if scheduler.is_at_rest:
            return evicted
    raise AssertionError(f"still moving after {cycles} cycles; evicted {evicted[-10:]}")


def waiting_again(workload: AdmittedWorkload) -> PendingWorkload:
    """The evicted workload as it queues again, at the size at which it ran."""
    return PendingWorkload(
        uid=workload.uid,
        queue=workload.queue,
        priority=workload.priority,
        queued_at_s=workload.queued_at_s,
        podsets=tuple(
            PodSetRequest(
                name=p.name,
                count=p.count,
                requests={resource: total // max(1, p.count) for resource, total in p.usage.items()},
            )
            for p in workload.podsets
        ),
    )
