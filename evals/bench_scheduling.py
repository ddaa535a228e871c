"""`muster bench scheduling`: decisions per second at Kueue's two published shapes, under the full rules.

The load is that of Kueue's own scheduler performance test (kubernetes-sigs/kueue@ff69552e,
`test/performance/scheduler/configs`): queues of 20 units nominal and 100 to borrow, reclaim Any, preemption of
lower priorities within a queue, and three classes of workloads that arrive and finish on a simulated clock. Its
real cluster is left out, so what is measured is the core alone: every submit, finish, eviction and cycle, in
seconds of one processor.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from time import process_time
from typing import Annotated, Final

import typer
from pydantic import JsonValue

from core.scheduling.decisions import CycleResult, Outcome
from core.scheduling.policies import PreemptionPolicy, QueuePreemption
from core.scheduling.scheduler import Scheduler
from core.scheduling.world import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    PendingWorkload,
    PodSetRequest,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    World,
)
from interfaces.cli.output import JsonFlag, print_json

GOAL_PER_SECOND: Final = 5_000
GOAL_GROWTH: Final = 3.0
"""Most by which a decision may cost more at the large shape."""
_CYCLES_PER_INSTANT: Final = 200
"""Far beyond what settling one instant takes: reaching it means an endless preemption loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadClass:
    """Workloads of one size. Times in simulated seconds; `share` of the queue's workloads, in percent."""

    name: str
    units: int
    priority: int
    runs_s: float
    every_s: float
    share: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    cohorts: int
    queues_per_cohort: int
    workloads_per_queue: int

    @property
    def queues(self) -> int:
        return self.cohorts * self.queues_per_cohort

    @property
    def workloads(self) -> int:
        return self.queues * self.workloads_per_queue


CLASSES: Final = (
    LoadClass(name="small", units=1, priority=50, runs_s=0.2, every_s=0.1, share=70),
    LoadClass(name="medium", units=5, priority=100, runs_s=0.5, every_s=0.5, share=20),
    LoadClass(name="large", units=20, priority=200, runs_s=1.0, every_s=1.2, share=10),
)
SHAPES: Final = (
    Shape(cohorts=5, queues_per_cohort=6, workloads_per_queue=500),
    Shape(cohorts=10, queues_per_cohort=100, workloads_per_queue=50),
)


@dataclass(slots=True)
class Measured:
    """What one shape gave; the baseline is measured on a sample of the same run's cycles."""

    shape: Shape
    decisions: int = 0
    by_outcome: dict[Outcome, int] = field(default_factory=dict)
    evictions: int = 0
    cycles: int = 0
    core_s: float = 0.0
    worst_cycle_s: float = 0.0
    baseline_decisions: int = 0
    baseline_s: float = 0.0

    @property
    def per_second(self) -> float:
        return self.decisions / self.core_s

    @property
    def baseline_per_second(self) -> float:
        return self.baseline_decisions / self.baseline_s

    def count(self, result: CycleResult) -> None:
        self.cycles += 1
        self.decisions += len(result.decisions)
        self.evictions += len(result.evictions)
        for decision in result.decisions:
            self.by_outcome[decision.outcome] = self.by_outcome.get(decision.outcome, 0) + 1

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "queues": self.shape.queues,
            "workloads": self.shape.workloads,
            "decisions_per_second": round(self.per_second, 1),
        }

    def details(self) -> dict[str, JsonValue]:
        return {
            "queues": self.shape.queues,
            "decisions": self.decisions,
            "cycles": self.cycles,
            "evictions": self.evictions,
            "outcomes": {outcome.value: count for outcome, count in sorted(self.by_outcome.items())},
            "core_s": round(self.core_s, 3),
            "worst_cycle_ms": round(1000 * self.worst_cycle_s, 2),
            "baseline": "rebuild_every_cycle",
            "baseline_decisions": self.baseline_decisions,
            "baseline_decisions_per_second": round(self.baseline_per_second, 1),
            "ratio": round(self.per_second / self.baseline_per_second, 2),
        }


def scheduling(
    as_json: JsonFlag = False,
    samples: Annotated[int, typer.Option(min=1, help="Cycles per shape that the baseline repeats.")] = 12,
) -> None:
    """Admission speed at 30 queues x 15,000 workloads and 1,000 queues x 50,000 workloads."""
    measured = []
    for shape in SHAPES:
        typer.echo(f"running {shape.queues} queues x {shape.workloads} workloads", err=True)
        measured.append(Run(shape, samples).measure())
    small, large = measured
    growth = small.per_second / large.per_second
    if as_json:
        print_json(
            {
                "shapes": [m.to_json() for m in measured],
                "details": [m.details() for m in measured],
                "cost_growth": round(growth, 3),
            }
        )
    else:
        for m in measured:
            typer.echo(" ".join(f"{key}={value}" for key, value in m.details().items()))
        rates = ", ".join(f"{m.per_second:.0f}/s at {m.shape.queues} queues" for m in measured)
        typer.echo(f"scheduling: {rates}, cost growth {growth:.2f}x")
    if min(m.per_second for m in measured) < GOAL_PER_SECOND or growth > GOAL_GROWTH:
        raise typer.Exit(1)


class Run:
    """One shape on a simulated clock: events of an instant, then cycles until nothing moves any more."""

    def __init__(self, shape: Shape, samples: int) -> None:
        self._measured = Measured(shape=shape)
        self._pending = {workload.uid: workload for workload in _workloads(shape)}
        self._runs_s = {name: load.runs_s for load in CLASSES for name in (load.name,)}
        self._arrivals = [(w.queued_at_s or 0.0, w.uid) for w in self._pending.values()]
        heapify(self._arrivals)
        self._finishes: list[tuple[float, str, float]] = []
        self._reserved_at_s: dict[str, float] = {}
        self._world = _world(shape)
        self._scheduler = Scheduler(self._world)
        self._admitted = 0
        self._sample_every = max(1, shape.workloads // samples)
        self._next_sample = self._sample_every // 2

    def measure(self) -> Measured:
        gc.collect()
        gc.disable()  # a collection in the middle of one run would be charged to that shape alone
        try:
            while self._arrivals or self._finishes:
                now_s = min(heap[0][0] for heap in (self._arrivals, self._finishes) if heap)
                self._instant(now_s)
        finally:
            gc.enable()
        if self._admitted < self._measured.shape.workloads:
            raise RuntimeError(f"only {self._admitted} of {self._measured.shape.workloads} workloads ever ran")
        return self._measured

    def _instant(self, now_s: float) -> None:
        started = process_time()
        self._apply_events(now_s)
        self._measured.core_s += process_time() - started
        for _ in range(_CYCLES_PER_INSTANT):
            if self._admitted >= self._next_sample:
                self._sample_baseline(now_s)
            started = process_time()
            result = self._scheduler.cycle(now_s)
            elapsed_s = process_time() - started
            for eviction in result.evictions:
                self._reserved_at_s.pop(eviction.uid, None)
                self._scheduler.requeue(self._pending[eviction.uid])
            is_at_rest = self._scheduler.is_at_rest
            self._measured.core_s += process_time() - started
            self._measured.worst_cycle_s = max(self._measured.worst_cycle_s, elapsed_s)
            self._measured.count(result)
            self._start(result, now_s)
            if is_at_rest:
                return
        raise RuntimeError(f"still preempting after {_CYCLES_PER_INSTANT} cycles at {now_s} s")

    def _apply_events(self, now_s: float) -> None:
        while self._finishes and self._finishes[0][0] <= now_s:
            _, uid, reserved_at_s = heappop(self._finishes)
            if self._reserved_at_s.get(uid) == reserved_at_s:  # else it was evicted in between
                del self._reserved_at_s[uid]
                self._scheduler.finish(uid)
        while self._arrivals and self._arrivals[0][0] <= now_s:
            self._scheduler.submit(self._pending[heappop(self._arrivals)[1]])

    def _start(self, result: CycleResult, now_s: float) -> None:
        for workload in result.admitted:
            self._admitted += 1
            self._reserved_at_s[workload.uid] = now_s
            runs_s = self._runs_s[workload.uid.split("-")[0]]
            heappush(self._finishes, (round(now_s + runs_s, 6), workload.uid, now_s))

    def _sample_baseline(self, now_s: float) -> None:
        """The same cycle by a scheduler that keeps nothing: it reads the whole world and asks every head."""
        self._next_sample += self._sample_every
        waiting = [self._scheduler.waiting(queue.name) for queue in self._world.queues]
        started = process_time()
        world = World(
            flavors=self._world.flavors,
            cohorts=self._world.cohorts,
            queues=self._world.queues,
            admitted=tuple(self._scheduler.holders()),
            pending=tuple(w for tried, parked in waiting for w in (*tried, *parked)),
        )
        result = Scheduler(world).cycle(now_s)
        self._measured.baseline_s += process_time() - started
        self._measured.baseline_decisions += len(result.decisions)


def _world(shape: Shape) -> World:
    group = ResourceGroup(
        resources=("cpu",),
        flavors=(FlavorQuotas(flavor="default", quotas={"cpu": Quota(nominal=20, borrowing_limit=100)}),),
    )
    cohorts = [f"cohort-{index:02d}" for index in range(shape.cohorts)]
    return World(
        flavors=(ResourceFlavor(name="default"),),
        cohorts=tuple(Cohort(name=name) for name in cohorts),
        queues=tuple(
            ClusterQueue(
                name=name,
                cohort=cohort,
                groups=(group,),
                preemption=QueuePreemption(
                    within_queue=PreemptionPolicy.LOWER_PRIORITY, reclaim_in_cohort=PreemptionPolicy.ANY
                ),
            )
            for cohort in cohorts
            for name in _queue_names(shape, cohort)
        ),
    )


def _queue_names(shape: Shape, cohort: str) -> list[str]:
    return [f"{cohort}-queue-{index:03d}" for index in range(shape.queues_per_cohort)]


def _workloads(shape: Shape) -> Iterator[PendingWorkload]:
    for cohort in range(shape.cohorts):
        for queue in _queue_names(shape, f"cohort-{cohort:02d}"):
            for load in CLASSES:
                for index in range(shape.workloads_per_queue * load.share // 100):
                    yield PendingWorkload(
                        uid=f"{load.name}-{queue}-{index:04d}",
                        queue=queue,
                        priority=load.priority,
                        queued_at_s=round((index + 1) * load.every_s, 6),
                        podsets=(PodSetRequest(name="main", count=1, requests={"cpu": load.units}),),
                    )
