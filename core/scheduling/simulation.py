"""What will happen: jobs with known or estimated running times, played through the scheduler event by event.

Between two events nothing changes, so the clock jumps from one to the next. A preempted job queues again in its
old place with the work that it has left; what it did since its last checkpoint is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Final

from core.scheduling.decisions import CycleResult, Eviction
from core.scheduling.elastic import ElasticLayer, ElasticRange
from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.loops import LoopDetector, PingPong
from core.scheduling.scheduler import Scheduler
from core.scheduling.world import PendingWorkload, World

CHECKPOINT_EVERY_S: Final = 1800.0
_CYCLES_PER_INSTANT: Final = 1000
"""Beyond what any instant settles in; a loop that the rules allow is cut here and reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJob:
    """`workload` asks the full size; `runs_s` is how long it runs at that size.

    Its place in the queue is its own `queued_at_s`, or else the time of its submission.
    """

    workload: PendingWorkload
    submitted_s: float
    runs_s: float
    elastic: ElasticRange | None = None
    """In pods of its only podset; it then starts at its least size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationSettings:
    checkpoint_every_s: float = CHECKPOINT_EVERY_S
    speed_up: float = 1.0
    """What an added pod brings, as a part of what a pod of the full size brings: 1 = linear."""
    until_s: float | None = None
    tick_s: float = 0.0
    """Events are decided on together once per tick; 0 = each at its own time. Kueue gathers them for 1 s."""


@dataclass(slots=True)
class JobRecord:
    """One job's life. Times absent = it never came to that."""

    uid: str
    queue: str
    pods: int
    submitted_s: float
    runs_s: float
    first_started_s: float | None = None
    finished_s: float | None = None
    preemptions: int = 0
    resizes: int = 0
    waited_s: float = 0.0
    """All time without a place, also after preemptions."""
    lost_s: float = 0.0
    """Work done twice."""


@dataclass(frozen=True, slots=True)
class Sample:
    """From `at_s` on: pods running and waiting, by queue."""

    at_s: float
    running: dict[str, int]
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult:
    jobs: tuple[JobRecord, ...]
    ended_s: float
    decisions: int
    cycles: int
    pod_seconds: float
    """Pods times seconds that they ran."""
    loops: tuple[PingPong, ...]
    samples: tuple[Sample, ...]

    @property
    def unfinished(self) -> list[JobRecord]:
        return [job for job in self.jobs if job.finished_s is None]


@dataclass(slots=True)
class _Run:
    """A job in the simulator. `left_s` is work left, in seconds at full size."""

    job: SimulatedJob
    record: JobRecord
    left_s: float
    asked: PendingWorkload
    size: int = 0
    rate: float = 0.0
    since_s: float = 0.0
    attempt_s: float = 0.0
    """Work done since the last start, in seconds at full size."""
    version: int = 0
    is_waiting_since_s: float = 0.0


def simulate(
    world: World,
    jobs: Iterable[SimulatedJob],
    settings: SimulationSettings | None = None,
    *,
    samples: bool = False,
) -> SimulationResult:
    """Play `jobs` in `world`; what the world says is running or waiting is left out of account unless it is among
    them. Raises `WorldInvalid` for an empty list, a time that runs backwards, or a job that cannot be decided on.
    """
    return _Simulation(world, list(jobs), settings or SimulationSettings(), samples).run()


class _Simulation:
    def __init__(self, world: World, jobs: Sequence[SimulatedJob], settings: SimulationSettings, samples: bool) -> None:
        if not jobs:
            raise world_invalid(WorldField.TRACE_EMPTY)
        self._settings = settings
        self._scheduler = Scheduler(replace(world, pending=(), admitted=()))
        self._layer = ElasticLayer(self._scheduler)
        self._has_elastic = any(job.elastic is not None for job in jobs)
        self._runs = {job.workload.uid: _new_run(job) for job in jobs}
        self._arrivals = [(job.submitted_s, job.workload.uid) for job in jobs]
        heapify(self._arrivals)
        self._finishes: list[tuple[float, str, int]] = []
        self._waiting = 0
        self._running_pods: dict[str, int] = {}
        self._pod_seconds = 0.0
        self._last_s = self._arrivals[0][0]
        self._decisions = self._cycles = 0
        self._detector = LoopDetector()
        self._loops: list[PingPong] = []
        self._samples: list[Sample] | None = [] if samples else None

    def run(self) -> SimulationResult:
        now_s = self._last_s
        while (upcoming := self._next_s()) is not None:
            if self._settings.until_s is not None and upcoming > self._settings.until_s:
                break
            now_s = upcoming
            self._pod_seconds += sum(self._running_pods.values()) * (now_s - self._last_s)
            self._last_s = now_s
            self._instant(now_s)
            if self._samples is not None:
                running = {name: pods for name, pods in self._running_pods.items() if pods}
                self._samples.append(Sample(now_s, running, self._waiting))
        return SimulationResult(
            jobs=tuple(run.record for run in self._runs.values()),
            ended_s=now_s,
            decisions=self._decisions,
            cycles=self._cycles,
            pod_seconds=self._pod_seconds,
            loops=tuple(self._loops),
            samples=tuple(self._samples or ()),
        )

    def _next_s(self) -> float | None:
        while self._finishes and self._runs[self._finishes[0][1]].version != self._finishes[0][2]:
            heappop(self._finishes)
        times = [heap[0][0] for heap in (self._arrivals, self._finishes) if heap]
        if not times:
            return None
        if self._has_elastic and (growth_s := self._layer.next_growth_s()) is not None and growth_s > self._last_s:
            times.append(growth_s)
        next_s, tick_s = min(times), self._settings.tick_s
        return next_s if tick_s <= 0 else max(next_s, self._last_s + tick_s)

    def _instant(self, now_s: float) -> None:
        self._finish_due(now_s)
        while self._arrivals and self._arrivals[0][0] <= now_s:
            submitted_s, uid = heappop(self._arrivals)
            run = self._runs[uid]
            run.is_waiting_since_s = submitted_s
            self._scheduler.submit(run.asked)
            self._waiting += 1
        if self._has_elastic and self._waiting:
            self._layer.release()
        for _ in range(_CYCLES_PER_INSTANT):
            if self._scheduler.is_at_rest:
                break
            self._act(self._scheduler.cycle(now_s), now_s)
        if self._has_elastic:
            for resize in self._layer.regrow(now_s):
                self._resize(self._runs[resize.uid], resize.after, now_s)

    def _finish_due(self, now_s: float) -> None:
        while self._finishes and self._finishes[0][0] <= now_s:
            finished_s, uid, version = heappop(self._finishes)
            run = self._runs[uid]
            if run.version == version:
                run.record.finished_s = finished_s
                self._leave(run, finished_s)
                self._scheduler.finish(uid)

    def _act(self, result: CycleResult, now_s: float) -> None:
        self._cycles += 1
        self._decisions += len(result.decisions)
        if result.evictions:
            self._loops += self._detector.observe(now_s, result.evictions)
        for eviction in result.evictions:
            self._evict(eviction, now_s)
        for workload in result.admitted:
            self._start(self._runs[workload.uid], sum(p.count for p in workload.podsets), now_s)

    def _start(self, run: _Run, pods: int, now_s: float) -> None:
        record = run.record
        record.waited_s += now_s - run.is_waiting_since_s
        if record.first_started_s is None:
            record.first_started_s = now_s
        self._waiting -= 1
        run.attempt_s = 0.0
        run.since_s = now_s
        self._set_size(run, pods, now_s)
        if run.job.elastic is not None:
            self._layer.started(run.asked.uid, run.job.elastic, now_s)

    def _evict(self, eviction: Eviction, now_s: float) -> None:
        run = self._runs[eviction.uid]
        self._advance(run, now_s)
        lost_s = run.attempt_s % self._settings.checkpoint_every_s
        run.left_s += lost_s
        run.record.lost_s += lost_s
        run.record.preemptions += 1
        self._leave(run, now_s)
        run.is_waiting_since_s = now_s
        self._waiting += 1
        self._scheduler.requeue(run.asked)

    def _leave(self, run: _Run, now_s: float) -> None:
        run.version += 1
        queue = run.record.queue
        self._running_pods[queue] -= run.size
        run.size = 0
        if run.job.elastic is not None:
            self._layer.stopped(run.asked.uid)

    def _resize(self, run: _Run, pods: int, now_s: float) -> None:
        run.record.resizes += 1
        self._advance(run, now_s)
        self._set_size(run, pods, now_s)

    def _advance(self, run: _Run, now_s: float) -> None:
        done_s = min(run.left_s, (now_s - run.since_s) * run.rate)
        run.left_s -= done_s
        run.attempt_s += done_s
        run.since_s = now_s

    def _set_size(self, run: _Run, pods: int, now_s: float) -> None:
        queue = run.record.queue
        self._running_pods[queue] = self._running_pods.get(queue, 0) + pods - run.size
        run.size = pods
        run.rate = rate(pods, run.record.pods, self._settings.speed_up)
        run.version += 1
        heappush(self._finishes, (now_s + run.left_s / run.rate, run.asked.uid, run.version))


def rate(pods: int, full: int, speed_up: float) -> float:
    """Speed at a size, 1 at full size: in proportion below it, `speed_up` for each pod above it."""
    return pods / full if pods <= full else 1.0 + speed_up * (pods - full) / full


def _new_run(job: SimulatedJob) -> _Run:
    workload = job.workload
    if job.runs_s < 0:
        raise world_invalid(WorldField.TIME_NOT_FINITE, name=workload.uid, time=str(job.runs_s))
    pods = sum(podset.count for podset in workload.podsets)
    asked = workload if workload.queued_at_s is not None else replace(workload, queued_at_s=job.submitted_s)
    if job.elastic is not None:
        (podset,) = workload.podsets
        asked = replace(asked, podsets=(replace(podset, count=job.elastic.least, min_count=None),))
    record = JobRecord(
        uid=workload.uid, queue=workload.queue, pods=pods, submitted_s=job.submitted_s, runs_s=job.runs_s
    )
    return _Run(job=job, record=record, left_s=job.runs_s, asked=asked)
