"""In what order the heads of the queues are decided within one cycle.

Source: Kueue v0.20 `pkg/scheduler/scheduler.go` (classical order) and `fair_sharing_iterator.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from core.scheduling.fair_share import dominant_share
from core.scheduling.policies import RequeueTimestamp
from core.scheduling.quantities import Slot, Usage
from core.scheduling.quota_tree import CohortNode, QueueNode, QuotaNode


class Contender(Protocol):
    """What ordering reads of a nomination."""

    @property
    def uid(self) -> str: ...
    @property
    def priority(self) -> int: ...
    @property
    def queued_at_s(self) -> float: ...
    @property
    def queue(self) -> QueueNode: ...
    @property
    def usage(self) -> Usage: ...


def queue_time_s(
    created_at_s: float | None, pods_ready_evicted_at_s: float | None, timestamp: RequeueTimestamp
) -> float | None:
    """The workload's place among equals: a pods-ready eviction sends it to the back, if so configured."""
    if timestamp is RequeueTimestamp.EVICTION and pods_ready_evicted_at_s is not None:
        return pods_ready_evicted_at_s
    return created_at_s


def classical_key(borrow_level: int, priority: int, queued_at_s: float) -> tuple[int, int, float]:
    """Ascending: who borrows from further away waits for those who do not, whatever their priority."""
    return (borrow_level, -priority, queued_at_s)


class _Standing(NamedTuple):
    """Ascending = goes first."""

    borrows: bool
    weighted_share: float
    bare_share: float
    priority: int
    queued_at_s: float
    uid: str


class FairOrder:
    """A tournament per tree: in each cohort the child with the lowest share *after* the admission wins.

    Iterating yields the winners; whatever the caller adds to the winner's queue before asking for the next
    one is taken into account, as only the cohorts above it are ranked again.
    """

    def __init__(
        self,
        entries: Sequence[Contender],
        slots_by_resource: Mapping[str, Sequence[Slot]],
        *,
        non_borrowing_first: bool,
    ) -> None:
        self._slots = slots_by_resource
        self._non_borrowing_first = non_borrowing_first
        self._alone = [entry for entry in entries if entry.queue.parent is None]
        self._standings: dict[CohortNode, dict[QuotaNode, tuple[_Standing, int]]] = {}
        self._entries = entries
        self._roots: list[CohortNode] = []
        for index, entry in enumerate(entries):
            if entry.queue.parent is not None:
                self._enter(index)

    def __iter__(self) -> Iterator[int]:
        """Indices into the entries."""
        for index, entry in enumerate(self._entries):
            if entry.queue.parent is None:
                yield index
        for root in sorted(self._roots, key=lambda cohort: cohort.name):
            while (winner := self._winner(root)) is not None:
                yield winner
                self._leave(winner)

    def _enter(self, index: int) -> None:
        entry = self._entries[index]
        path = entry.queue.path
        if path[-1] not in self._standings:
            self._roots.append(path[-1])
        self._put(path[0], entry.queue, index)
        for child, cohort in pairwise(path):
            winner = self._winner(child)
            assert winner is not None
            self._put(cohort, child, winner)
        self._standings.setdefault(path[-1], {})

    def _leave(self, index: int) -> None:
        queue = self._entries[index].queue
        path = queue.path
        del self._standings[path[0]][queue]
        for child, cohort in pairwise(path):
            winner = self._winner(child)
            if winner is None:
                del self._standings[cohort][child]
            else:
                self._put(cohort, child, winner)

    def _winner(self, cohort: CohortNode) -> int | None:
        standings = self._standings.get(cohort)
        return min(standings.values())[1] if standings else None

    def _put(self, cohort: CohortNode, child: QuotaNode, index: int) -> None:
        self._standings.setdefault(cohort, {})[child] = (self._standing(child, self._entries[index]), index)

    def _standing(self, node: QuotaNode, entry: Contender) -> _Standing:
        entry.queue.add_all(entry.usage)
        share = dominant_share(node, self._slots)
        borrows = self._non_borrowing_first and not node.is_within_nominal(slot for slot, _ in entry.usage)
        entry.queue.remove_all(entry.usage)
        weighted, bare = share.rank
        return _Standing(borrows, weighted, bare, -entry.priority, entry.queued_at_s, entry.uid)
