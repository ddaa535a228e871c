"""Who holds quota: the admitted workloads, kept in the order in which they would be taken."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from typing import NamedTuple

from core.scheduling.policies import PreemptionPolicy
from core.scheduling.quantities import Slot, Usage
from core.scheduling.quota_tree import QueueNode
from core.scheduling.world import AdmittedWorkload

EARLIEST = float("-inf")
"""The time of a workload whose time is not set."""


class VictimKey(NamedTuple):
    """Ascending = taken first: already going, low priority, admitted last, then by uid."""

    is_staying: bool
    priority: int
    reserved_before_s: float
    """Negated reservation time: the most recent comes first."""
    uid: str


class Holder:
    """One admitted workload. `is_out` marks it taken away in a simulation."""

    __slots__ = (
        "facts",
        "is_evicting",
        "is_out",
        "key",
        "priority",
        "queue",
        "queued_at_s",
        "slots",
        "uid",
        "usage",
    )

    def __init__(self, facts: AdmittedWorkload, queue: QueueNode, usage: Usage) -> None:
        self.facts = facts
        self.uid = facts.uid
        self.queue = queue
        self.priority = facts.priority
        self.queued_at_s = EARLIEST if facts.queued_at_s is None else facts.queued_at_s
        self.usage = usage
        self.slots: frozenset[Slot] = frozenset(slot for slot, amount in usage)
        self.is_evicting = facts.is_evicting
        self.is_out = False
        self.key = VictimKey(not facts.is_evicting, facts.priority, -facts.reserved_at_s, facts.uid)


class QueueHolders:
    """The holders of one queue in victim order, with cheap access to those below a priority."""

    __slots__ = ("_by_uid", "_going", "_keys", "_usages")

    def __init__(self) -> None:
        self._keys: list[VictimKey] = []
        self._by_uid: dict[str, Holder] = {}
        self._usages: dict[Usage, int] = {}
        self._going = 0
        """How many are already evicting: they stand at the front."""

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def usage_kinds(self) -> int:
        """How many different amounts its holders use: few, however many holders there are."""
        return len(self._usages)

    def __iter__(self) -> Iterator[Holder]:
        return (self._by_uid[key.uid] for key in self._keys)

    def add(self, holder: Holder) -> None:
        insort(self._keys, holder.key)
        self._by_uid[holder.uid] = holder
        self._going += not holder.key.is_staying
        self._usages[holder.usage] = self._usages.get(holder.usage, 0) + 1

    def discard(self, holder: Holder) -> None:
        if self._by_uid.pop(holder.uid, None) is not None:
            del self._keys[bisect_left(self._keys, holder.key)]
            self._going -= not holder.key.is_staying
            self._usages[holder.usage] -= 1
            if not self._usages[holder.usage]:
                del self._usages[holder.usage]

    def candidates(
        self,
        policy: PreemptionPolicy | None,
        priority: int,
        queued_at_s: float,
        needed: frozenset[Slot],
        *,
        is_staying: bool | None = None,
    ) -> Iterator[Holder]:
        """In victim order: holders that `policy` lets a preemptor take and that use a needed slot.

        `is_staying` restricts them to those already evicting (False) or to the others (True).
        """
        if policy is None or policy is PreemptionPolicy.NEVER:
            return
        takes_all = policy is PreemptionPolicy.ANY
        most = priority if policy is PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY else priority - 1
        keys, by_uid = self._keys, self._by_uid
        start = self._going if is_staying else 0
        stop = self._going if is_staying is False else len(keys)
        for index in range(start, stop):
            staying, candidate_priority, _, uid = keys[index]
            holder = by_uid[uid]
            if not takes_all and candidate_priority >= priority:
                if staying and candidate_priority > most:
                    return
                if not may_take(policy, priority, queued_at_s, candidate_priority, holder.queued_at_s):
                    continue
            if not holder.is_out and not needed.isdisjoint(holder.slots):
                yield holder


def may_take(
    policy: PreemptionPolicy | None,
    priority: int,
    queued_at_s: float,
    candidate_priority: int,
    candidate_queued_at_s: float,
) -> bool:
    """Whether `policy` lets a preemptor take a candidate, by priority and queueing time."""
    match policy:
        case None | PreemptionPolicy.NEVER:
            return False
        case PreemptionPolicy.ANY:
            return True
        case PreemptionPolicy.LOWER_PRIORITY:
            return candidate_priority < priority
        case PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY:
            if candidate_priority == priority:
                return candidate_queued_at_s > queued_at_s
            return candidate_priority < priority
