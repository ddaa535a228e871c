"""The simulator against worlds worked out by hand: who runs when, what is lost, what grows and shrinks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.scheduling.elastic import ElasticLayer, ElasticRange, Resize
from core.scheduling.errors import WorldField, WorldInvalid
from core.scheduling.policies import QueueingStrategy
from core.scheduling.replay import Policy, figures, gpus_for_load, jain, jobs_for, team_shares, world_for
from core.scheduling.scheduler import Scheduler
from core.scheduling.simulation import JobRecord, SimulatedJob, SimulationSettings, rate, simulate
from core.scheduling.traces import Columns, Trace, read_trace, repeated
from core.scheduling.world import Quota, World
from tests.builders.scheduling import ANY, LOWER, cohort, pending, queue, world

STRICT = QueueingStrategy.STRICT_FIFO


def job(
    uid: str,
    at_s: float,
    runs_s: float,
    *,
    queue: str = "q",
    pods: int = 1,
    priority: int = 0,
    elastic: ElasticRange | None = None,
) -> SimulatedJob:
    waiting = pending(uid, queue, count=pods, priority=priority, at_s=at_s)
    return SimulatedJob(workload=waiting, submitted_s=at_s, runs_s=runs_s, elastic=elastic)


def play(start: World, jobs: Sequence[SimulatedJob], setting: SimulationSettings | None = None) -> dict[str, JobRecord]:
    return {record.uid: record for record in simulate(start, jobs, setting).jobs}


def test_a_job_starts_when_the_one_before_it_is_done() -> None:
    found = play(world([queue("q", 1)]), [job("a", 0.0, 10.0), job("b", 1.0, 5.0)])

    assert (found["a"].finished_s, found["b"].first_started_s, found["b"].finished_s) == (10.0, 10.0, 15.0)
    assert found["b"].waited_s == 9.0


def test_a_strict_head_holds_up_a_smaller_job_and_a_best_effort_one_does_not() -> None:
    jobs = [job("long", 0.0, 100.0), job("big", 1.0, 10.0, pods=2), job("small", 2.0, 10.0)]

    strict = play(world([queue("q", 2, strategy=STRICT)]), jobs)
    free = play(world([queue("q", 2)]), jobs)

    assert strict["small"].first_started_s == 110.0
    assert free["small"].first_started_s == 2.0


def test_a_preempted_job_loses_what_it_did_since_its_last_checkpoint() -> None:
    jobs = [job("low", 0.0, 100.0), job("high", 50.0, 10.0, priority=1)]

    found = play(world([queue("q", 1, within=LOWER)]), jobs, SimulationSettings(checkpoint_every_s=20.0))

    assert found["high"].finished_s == 60.0
    assert (found["low"].preemptions, found["low"].lost_s) == (1, 10.0)
    assert found["low"].finished_s == 60.0 + 100.0 - 40.0


def test_an_owner_takes_back_what_others_borrowed() -> None:
    start = world([queue("own", 1, cohort="c", reclaim=ANY), queue("other", 0, cohort="c")])

    found = play(start, [job("borrower", 0.0, 100.0, queue="other"), job("owner", 10.0, 5.0, queue="own")])

    assert found["owner"].first_started_s == 10.0
    assert found["borrower"].preemptions == 1


@pytest.mark.parametrize(("pods", "speed_up", "expected"), [(2, 1.0, 0.5), (4, 1.0, 1.0), (8, 1.0, 2.0), (8, 0.8, 1.8)])
def test_speed_follows_size(pods: int, speed_up: float, expected: float) -> None:
    assert rate(pods, 4, speed_up) == expected


def test_an_elastic_job_starts_small_and_grows_into_what_is_idle() -> None:
    """At 2 of 4 pods it does 150 s of work in 300 s; then 8 pods do the other 850 s in 425 s."""
    grows = ElasticRange(least=2, most=8, snooze_s=300.0)

    found = play(world([queue("q", 8)]), [job("w", 0.0, 1000.0, pods=4, elastic=grows)])

    assert found["w"].finished_s == 300.0 + (1000.0 - 150.0) / 2.0
    assert found["w"].resizes == 1


def test_it_shrinks_before_anybody_waits_or_is_evicted() -> None:
    grows = ElasticRange(least=2, most=8, snooze_s=0.0)
    jobs = [job("w", 0.0, 1000.0, pods=4, elastic=grows), job("late", 100.0, 10.0, pods=6)]

    found = play(world([queue("q", 8)]), jobs)

    assert found["late"].first_started_s == 100.0
    assert found["w"].preemptions == 0


def test_it_never_grows_past_its_borrowing_limit() -> None:
    start = world(
        [queue("q", Quota(nominal=2, borrowing_limit=1), cohort="c")],
        cohorts=[cohort("c", 9)],
        pending=[pending("w", "q")],
    )
    scheduler = Scheduler(start)
    scheduler.cycle()
    layer = ElasticLayer(scheduler)
    layer.started("w", ElasticRange(least=1, most=9, snooze_s=0.0), 0.0)

    assert layer.regrow(0.0) == [Resize(uid="w", before=1, after=3)]


@pytest.mark.parametrize(
    ("range_", "count", "legal"),
    [
        pytest.param(ElasticRange(least=2, most=8), 5, 5, id="every size"),
        pytest.param(ElasticRange(least=2, most=8, step=3), 7, 5, id="in steps from the least"),
        pytest.param(ElasticRange(least=1, most=8, sizes=(1, 2, 4, 8)), 7, 4, id="discrete sizes"),
        pytest.param(ElasticRange(least=2, most=8), 20, 8, id="never above the most"),
    ],
)
def test_only_legal_sizes_are_taken(range_: ElasticRange, count: int, legal: int) -> None:
    assert range_.legal_up_to(count) == legal


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(1, 60), st.integers(1, 4), st.integers(0, 2), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=100, deadline=None)
def test_every_job_ends_and_pods_are_never_more_than_there_are(
    rows: list[tuple[int, int, int, int, bool]],
) -> None:
    start = world(
        [queue(f"q{i}", 2, cohort="c", within=LOWER, reclaim=ANY) for i in range(3)], cohorts=[cohort("c", 2)]
    )
    jobs = [
        job(
            f"w{index}",
            float(at_s),
            float(runs_s),
            queue=f"q{where}",
            pods=pods,
            elastic=ElasticRange(least=max(1, pods // 2), most=2 * pods, snooze_s=5.0) if is_elastic else None,
        )
        for index, (at_s, runs_s, pods, where, is_elastic) in enumerate(rows)
    ]

    result = simulate(start, jobs, samples=True)

    assert result.unfinished == []
    assert all(sum(sample.running.values()) <= 8 for sample in result.samples)
    for record in result.jobs:
        assert record.finished_s is not None and record.first_started_s is not None
        assert record.submitted_s <= record.first_started_s <= record.finished_s


def test_the_same_jobs_in_another_order_give_the_same_result() -> None:
    jobs = [job(f"w{i}", float(i), 10.0 * (i % 3 + 1), pods=i % 2 + 1) for i in range(20)]
    start = world([queue("q", 3)])

    assert play(start, jobs) == play(start, list(reversed(jobs)))


GAVEL = """vc,job_type,num_gpus,total_steps,arrival_s,duration_v100_s,duration_p100_s,duration_k80_s
a,x,1,10,0.0,100.0,,
b,x,2,10,5.0,,,
a,x,2,10,10.0,50.0,,
"""


def test_a_gavel_trace_is_read_and_what_has_no_duration_is_counted() -> None:
    trace = read_trace(GAVEL.splitlines())

    assert [(j.team, j.pods, j.submitted_s, j.runs_s) for j in trace.jobs] == [
        ("a", 1, 0.0, 100.0),
        ("a", 2, 10.0, 50.0),
    ]
    assert trace.left_out == {"no duration was profiled": 1}


def test_any_csv_is_read_by_named_columns_with_iso_times() -> None:
    text = "when,took,cards,who\n2026-01-01T00:00:00+00:00,60,4,me\n2026-01-01T00:01:00+00:00,60,8,you\n"
    columns = Columns(submit="when", duration="took", gpus="cards", team="who")

    trace = read_trace(text.splitlines(), columns)

    assert [(j.team, j.gpus) for j in trace.jobs] == [("me", 4.0), ("you", 8.0)]
    assert trace.span_s == 60.0


@pytest.mark.parametrize(
    ("problem", "text", "row"),
    [
        pytest.param(WorldField.TRACE_EMPTY, GAVEL.splitlines()[0], None, id="no rows"),
        pytest.param(WorldField.TRACE_COLUMN_MISSING, "a,b\n1,2\n", None, id="columns of no known trace"),
        pytest.param(WorldField.TRACE_VALUE, GAVEL.replace("10.0,50.0", "10.0,soon"), 3, id="not a number"),
        pytest.param(WorldField.TRACE_VALUE, GAVEL.replace("a,x,2", "a,x,-2"), 3, id="negative GPUs"),
        pytest.param(WorldField.TRACE_OUT_OF_ORDER, GAVEL.replace("a,x,1,10,0.0", "a,x,1,10,99.0"), 3, id="backwards"),
    ],
)
def test_a_bad_trace_is_refused_by_field_and_row(problem: WorldField, text: str, row: int | None) -> None:
    with pytest.raises(WorldInvalid) as refused:
        read_trace(text.splitlines())

    assert refused.value.problem is problem
    assert refused.value.message.params.get("row") == row


def test_repeating_a_trace_is_seeded_and_keeps_its_order() -> None:
    trace = read_trace(GAVEL.splitlines())

    again = repeated(trace, 7, seed=1)

    assert again == repeated(trace, 7, seed=1) != repeated(trace, 7, seed=2)
    assert [j.submitted_s for j in again.jobs] == sorted(j.submitted_s for j in again.jobs)


def small_trace() -> Trace:
    rows = "\n".join(f"{'ab'[i % 2]},x,{1 + i % 4},1,{i * 10}.0,{100 + 37 * (i % 5)}.0,," for i in range(60))
    return read_trace([GAVEL.splitlines()[0], *rows.splitlines()])


@pytest.mark.parametrize("policy", list(Policy))
def test_each_policy_runs_every_job_of_a_trace(policy: Policy) -> None:
    trace = small_trace()
    gpus = gpus_for_load(trace, 1.0)
    shares = team_shares(trace, gpus)

    result = simulate(world_for(policy, shares, gpus), jobs_for(policy, trace))
    found = figures(trace, result, gpus)

    assert sum(shares.values()) == gpus
    assert (found.jobs, found.unfinished) == (60, 0)
    assert 0.0 < found.utilisation <= 1.0
    assert 0.0 < found.fairness <= 1.0


def test_sharing_idle_capacity_beats_a_static_partition() -> None:
    trace = small_trace()
    gpus = gpus_for_load(trace, 1.0)
    shares = team_shares(trace, gpus)

    average = {
        policy: figures(
            trace, simulate(world_for(policy, shares, gpus), jobs_for(policy, trace)), gpus
        ).average_completion_s
        for policy in (Policy.STATIC_PARTITION, Policy.IDLE_SHARING)
    }

    assert average[Policy.IDLE_SHARING] < average[Policy.STATIC_PARTITION]


def test_jains_index_is_one_for_equals_and_one_over_n_for_a_single_winner() -> None:
    assert jain([2.0, 2.0, 2.0]) == 1.0
    assert jain([1.0, 0.0, 0.0, 0.0]) == 0.25


def test_an_empty_list_and_a_range_that_is_none_are_refused() -> None:
    with pytest.raises(WorldInvalid):
        simulate(world([queue("q", 1)]), [])
    with pytest.raises(WorldInvalid):
        play(world([queue("q", 9)]), [job("w", 0.0, 1.0, pods=4, elastic=ElasticRange(least=5, most=2))])
