"""The benches drive real worlds to their end; small shapes here, the published ones in the command."""

from __future__ import annotations

import pytest

from core.scheduling.decisions import Outcome
from core.scheduling.replay import Policy
from core.scheduling.traces import read_trace
from evals.bench_replay import TRACES, _gain, _measure, _read
from evals.bench_scheduling import Run, Shape


def test_every_workload_of_a_shape_is_admitted_and_every_nomination_counted() -> None:
    shape = Shape(cohorts=2, queues_per_cohort=3, workloads_per_queue=20)

    measured = Run(shape, samples=2).measure()

    assert measured.by_outcome[Outcome.ADMITTED] >= shape.workloads
    assert measured.decisions == sum(measured.by_outcome.values())
    assert measured.baseline_decisions > 0
    assert set(measured.to_json()) == {"queues", "workloads", "decisions_per_second"}


@pytest.mark.parametrize(
    ("name", "jobs"), [("gavel_philly.csv", 13_716), ("openb_pods.csv", 7_255), ("tiresias_60.csv", 60)]
)
def test_the_shipped_traces_are_read_whole(name: str, jobs: int) -> None:
    assert len(_read(name).jobs) == jobs


def test_a_policy_is_measured_on_a_trace() -> None:
    with (TRACES / "tiresias_60.csv").open() as lines:
        trace = read_trace(lines)

    rows = [_measure("gavel_philly", trace, policy, 1.0) for policy in Policy]

    assert all(row.figures.unfinished == 0 for row in rows)
    assert -1.0 < _gain(rows, 1.0) < 1.0
