"""Where workloads wait: per queue those to be tried, and those parked until something changes.

Source: Kueue v0.20 `pkg/cache/queue/cluster_queue.go`. Workloads of one shape stand in one class: when one of
them is refused, parking the others is a flag on the class, and an event that frees capacity costs one step per
class refused since the last event, however many workloads wait.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from enum import StrEnum
from heapq import heapify, heappop, heappush
from typing import Final, TypeAlias

from core.scheduling.pending import Pending
from core.scheduling.policies import QueueingStrategy


class RequeueReason(StrEnum):
    """Why a nominated workload comes back to its queue."""

    GENERIC = "Generic"
    NO_FIT = "NoFit"
    NO_CANDIDATES = "PreemptionNoCandidates"
    FAILED_AFTER_NOMINATION = "FailedAfterNomination"
    PENDING_PREEMPTION = "PendingPreemption"
    NAMESPACE_MISMATCH = "NamespaceMismatch"


_Key: TypeAlias = tuple[int, float, str]
"""Queue order: highest priority, then earliest, then by uid."""

_SHAPE_REFUSALS: Final = frozenset({RequeueReason.NO_FIT, RequeueReason.NO_CANDIDATES})
_IMMEDIATE: Final = frozenset({RequeueReason.FAILED_AFTER_NOMINATION, RequeueReason.PENDING_PREEMPTION})


class _ShapeClass:
    """Workloads that every decision treats alike. Entries of `heap` whose workload left are dead."""

    __slots__ = ("heap", "is_parked", "members", "shape")

    def __init__(self, shape: Hashable) -> None:
        self.shape = shape
        self.heap: list[_Key] = []
        self.members: dict[str, Pending] = {}
        self.is_parked = False

    def __lt__(self, other: _ShapeClass) -> bool:
        return False  # a tie of heap entries: two entries of one class, of which one is dead

    def head(self) -> _Key | None:
        while self.heap:
            key = self.heap[0]
            pending = self.members.get(key[2])
            if pending is not None and _key(pending) == key:
                return key
            heappop(self.heap)
        return None


class PendingQueue:
    """The workloads of one ClusterQueue that hold no quota."""

    def __init__(self, strategy: QueueingStrategy, *, parks_by_shape: bool) -> None:
        self._strategy = strategy
        self._parks_by_shape = parks_by_shape
        self._classes: dict[Hashable, _ShapeClass] = {}
        self._class_of: dict[str, _ShapeClass] = {}
        self._heads: list[tuple[_Key, _ShapeClass]] = []
        """A heap of class heads. An entry that is no longer its class's head is dead."""
        self._alone: dict[str, Pending] = {}
        """Parked one by one."""
        self._parked_classes: list[_ShapeClass] = []
        self._sticky: str | None = None
        """The workload that waits for its victims to leave: nothing overtakes it."""
        self._generation_at_pop = -1

    def __len__(self) -> int:
        return len(self._class_of) + len(self._alone)

    def active(self) -> Iterator[Pending]:
        for group in self._classes.values():
            if not group.is_parked:
                yield from group.members.values()

    def parked(self) -> Iterator[Pending]:
        yield from self._alone.values()
        for group in self._parked_classes:
            yield from group.members.values()

    def find(self, uid: str) -> Pending | None:
        group = self._class_of.get(uid)
        return self._alone.get(uid) if group is None else group.members[uid]

    def push(self, pending: Pending) -> None:
        """A new workload, or one that was evicted. It waits with its class if that was just refused."""
        self.discard(pending.uid)
        self._activate(pending)

    def park(self, pending: Pending) -> None:
        """Put one workload aside until the next event."""
        self.discard(pending.uid)
        self._alone[pending.uid] = pending

    def discard(self, uid: str) -> Pending | None:
        if uid == self._sticky:
            self._sticky = None
        alone = self._alone.pop(uid, None)
        return alone if alone is not None else self._deactivate(uid)

    def pop(self, generation: int) -> Pending | None:
        """The head, taken off the queue. The tree's `generation` tells later whether events came between."""
        head = self.head()
        if head is not None:
            self._generation_at_pop = generation
            self._deactivate(head.uid)
        return head

    def head(self) -> Pending | None:
        if self._sticky is not None:
            group = self._class_of.get(self._sticky)
            if group is not None and not group.is_parked:
                return group.members[self._sticky]
        while self._heads:
            key, group = self._heads[0]
            if not group.is_parked and self._classes.get(group.shape) is group and group.head() == key:
                return group.members[key[2]]
            heappop(self._heads)
        return None

    def requeue(self, pending: Pending, reason: RequeueReason, generation: int) -> None:
        """Bring back a workload that was popped and not admitted."""
        is_best_effort = self._strategy is QueueingStrategy.BEST_EFFORT_FIFO
        if is_best_effort and reason is RequeueReason.PENDING_PREEMPTION:
            self._sticky = pending.uid
        elif self._sticky == pending.uid:
            self._sticky = None
        if self._is_immediate(pending, reason, generation):
            self._activate(pending)
        elif self._parks_by_shape and reason in _SHAPE_REFUSALS:
            self._activate(pending)
            group = self._class_of[pending.uid]
            if not group.is_parked:
                group.is_parked = True
                self._parked_classes.append(group)
        else:
            self._alone[pending.uid] = pending

    def unpark(self) -> None:
        """Something in the tree changed: everything parked is tried again."""
        for group in self._parked_classes:
            group.is_parked = False
            head = group.head()
            if head is not None:
                heappush(self._heads, (head, group))
            else:
                del self._classes[group.shape]
        self._parked_classes.clear()
        alone, self._alone = self._alone, {}
        for pending in alone.values():
            self._activate(pending)

    @property
    def has_parked(self) -> bool:
        return bool(self._parked_classes or self._alone)

    def _is_immediate(self, pending: Pending, reason: RequeueReason, generation: int) -> bool:
        if reason is RequeueReason.NAMESPACE_MISMATCH:
            return False
        if self._strategy is QueueingStrategy.STRICT_FIFO or reason in _IMMEDIATE:
            return True
        has_untried = pending.scan is not None and pending.scan.has_untried
        return has_untried or generation > self._generation_at_pop

    def _activate(self, pending: Pending) -> None:
        shape = pending.shape if self._parks_by_shape else pending.priority
        group = self._classes.get(shape)
        if group is None:
            group = self._classes[shape] = _ShapeClass(shape)
        group.members[pending.uid] = pending
        self._class_of[pending.uid] = group
        key = _key(pending)
        heappush(group.heap, key)
        if not group.is_parked and group.head() == key:
            heappush(self._heads, (key, group))

    def _deactivate(self, uid: str) -> Pending | None:
        group = self._class_of.pop(uid, None)
        if group is None:
            return None
        pending = group.members.pop(uid)
        if group.is_parked:
            return pending
        head = group.head()
        if head is None:
            del self._classes[group.shape]
        else:
            heappush(self._heads, (head, group))
        if len(self._heads) > _SLACK + 4 * len(self._classes):
            self._drop_dead_heads()
        return pending

    def _drop_dead_heads(self) -> None:
        heads = ((group.head(), group) for group in self._classes.values() if not group.is_parked)
        self._heads = [(head, group) for head, group in heads if head is not None]
        heapify(self._heads)


_SLACK: Final = 64
"""Dead entries that are tolerated before the heap of heads is rebuilt."""


def _key(pending: Pending) -> _Key:
    return (-pending.priority, pending.queued_at_s, pending.uid)
