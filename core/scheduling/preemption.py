"""The way to victims: which workloads must go so that another one fits."""

from __future__ import annotations

from collections.abc import Callable

from core.scheduling.assignment import Assignment, FitMode, ModeLevel
from core.scheduling.pending import Pending
from core.scheduling.policies import PreemptionPolicy
from core.scheduling.preemption_classical import ClassicalSearch
from core.scheduling.preemption_fair import FairSearch
from core.scheduling.quantities import Slot, Usage
from core.scheduling.quota_tree import QueueNode
from core.scheduling.snapshot import Snapshot
from core.scheduling.victims import Victim, VictimQuest


class VictimFinder:
    """Finds victims on a snapshot and leaves it unchanged."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found: dict[tuple[Usage, frozenset[Slot]], list[Victim]] = {}
        """Answers of the present nomination: one resource short asks the same question twice."""

    def forget(self) -> None:
        """Call before each nomination: the snapshot may have moved."""
        self._found.clear()

    def outlook(self, pending: Pending, queue: QueueNode, slot: Slot, amount: int) -> ModeLevel:
        """What preemption could do for one slot alone (the oracle of the flavor search)."""
        victims = self._find(
            VictimQuest(
                queue=queue,
                priority=pending.priority,
                queued_at_s=pending.queued_at_s,
                usage=((slot, amount),),
                needed=frozenset((slot,)),
            )
        )
        if not victims:
            return ModeLevel(FitMode.NO_CANDIDATES, queue.borrow_level(slot, amount)[0])
        with self._snapshot.taken_out(victim.holder for victim in victims):
            level = queue.borrow_level(slot, amount)[0]
        takes_own = any(victim.holder.queue is queue for victim in victims)
        return ModeLevel(FitMode.PREEMPT if takes_own else FitMode.RECLAIM, level)

    def is_hopeless(self, pending: Pending, queue: QueueNode, slot: Slot, amount: int) -> bool:
        """Whether fair sharing surely finds nobody for one slot; False when it takes a search to tell."""
        quest = VictimQuest(
            queue=queue,
            priority=pending.priority,
            queued_at_s=pending.queued_at_s,
            usage=((slot, amount),),
            needed=frozenset((slot,)),
        )
        return FairSearch(self._snapshot, quest).is_hopeless()

    def victims(
        self,
        pending: Pending,
        queue: QueueNode,
        assignment: Assignment,
        has_place: Callable[[], bool] | None = None,
    ) -> list[Victim]:
        """Who must go for the whole assignment; empty when no set of workloads will do."""
        return self._find(
            VictimQuest(
                queue=queue,
                priority=pending.priority,
                queued_at_s=pending.queued_at_s,
                usage=assignment.usage,
                needed=assignment.needed,
                has_place=has_place,
            )
        )

    def _find(self, quest: VictimQuest) -> list[Victim]:
        if quest.has_place is not None:
            return self._search(quest)
        key = (quest.usage, quest.needed)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._search(quest)
        return found

    def _search(self, quest: VictimQuest) -> list[Victim]:
        if self._snapshot.config.fair_sharing:
            return FairSearch(self._snapshot, quest).find()
        return ClassicalSearch(self._snapshot, quest).find()


def can_always_reclaim(queue: QueueNode) -> bool:
    """Whether the queue gets its nominal quota back whoever holds it."""
    return queue.facts.preemption.reclaim_in_cohort is PreemptionPolicy.ANY
