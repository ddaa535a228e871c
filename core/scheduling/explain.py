"""Why is it waiting, and what would admit it? Answered by deciding again on the present state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.messages.message import Message
from core.scheduling.decisions import Outcome
from core.scheduling.pending import Pending
from core.scheduling.quantities import UNLIMITED, FlavorResource
from core.scheduling.refusals import Refusal, RefusalReason
from core.scheduling.remedies import Remedy, RemedyFinder
from core.scheduling.scheduler import Scheduler
from core.scheduling.world import ClusterQueue, FlavorQuotas, PendingWorkload, Quota, ResourceGroup, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """`refusal` is absent for a workload that the next cycle admits."""

    workload: PendingWorkload
    refusal: Refusal | None
    ahead: tuple[str, ...]
    """Workloads that its queue tries before it, best first."""
    remedies: tuple[Remedy, ...]

    def messages(self) -> list[Message]:
        """Reason, figures and remedies, in the order in which they are read."""
        if self.refusal is None:
            return []
        return [
            self.refusal.message(),
            *self.refusal.details(),
            *(remedy.message() for remedy in self.remedies),
        ]


def explain(scheduler: Scheduler, uid: str) -> Explanation | None:
    """`None` when nothing of that uid waits. The scheduler is not changed."""
    workload = scheduler.find(uid)
    if workload is None:
        return None
    world = scheduler.world()
    ahead = _ahead(world, workload)
    alone = Scheduler(replace(world, pending=(workload,)))
    decision = next((d for d in alone.cycle(_wake_time(workload)).decisions if d.uid == uid), None)
    if workload.not_before_s is not None:
        refusal: Refusal | None = Refusal(
            reason=RefusalReason.BACKOFF, uid=uid, queue=workload.queue, until_s=workload.not_before_s
        )
    elif decision is None:
        refusal = Refusal(reason=RefusalReason.QUEUE_INACTIVE, uid=uid, queue=workload.queue)
    elif decision.outcome is Outcome.ADMITTED:
        refusal = None
        if ahead:
            refusal = Refusal(reason=RefusalReason.BEHIND_OTHERS, uid=uid, queue=workload.queue, victims=ahead)
    else:
        refusal = decision.refusal
    is_stuck = decision is not None and decision.outcome is not Outcome.ADMITTED
    remedies = _remedies(replace(world, pending=()), workload) if is_stuck else ()
    return Explanation(workload=workload, refusal=refusal, ahead=ahead, remedies=remedies)


def admits(world: World, workload: PendingWorkload) -> bool:
    """Whether the workload, alone at the head of its queue, would be admitted in this world, preempting nobody."""
    result = Scheduler(replace(world, pending=(workload,))).cycle(_wake_time(workload))
    return any(decision.outcome is Outcome.ADMITTED for decision in result.decisions)


def applied(world: World, workload: PendingWorkload, remedy: Remedy) -> tuple[World, PendingWorkload]:
    """World and workload after the remedy."""
    leaving = set(remedy.leaving)
    return (
        replace(
            world,
            admitted=tuple(w for w in world.admitted if w.uid not in leaving),
            queues=tuple(
                _raised(queue, remedy.quota_raises) if queue.name == remedy.queue else queue for queue in world.queues
            ),
        ),
        replace(
            workload,
            podsets=tuple(
                replace(p, count=remedy.counts.get(p.name, p.count), min_count=None, reclaimable=0)
                if remedy.counts
                else p
                for p in workload.podsets
            ),
        ),
    )


def _remedies(world: World, workload: PendingWorkload) -> tuple[Remedy, ...]:
    """Each was tried: what is returned admits the workload."""
    scheduler = Scheduler(world)
    finder = RemedyFinder(scheduler.snapshot, scheduler.nominator)
    pending = Pending(workload)
    queue = scheduler.snapshot.queue(workload.queue)
    raises = (remedy for remedy in finder.quota_raises(pending, queue) if _works(world, workload, remedy))
    candidates = (finder.others_leave(pending, queue), finder.ask_less(pending, queue), next(raises, None))
    return tuple(r for r in candidates if r is not None and _works(world, workload, r))


def _works(world: World, workload: PendingWorkload, remedy: Remedy) -> bool:
    return admits(*applied(world, workload, remedy))


def _raised(queue: ClusterQueue, raises: Mapping[FlavorResource, int]) -> ClusterQueue:
    return replace(queue, groups=tuple(_raised_group(group, raises) for group in queue.groups))


def _raised_group(group: ResourceGroup, raises: Mapping[FlavorResource, int]) -> ResourceGroup:
    return replace(
        group,
        flavors=tuple(
            FlavorQuotas(
                flavor=quotas.flavor,
                quotas={
                    resource: _plus(
                        quotas.quotas.get(resource, Quota(nominal=0)),
                        raises.get(FlavorResource(quotas.flavor, resource), 0),
                    )
                    for resource in group.resources
                },
            )
            for quotas in group.flavors
        ),
    )


def _plus(quota: Quota, amount: int) -> Quota:
    return replace(quota, nominal=min(UNLIMITED, quota.nominal + amount))


def _ahead(world: World, workload: PendingWorkload) -> tuple[str, ...]:
    same = (w for w in world.pending if w.queue == workload.queue)
    before = sorted(same, key=_queue_key)
    return tuple(w.uid for w in before if _queue_key(w) < _queue_key(workload))


def _queue_key(workload: PendingWorkload) -> tuple[int, float, str]:
    queued = float("-inf") if workload.queued_at_s is None else workload.queued_at_s
    return (-workload.priority, queued, workload.uid)


def _wake_time(workload: PendingWorkload) -> float:
    return 0.0 if workload.not_before_s is None else workload.not_before_s
