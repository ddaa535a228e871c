"""Whom to take under fair sharing: from whoever lives furthest beyond its own quota.

Source: Kueue v0.20 `pkg/scheduler/preemption/preemption.go` (fair preemptions) and
`pkg/scheduler/preemption/fairsharing`. The preemptor's usage is added first; then the search walks from the
root to the child with the highest dominant share, again after every victim.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from core.scheduling.fair_share import dominant_share
from core.scheduling.holders import Holder
from core.scheduling.policies import FairSharingStrategy, PreemptionPolicy
from core.scheduling.quantities import Usage
from core.scheduling.quota_tree import CohortNode, DominantShare, QueueNode, QuotaNode
from core.scheduling.snapshot import Snapshot
from core.scheduling.victims import PreemptionReason, Victim, VictimQuest, fill_back, restore


class FairSearch:
    """One search. `find` leaves the snapshot as it was."""

    def __init__(self, snapshot: Snapshot, quest: VictimQuest) -> None:
        self._snapshot = snapshot
        self._quest = quest
        self._victims: list[Victim] = []

    def find(self) -> list[Victim]:
        if self.is_hopeless():
            return []
        candidates = _candidates(self._snapshot, self._quest)
        if not candidates:
            return []
        queue, usage = self._quest.queue, self._quest.usage
        queue.add_all(usage)
        try:
            is_enough = self._search(candidates)
        finally:
            queue.remove_all(usage)
        if not is_enough:
            restore(self._snapshot, self._victims)
            return []
        kept = fill_back(self._snapshot, self._quest, self._victims, may_borrow=True)
        restore(self._snapshot, kept)
        return kept

    def is_hopeless(self) -> bool:
        """A quick no, in a cohort of queues alone: nobody lives further beyond its quota than the preemptor would.

        Both strategies then fail for every queue, whoever its candidates are.
        """
        quest, own = self._quest, self._quest.queue
        if len(own.path) != 1 or own.path[0].cohorts:
            return False
        own.add_all(quest.usage)
        try:
            gates = self._snapshot.config.gates
            if gates.fair_sharing_preempt_within_nominal and own.is_within_nominal(quest.needed):
                return False
            rank = self._share(own).rank
            for queue in own.path[0].queues:
                if queue is not own and not queue.is_within_nominal(quest.needed) and rank <= self._share(queue).rank:
                    return False
        finally:
            own.remove_all(quest.usage)
        within = own.facts.preemption.within_queue
        holders = self._snapshot.holders_of(own)
        return next(holders.candidates(within, quest.priority, quest.queued_at_s, quest.needed), None) is None

    def _search(self, candidates: dict[str, _Line]) -> bool:
        config = self._snapshot.config
        first, *others = config.fair_strategies
        is_enough, left = self._first_pass(candidates, first)
        if (
            not is_enough
            and config.gates.fair_sharing_reevaluate_candidates
            and any(victim.holder.queue is self._quest.queue for victim in self._victims)
        ):
            is_enough, left = self._first_pass(left, first)
        if not is_enough and others:
            is_enough = self._second_pass(left)
        return is_enough

    def _first_pass(self, candidates: dict[str, _Line], strategy: FairSharingStrategy) -> tuple[bool, dict[str, _Line]]:
        """Whether enough was taken, and the candidates that the strategy kept for a second look."""
        quest = self._quest
        gates = self._snapshot.config.gates
        is_entitled = gates.fair_sharing_preempt_within_nominal and quest.queue.is_within_nominal(quest.needed)
        left: dict[str, _Line] = {}
        tournament = _Tournament(self._snapshot, quest.queue, candidates)
        for queue in tournament.turns():
            if queue is quest.queue or is_entitled:
                reason = (
                    PreemptionReason.IN_CLUSTER_QUEUE
                    if queue is quest.queue
                    else PreemptionReason.IN_COHORT_RECLAMATION
                )
                if self._take(tournament.line(queue).pop(), reason):
                    return True, left
                continue
            preemptor_share, target = self._almost_lca_shares(queue)
            before = self._share(target)
            failed: list[Holder] = []
            if preemptor_share.rank <= before.rank:  # else none can pass: giving something up never raises a share
                passing = self._first_passing(strategy, preemptor_share, target, before, queue, tournament, failed)
                if passing is not None:
                    if self._take(passing, PreemptionReason.IN_COHORT_FAIR_SHARING):
                        return True, left
                    left.setdefault(queue.name, _Line()).extend(failed)
                    continue
            left.setdefault(queue.name, _Line()).extend(chain(failed, tournament.drain(queue)))
        return False, left

    def _second_pass(self, candidates: dict[str, _Line]) -> bool:
        """Rule S2-b: the first candidate of each queue, once, if the preemptor stays below the old share."""
        tournament = _Tournament(self._snapshot, self._quest.queue, candidates)
        for queue in tournament.turns():
            preemptor_share, target = self._almost_lca_shares(queue)
            holder = tournament.line(queue).pop()
            if preemptor_share.rank < self._share(target).rank and self._take(
                holder, PreemptionReason.IN_COHORT_FAIR_SHARING
            ):
                return True
            tournament.drop(queue)
        return False

    def _first_passing(
        self,
        strategy: FairSharingStrategy,
        preemptor_share: DominantShare,
        target: QuotaNode,
        before: DominantShare,
        queue: QueueNode,
        tournament: _Tournament,
        failed: list[Holder],
    ) -> Holder | None:
        """Takes candidates off the line until one passes; the others are put into `failed`."""
        line = tournament.line(queue)
        kinds = self._snapshot.holders_of(queue).usage_kinds
        hopeless: set[Usage] = set()  # who uses as much as one who failed fails too
        while line.first is not None and len(hopeless) < kinds:
            holder = line.pop()
            if holder.usage not in hopeless and self._passes(strategy, preemptor_share, target, before, holder):
                return holder
            hopeless.add(holder.usage)
            failed.append(holder)
        return None

    def _passes(
        self,
        strategy: FairSharingStrategy,
        preemptor_share: DominantShare,
        target: QuotaNode,
        before: DominantShare,
        holder: Holder,
    ) -> bool:
        if strategy is FairSharingStrategy.LESS_THAN_INITIAL_SHARE:
            return preemptor_share.rank < before.rank
        self._snapshot.take_out(holder)
        after = self._share(target)
        self._snapshot.put_back(holder)
        return preemptor_share.rank <= after.rank

    def _take(self, holder: Holder, reason: PreemptionReason) -> bool:
        """Take the workload; whether that is enough."""
        self._snapshot.take_out(holder)
        self._victims.append(Victim(holder, reason))
        quest = self._quest
        quest.queue.remove_all(quest.usage)
        is_enough = quest.fits(may_borrow=True)
        quest.queue.add_all(quest.usage)
        return is_enough

    def _share(self, node: QuotaNode) -> DominantShare:
        return dominant_share(node, self._snapshot.tree.slots_by_resource)

    def _almost_lca_shares(self, queue: QueueNode) -> tuple[DominantShare, QuotaNode]:
        """The preemptor's share and the target node, just below their lowest common cohort."""
        own: QuotaNode = self._quest.queue
        ancestors = set(queue.path)
        for cohort in self._quest.queue.path:
            if cohort in ancestors:
                target: QuotaNode = queue
                while target.parent is not cohort:
                    assert target.parent is not None
                    target = target.parent
                return self._share(own), target
            own = cohort
        raise AssertionError("candidates stand in the preemptor's tree")


def _candidates(snapshot: Snapshot, quest: VictimQuest) -> dict[str, _Line]:
    """By queue, in victim order: own by `withinClusterQueue`, borrowers by `reclaimWithinCohort`."""
    preemption = quest.queue.facts.preemption
    found: dict[str, _Line] = {}
    for queue in snapshot.cohort_queues(quest.queue):
        if queue is quest.queue:
            policy = preemption.within_queue
        elif queue.is_within_nominal(quest.needed):
            continue
        else:
            policy = preemption.reclaim_in_cohort
        if policy in (None, PreemptionPolicy.NEVER):
            continue
        line = _Line(snapshot.holders_of(queue).candidates(policy, quest.priority, quest.queued_at_s, quest.needed))
        if line.first is not None:
            found[queue.name] = line
    return found


class _Line:
    """Candidates of one queue in victim order, found only as far as they are asked for."""

    __slots__ = ("_rest", "first")

    def __init__(self, holders: Iterable[Holder] = ()) -> None:
        self._rest = iter(holders)
        self.first: Holder | None = next(self._rest, None)

    def pop(self) -> Holder:
        assert self.first is not None
        holder, self.first = self.first, next(self._rest, None)
        return holder

    def extend(self, holders: Iterable[Holder]) -> None:
        if self.first is None:
            self._rest = iter(holders)
            self.first = next(self._rest, None)
        else:
            self._rest = chain(self._rest, holders)

    def drain(self) -> Iterator[Holder]:
        while self.first is not None:
            yield self.pop()


class _Tournament:
    """Hands out the queue to look at next, until no subtree has anything left to give."""

    def __init__(self, snapshot: Snapshot, own: QueueNode, candidates: dict[str, _Line]) -> None:
        self._slots = snapshot.tree.slots_by_resource
        self._own = own
        self._own_path = frozenset(own.path)
        self._left = candidates
        self._pruned: set[QuotaNode] = set()

    def turns(self) -> Iterator[QueueNode]:
        root = self._own.root
        if not isinstance(root, CohortNode):
            while self.has(self._own):
                yield self._own
            return
        while root not in self._pruned:
            queue = self._next(root)
            if queue is not None:
                yield queue

    def has(self, queue: QueueNode) -> bool:
        line = self._left.get(queue.name)
        return line is not None and line.first is not None

    def line(self, queue: QueueNode) -> _Line:
        return self._left[queue.name]

    def drain(self, queue: QueueNode) -> Iterator[Holder]:
        """All that is left of a queue, which then has nothing more to give here."""
        return self._left.pop(queue.name).drain()

    def drop(self, queue: QueueNode) -> None:
        self._pruned.add(queue)

    def _next(self, cohort: CohortNode) -> QueueNode | None:
        """The queue below `cohort` with the highest share; `None` when this look only pruned."""
        best_queue, queue_rank = self._best_queue(cohort)
        best_cohort, cohort_rank = self._best_cohort(cohort)
        if best_cohort is not None and (best_queue is None or cohort_rank >= queue_rank):
            return self._next(best_cohort)
        if best_queue is None:
            self._pruned.add(cohort)
        return best_queue

    def _best_queue(self, cohort: CohortNode) -> tuple[QueueNode | None, tuple[float, float]]:
        best: QueueNode | None = None
        best_rank = (-1.0, 0.0)
        for queue in cohort.queues:
            if queue in self._pruned:
                continue
            share = dominant_share(queue, self._slots)
            if not self.has(queue) or (not share.is_borrowing and queue is not self._own):
                self._pruned.add(queue)
            elif share.rank > best_rank or (
                best is not None and share.rank == best_rank and self._comes_first(queue, best)
            ):
                best, best_rank = queue, share.rank
        return best, best_rank

    def _comes_first(self, queue: QueueNode, other: QueueNode) -> bool:
        """Between equal shares the queue with the better first candidate is asked."""
        return self._first_key(queue) < self._first_key(other)

    def _first_key(self, queue: QueueNode) -> tuple[bool, bool, int, float, str]:
        first = self._left[queue.name].first
        assert first is not None
        is_staying, priority, reserved, uid = first.key
        return (is_staying, queue is self._own, priority, reserved, uid)

    def _best_cohort(self, cohort: CohortNode) -> tuple[CohortNode | None, tuple[float, float]]:
        best: CohortNode | None = None
        best_rank = (-1.0, 0.0)
        for child in cohort.cohorts:
            if child in self._pruned:
                continue
            share = dominant_share(child, self._slots)
            if not share.is_borrowing and child not in self._own_path:
                self._pruned.add(child)
            elif share.rank >= best_rank:
                best, best_rank = child, share.rank
        return best, best_rank
