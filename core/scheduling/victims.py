"""Victims and the search for them, as far as both kinds of preemption share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.scheduling.holders import Holder
from core.scheduling.quantities import Slot, Usage
from core.scheduling.quota_tree import QueueNode
from core.scheduling.snapshot import Snapshot


class PreemptionReason(StrEnum):
    """Why a workload was taken; Kueue's own condition reasons."""

    IN_CLUSTER_QUEUE = "InClusterQueue"
    IN_COHORT_RECLAMATION = "InCohortReclamation"
    IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
    IN_COHORT_FAIR_SHARING = "InCohortFairSharing"


@dataclass(frozen=True, slots=True)
class Victim:
    holder: Holder
    reason: PreemptionReason


@dataclass(frozen=True, slots=True, kw_only=True)
class VictimQuest:
    """Who needs room, and how much."""

    queue: QueueNode
    priority: int
    queued_at_s: float
    usage: Usage
    """All that the preemptor will use; all of it must fit in the end."""
    needed: frozenset[Slot]
    """The slots that are short: a victim must use one of them."""
    has_place: Callable[[], bool] | None = None
    """Whether the topology has room as things stand; absent = placement does not matter."""

    def fits(self, *, may_borrow: bool) -> bool:
        queue = self.queue
        for slot, amount in self.usage:
            if not may_borrow and queue.would_borrow(slot, amount):
                return False
            if amount > queue.available(slot):
                return False
        return self.has_place is None or self.has_place()


def fill_back(snapshot: Snapshot, quest: VictimQuest, victims: Sequence[Victim], *, may_borrow: bool) -> list[Victim]:
    """The victims that are really needed: each is put back once, the last but one first.

    On entry all victims are out; on exit those returned are out.
    """
    kept = list(victims)
    for index in range(len(kept) - 2, -1, -1):
        snapshot.put_back(kept[index].holder)
        if quest.fits(may_borrow=may_borrow):
            kept[index] = kept[-1]
            kept.pop()
        else:
            snapshot.take_out(kept[index].holder)
    return kept


def restore(snapshot: Snapshot, victims: Sequence[Victim]) -> None:
    for victim in reversed(victims):
        snapshot.put_back(victim.holder)
