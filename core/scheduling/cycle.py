"""One scheduling cycle: the heads of all queues are nominated, ordered and decided one after another.

Source: Kueue v0.20 `pkg/scheduler/scheduler.go`. What is only assumed within the cycle (capacity held for a
blocked head, the place of a preemptor whose victims have not left) is taken back at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.scheduling.assignment import Assignment, FitMode
from core.scheduling.decisions import CycleResult, Decision, Eviction, Outcome, Recomputations
from core.scheduling.nomination import Nomination, Nominator
from core.scheduling.order import FairOrder, classical_key
from core.scheduling.preemption import can_always_reclaim
from core.scheduling.quantities import Usage
from core.scheduling.queues import RequeueReason
from core.scheduling.quota_tree import QueueNode
from core.scheduling.refusals import Refusal, RefusalReason
from core.scheduling.relief import Relief
from core.scheduling.snapshot import Snapshot
from core.scheduling.topology import LeafUsage
from core.scheduling.world import AdmittedPodSet, AdmittedWorkload


class Cycle:
    """State of one cycle. Admissions change the snapshot for good; everything else is undone by `close`."""

    def __init__(self, snapshot: Snapshot, nominator: Nominator, *, number: int, now_s: float, generation: int) -> None:
        self._snapshot = snapshot
        self._nominator = nominator
        self._number = number
        self._now_s = now_s
        self._generation = generation
        self._relief = Relief()
        self._assumed: list[tuple[QueueNode, Usage]] = []
        self._assumed_places: list[LeafUsage] = []
        self._skipped: dict[str, int] = {}
        self._recomputed: dict[str, Recomputations] = {}
        self.decisions: list[Decision] = []
        self.requeued: list[tuple[Nomination, RequeueReason]] = []

    def run(self, nominations: Sequence[Nomination]) -> None:
        for nomination in self._ordered(nominations):
            self._process(nomination)

    def close(self) -> CycleResult:
        for queue, usage in self._assumed:
            queue.remove_all(usage)
        self._snapshot.topology.remove(self._assumed_places)
        return CycleResult(
            cycle=self._number,
            decisions=tuple(self.decisions),
            skipped_preemptions=self._skipped,
            recomputations=self._recomputed,
        )

    def _ordered(self, nominations: Sequence[Nomination]) -> Iterator[Nomination]:
        config = self._snapshot.config
        if config.fair_sharing:
            order = FairOrder(
                nominations,
                self._snapshot.tree.slots_by_resource,
                non_borrowing_first=config.gates.fair_sharing_prioritize_non_borrowing,
            )
            return (nominations[index] for index in order)
        gates = config.gates
        return iter(
            sorted(
                nominations,
                key=lambda n: (
                    gates.prioritize_preemptors and not n.pending.is_preemptor,
                    classical_key(n.level, n.priority if gates.priority_sorting_within_cohort else 0, n.queued_at_s),
                ),
            )
        )

    def _process(self, nomination: Nomination) -> None:
        is_deferred = self._recompute_if_overlapping(nomination)
        mode = nomination.assignment.mode
        if mode is FitMode.NO_FIT:
            self._refuse(nomination, RefusalReason.NEVER_FITS, RequeueReason.NO_FIT)
        elif mode.is_preempting and not nomination.victims:
            if not can_always_reclaim(nomination.queue):
                self._assume(nomination, held_usage(nomination.queue, nomination.assignment))
            self._refuse(nomination, RefusalReason.WAITS_FOR_OTHERS, RequeueReason.NO_CANDIDATES)
        elif is_deferred:
            self._assume(nomination, nomination.usage)
            self._refuse(nomination, RefusalReason.WAITS_FOR_VICTIMS_OF_OTHERS, RequeueReason.PENDING_PREEMPTION)
        elif any(victim.holder.uid in self._relief.victims for victim in nomination.victims):
            self._skip_preemption(nomination)
            self._refuse(nomination, RefusalReason.VICTIMS_TAKEN, RequeueReason.FAILED_AFTER_NOMINATION)
        elif not self._still_fits(nomination):
            if nomination.assignment.mode.is_preempting:
                self._skip_preemption(nomination)
            self._refuse(nomination, RefusalReason.NO_LONGER_FITS, RequeueReason.FAILED_AFTER_NOMINATION)
        elif nomination.is_fitting:
            self._admit(nomination)
        else:
            self._preempt(nomination)

    def _recompute_if_overlapping(self, nomination: Nomination) -> bool:
        """Decide again as if earlier victims were gone. True when the workload then fits without any."""
        if not any(victim.holder.uid in self._relief.victims for victim in nomination.victims):
            return False
        if not self._snapshot.config.gates.recompute_on_victim_overlap:
            return False
        relief = self._relief
        leaving = relief.victims.values() if self._snapshot.topology.is_used else relief.in_tree(nomination.queue)
        with self._snapshot.taken_out(leaving):
            self._nominator.renominate(nomination, self._generation, self._number)
        counts = self._recomputed.setdefault(nomination.queue.name, Recomputations())
        if nomination.is_fitting:
            counts.deferred_fit += 1
            return True
        if nomination.victims:
            counts.new_targets += 1
        else:
            counts.skipped += 1
        return False

    def _still_fits(self, nomination: Nomination) -> bool:
        """With every victim of the cycle gone, its own included."""
        if not self._fits_quota(nomination):
            return False
        if not self._nominator.placer.concerns(nomination.pending, nomination.queue):
            return True
        if self._has_place(nomination):
            return True
        if not self._snapshot.config.gates.tas_recompute_within_cycle:
            return False
        self._nominator.renominate(nomination, self._generation, self._number)
        if not (nomination.is_fitting or nomination.victims):
            return False
        return self._fits_quota(nomination) and self._has_place(nomination)

    def _fits_quota(self, nomination: Nomination) -> bool:
        queue, usage = nomination.queue, nomination.usage
        if queue.fits(usage):
            return True  # room never shrinks when others leave
        own = [victim.holder for victim in nomination.victims]
        if not self._relief.may_help(queue, usage, own):
            return False
        with self._relief.applied(queue, own):
            return queue.fits(usage)

    def _has_place(self, nomination: Nomination) -> bool:
        leaving = [*self._relief.victims.values(), *(victim.holder for victim in nomination.victims)]
        with self._snapshot.taken_out(leaving):
            return self._nominator.placer.fits(nomination.pending, nomination.assignment)

    def _admit(self, nomination: Nomination) -> None:
        admitted = admitted_workload(nomination, self._now_s)
        replaced = tuple(sorted(nomination.pending.replaced_uids & self._snapshot.holders.keys()))
        for uid in replaced:
            self._snapshot.discard(uid)
        self._snapshot.add(admitted)
        self.decisions.append(
            Decision(
                uid=nomination.uid,
                queue=nomination.queue.name,
                outcome=Outcome.ADMITTED,
                admitted=admitted,
                replaces=replaced,
            )
        )

    def _preempt(self, nomination: Nomination) -> None:
        evictions = []
        for victim in nomination.victims:
            holder = victim.holder
            self._relief.add(holder)
            evictions.append(
                Eviction(
                    uid=holder.uid,
                    queue=holder.queue.name,
                    reason=victim.reason,
                    preemptor=nomination.uid,
                    preemptor_queue=nomination.queue.name,
                    is_repeated=holder.is_evicting,
                )
            )
        self._assume(nomination, nomination.usage)
        self._conclude(
            nomination,
            Outcome.PREEMPTING,
            RefusalReason.WAITS_FOR_VICTIMS,
            RequeueReason.PENDING_PREEMPTION,
            tuple(evictions),
        )

    def _assume(self, nomination: Nomination, usage: Usage) -> None:
        nomination.queue.add_all(usage)
        self._assumed.append((nomination.queue, usage))
        placer = self._nominator.placer
        if placer.concerns(nomination.pending, nomination.queue):
            places = placer.usage(nomination.pending, nomination.assignment)
            self._snapshot.topology.add(places)
            self._assumed_places.extend(places)

    def _skip_preemption(self, nomination: Nomination) -> None:
        name = nomination.queue.name
        self._skipped[name] = self._skipped.get(name, 0) + 1

    def _refuse(self, nomination: Nomination, why: RefusalReason, requeue: RequeueReason) -> None:
        self._conclude(nomination, Outcome.REFUSED, why, requeue, ())

    def _conclude(
        self,
        nomination: Nomination,
        outcome: Outcome,
        why: RefusalReason,
        requeue: RequeueReason,
        evictions: tuple[Eviction, ...],
    ) -> None:
        if requeue not in (RequeueReason.NO_FIT, RequeueReason.NO_CANDIDATES):
            nomination.pending.scan = None  # what it found is still good: next time every flavor is tried again
        self.requeued.append((nomination, requeue))
        self.decisions.append(
            Decision(
                uid=nomination.uid,
                queue=nomination.queue.name,
                outcome=outcome,
                evictions=evictions,
                refusal=Refusal(
                    reason=why,
                    uid=nomination.uid,
                    queue=nomination.queue.name,
                    attempts=tuple(nomination.assignment.attempts),
                    victims=tuple(victim.holder.uid for victim in nomination.victims),
                ),
            )
        )


def held_usage(queue: QueueNode, assignment: Assignment) -> Usage:
    """What is kept back for a workload that nobody may be taken for.

    Within nominal: up to what of the nominal quota is unused. Borrowing: up to the borrowing limit. A
    workload that fits keeps all that it asks.
    """
    if assignment.mode is FitMode.FIT:
        return assignment.usage
    held = []
    for slot, amount in assignment.usage:
        limit = queue.borrowing_limit[slot]
        free = queue.nominal[slot] - queue.usage[slot]
        if assignment.level > 0:
            held.append((slot, amount if limit is None else min(amount, free + limit)))
        else:
            held.append((slot, max(0, min(amount, free))))
    return tuple(held)


def admitted_workload(nomination: Nomination, now_s: float) -> AdmittedWorkload:
    facts = nomination.pending.facts
    requests = {podset.name: podset.requests for podset in facts.podsets}
    return AdmittedWorkload(
        uid=facts.uid,
        queue=facts.queue,
        priority=facts.priority,
        queued_at_s=facts.queued_at_s,
        reserved_at_s=now_s,
        podsets=tuple(
            AdmittedPodSet(
                name=podset.name,
                count=podset.count,
                flavors={resource: choice.flavor for resource, choice in podset.flavors.items()},
                usage={resource: requests[podset.name].get(resource, 1) * podset.count for resource in podset.flavors},
                placement=podset.placement,
            )
            for podset in nomination.assignment.podsets
        ),
    )
