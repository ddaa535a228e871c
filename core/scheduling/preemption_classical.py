"""Whom to take without fair sharing: own queue by priority, other queues only what they borrowed.

Source: Kueue v0.20 `pkg/scheduler/preemption/classical` and `preemption.go`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from heapq import merge
from itertools import chain

from core.scheduling.holders import Holder
from core.scheduling.policies import PreemptionPolicy
from core.scheduling.quantities import Slot
from core.scheduling.quota_tree import CohortNode, QueueNode
from core.scheduling.snapshot import Snapshot
from core.scheduling.victims import PreemptionReason, Victim, VictimQuest, fill_back, restore


class _Claim(Enum):
    """On what grounds a candidate may be taken."""

    OWN_QUEUE = auto()
    HIERARCHY = auto()
    """The preemptor's subtree is owed what the candidate's side borrows."""
    PRIORITY = auto()
    """The preemptor would borrow: only if `borrowWithinCohort` and the candidate's priority allow."""


class ClassicalSearch:
    """One search. `find` leaves the snapshot as it was."""

    def __init__(self, snapshot: Snapshot, quest: VictimQuest) -> None:
        self._snapshot = snapshot
        self._quest = quest
        self._own = quest.queue
        self._preemption = quest.queue.facts.preemption
        self._lca: dict[str, CohortNode] = {}
        """Queue -> lowest cohort that it shares with the preemptor."""
        self._hierarchy: list[QueueNode] = []
        self._priority: list[QueueNode] = []

    def find(self) -> list[Victim]:
        self._collect_queues()
        for may_borrow in self._attempts():
            victims = self._attempt(may_borrow=may_borrow)
            if victims:
                return victims
        return []

    def _collect_queues(self) -> None:
        """Queues of other subtrees that use more than they own, and on what grounds they may be asked."""
        own, needed = self._own, self._quest.needed
        if own.parent is None or self._preemption.reclaim_in_cohort in (None, PreemptionPolicy.NEVER):
            return
        is_owed, rest = _fits_in_quota(own, dict(self._quest.usage))
        done: QueueNode | CohortNode = own
        for ancestor in own.path:
            found = self._hierarchy if is_owed else self._priority
            for queue in _borrowing_queues(ancestor, done, needed):
                if next(self._candidates(queue, is_staying=None), None) is not None:
                    self._lca[queue.name] = ancestor
                    found.append(queue)
            fits, rest = _fits_in_quota(ancestor, rest)
            is_owed = is_owed or fits
            done = ancestor

    def _attempts(self) -> tuple[bool, ...]:
        """Whether each attempt may leave the preemptor borrowing."""
        if not self._hierarchy and not self._priority:
            return (True,)
        if self._preemption.borrows_by_preempting:
            return (True, False)
        own = self._own
        if not all(own.usage[slot] < own.nominal[slot] for slot in self._quest.needed):
            return (True,)
        return (True, False) if self._hierarchy else (False, True)

    def _attempt(self, *, may_borrow: bool) -> list[Victim]:
        snapshot, quest = self._snapshot, self._quest
        victims: list[Victim] = []
        for claim, holder in self._in_order():
            if claim is not _Claim.OWN_QUEUE and not self._is_valid(claim, holder, may_borrow=may_borrow):
                continue
            snapshot.take_out(holder)
            victims.append(Victim(holder, self._reason(claim, holder)))
            if quest.fits(may_borrow=may_borrow):
                victims = fill_back(snapshot, quest, victims, may_borrow=may_borrow)
                restore(snapshot, victims)
                return victims
        restore(snapshot, victims)
        return []

    def _in_order(self) -> Iterator[tuple[_Claim, Holder]]:
        """Those already going first; within each, hierarchy before priority before the own queue."""
        for is_staying in (False, True):
            for claim, queues in (
                (_Claim.HIERARCHY, self._hierarchy),
                (_Claim.PRIORITY, self._priority),
                (_Claim.OWN_QUEUE, [self._own]),
            ):
                streams = [self._candidates(queue, is_staying=is_staying) for queue in queues]
                for holder in streams[0] if len(streams) == 1 else merge(*streams, key=_victim_key):
                    yield claim, holder

    def _candidates(self, queue: QueueNode, *, is_staying: bool | None) -> Iterator[Holder]:
        preemption, quest = self._preemption, self._quest
        policy = preemption.within_queue if queue is self._own else preemption.reclaim_in_cohort
        return self._snapshot.holders_of(queue).candidates(
            policy, quest.priority, quest.queued_at_s, quest.needed, is_staying=is_staying
        )

    def _may_take_while_borrowing(self, holder: Holder) -> bool:
        borrow = self._preemption.borrow_in_cohort
        if borrow is None or not self._preemption.borrows_by_preempting or holder.priority >= self._quest.priority:
            return False
        return borrow.max_priority_threshold is None or holder.priority <= borrow.max_priority_threshold

    def _is_valid(self, claim: _Claim, holder: Holder, *, may_borrow: bool) -> bool:
        """Earlier victims of the attempt may have brought the candidate's side back within its quota."""
        if may_borrow and claim is _Claim.PRIORITY and not self._may_take_while_borrowing(holder):
            return False
        needed = self._quest.needed
        if holder.queue.is_within_nominal(needed):
            return False
        lca = self._lca[holder.queue.name]
        for cohort in holder.queue.path:
            if cohort is lca:
                return True
            if cohort.is_within_nominal(needed):
                return False
        return True

    def _reason(self, claim: _Claim, holder: Holder) -> PreemptionReason:
        if claim is _Claim.OWN_QUEUE:
            return PreemptionReason.IN_CLUSTER_QUEUE
        if claim is _Claim.PRIORITY and self._may_take_while_borrowing(holder):
            return PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
        return PreemptionReason.IN_COHORT_RECLAMATION


def _victim_key(holder: Holder) -> tuple[bool, int, float, str]:
    return holder.key


def _fits_in_quota(node: QueueNode | CohortNode, amounts: dict[Slot, int]) -> tuple[bool, dict[Slot, int]]:
    """Whether the subtree's own quota holds `amounts`, and what is left to ask of its parent."""
    fits = all(not node.would_borrow(slot, amount) for slot, amount in amounts.items())
    return fits, {slot: max(0, amount - node.local_free(slot)) for slot, amount in amounts.items()}


def _borrowing_queues(cohort: CohortNode, done: QueueNode | CohortNode, needed: frozenset[Slot]) -> Iterator[QueueNode]:
    """Queues below `cohort` that use more than they own, leaving out `done` and subtrees within their quota."""
    for queue in cohort.queues:
        usage, subtree = queue.usage, queue.subtree
        for slot in needed:
            if usage[slot] > subtree[slot]:
                if queue is not done:
                    yield queue
                break
    yield from chain.from_iterable(
        _borrowing_queues(child, done, needed)
        for child in cohort.cohorts
        if child is not done and not child.is_within_nominal(needed)
    )
