"""Elastic jobs: they start small, grow into idle capacity, and give it back before anybody is evicted.

Kueue never shrinks a job to make room; this layer stands in front of it. HyperPod's elastic training shrinks
for higher priority and grows when idle (`elasticPolicy` of the training operator: `minReplicas`, `maxReplicas`,
`replicaIncrementStep` or `replicaDiscreteValues`, `scaleUpSnoozeTimeInSeconds`).

The rule: whatever a job holds above its minimum is on loan. While anybody waits, the cycles run as if no loan
existed; afterwards the loans are given out again from what is left, those that were there before first. So a
loan goes before any workload does, nothing grows before all heads were tried, and a grown part never takes its
queue beyond its borrowing limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.quantities import Usage
from core.scheduling.scheduler import Scheduler

SNOOZE_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ElasticRange:
    """Legal sizes of a job, in pods: `sizes` if given, else from `least` in steps."""

    least: int
    most: int
    step: int = 1
    sizes: tuple[int, ...] = ()
    """Discrete sizes, ascending; `step` does not matter then."""
    snooze_s: float = SNOOZE_S
    """Time after a resize in which it does not grow: each one costs a checkpoint and a restart."""

    def legal_up_to(self, count: int) -> int:
        """The largest legal size of at most `count`; `least` when none is."""
        if self.sizes:
            return max((size for size in self.sizes if size <= count), default=self.least)
        capped = min(count, self.most)
        return max(self.least, capped - (capped - self.least) % self.step)

    def next_above(self, count: int) -> int | None:
        """The next larger legal size."""
        if self.sizes:
            return next((size for size in self.sizes if size > count), None)
        larger = count + self.step
        return larger if larger <= self.most else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resize:
    """A running job's new size, in pods."""

    uid: str
    before: int
    after: int


@dataclass(slots=True)
class _Loan:
    range: ElasticRange
    per_pod: Usage
    size: int
    """Pods it has now."""
    quiet_until_s: float


class ElasticLayer:
    """Call `release` before the cycles of an instant and `regrow` after them."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._jobs: dict[str, _Loan] = {}
        self._lent: dict[str, int] = {}
        """Pods above the minimum that are counted in the snapshot now."""
        self._open: dict[str, int] = {}
        """Pods above the minimum that `release` took back, until `regrow`."""

    def started(self, uid: str, range_: ElasticRange, now_s: float) -> None:
        """An elastic job was admitted at its minimum. Raises `WorldInvalid` for a range that is none."""
        check_range(uid, range_)
        holder = self._scheduler.snapshot.holders[uid]
        count = sum(podset.count for podset in holder.facts.podsets)
        per_pod = tuple((slot, amount // count) for slot, amount in holder.usage)
        self._jobs[uid] = _Loan(range_, per_pod, count, now_s + range_.snooze_s)

    def stopped(self, uid: str) -> None:
        """The job finished or was evicted: call before the scheduler hears of it."""
        if uid in self._jobs:
            self._take_back(uid)
            self._open.pop(uid, None)
            del self._jobs[uid]

    def size(self, uid: str) -> int:
        return self._jobs[uid].size

    def release(self) -> None:
        """Take every loan out of the quota, so that whoever waits is decided first."""
        for uid in list(self._lent):
            self._open[uid] = self._take_back(uid)

    def regrow(self, now_s: float) -> list[Resize]:
        """Give out what is left: old loans first, as far as they still fit, then new ones, smallest growth first."""
        resizes = []
        for uid, extra in sorted(self._open.items()):
            job = self._jobs[uid]
            kept = self._largest(job, uid, extra)
            if kept:
                self._lend(uid, kept)
            after = job.range.least + kept
            if after != job.size:
                resizes.append(Resize(uid=uid, before=job.size, after=after))
                job.size, job.quiet_until_s = after, now_s + job.range.snooze_s
        self._open.clear()
        return resizes + self._grow(now_s)

    def next_growth_s(self) -> float | None:
        """When the next job may grow again, if any can."""
        times = [j.quiet_until_s for j in self._jobs.values() if j.range.next_above(j.size) is not None]
        return min(times, default=None)

    def _grow(self, now_s: float) -> list[Resize]:
        before: dict[str, int] = {}
        heap = [
            (job.size / job.range.least, uid)
            for uid, job in self._jobs.items()
            if job.quiet_until_s <= now_s and job.range.next_above(job.size) is not None
        ]
        heapify(heap)
        while heap:
            _, uid = heappop(heap)
            job = self._jobs[uid]
            larger = job.range.next_above(job.size)
            if larger is None or not self._fits(uid, job, larger - job.size):
                continue
            before.setdefault(uid, job.size)
            self._lend(uid, larger - job.size)
            job.size = larger
            heappush(heap, (job.size / job.range.least, uid))
        for uid in before:
            self._jobs[uid].quiet_until_s = now_s + self._jobs[uid].range.snooze_s
        return [Resize(uid=uid, before=size, after=self._jobs[uid].size) for uid, size in before.items()]

    def _largest(self, job: _Loan, uid: str, extra: int) -> int:
        while extra > 0 and not self._fits(uid, job, extra):
            extra = job.range.legal_up_to(job.range.least + extra - 1) - job.range.least
        return max(0, extra)

    def _fits(self, uid: str, job: _Loan, pods: int) -> bool:
        queue = self._scheduler.snapshot.holders[uid].queue
        return queue.fits(tuple((slot, amount * pods) for slot, amount in job.per_pod))

    def _lend(self, uid: str, pods: int) -> None:
        self._change(uid, pods)
        self._lent[uid] = self._lent.get(uid, 0) + pods

    def _take_back(self, uid: str) -> int:
        pods = self._lent.pop(uid, 0)
        if pods:
            self._change(uid, -pods)
        return pods

    def _change(self, uid: str, pods: int) -> None:
        queue = self._scheduler.snapshot.holders[uid].queue
        for slot, amount in self._jobs[uid].per_pod:
            if pods > 0:
                queue.add(slot, amount * pods)
            else:
                queue.remove(slot, amount * -pods)


def check_range(uid: str, range_: ElasticRange) -> None:
    """Raises `WorldInvalid` unless 1 <= least <= most, the step is positive and discrete sizes ascend."""
    sizes = range_.sizes
    is_legal = 1 <= range_.least <= range_.most and range_.step >= 1
    if sizes:
        is_legal = (
            is_legal and list(sizes) == sorted(set(sizes)) and (sizes[0], sizes[-1]) == (range_.least, range_.most)
        )
    if not is_legal:
        raise world_invalid(WorldField.ELASTIC_RANGE, name=uid, low=range_.least, high=range_.most)
