"""Where the wall time went: exactly, whatever the events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.goodput.accounting import (
    Account,
    Anomaly,
    JobEvent,
    JobEventKind,
    TimeClass,
    account,
    by_team,
    goodput_of,
    total,
)
from core.ids import TeamName

START = datetime(2026, 5, 1, tzinfo=UTC)
K, T = JobEventKind, TimeClass


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def event(kind: JobEventKind, minutes: float, *, step: int | None = None, speed: float = 1.0) -> JobEvent:
    return JobEvent(kind=kind, at=at(minutes), training_step=step, speed=speed)


def accounted(*events: JobEvent, until: float = 100, gpus: int = 8, team: str = "a") -> Account:
    return account(events, job="j", gpus=gpus, until=at(until), team=TeamName(team), gpu_hour_cents=400)


def minutes(account: Account) -> dict[TimeClass, float]:
    return {name: spent / timedelta(minutes=1) for name, spent in account.by_class.items() if spent}


LIFE = (
    event(K.QUEUED, 0),
    event(K.STARTING, 10),
    event(K.TRAINING, 15, step=0),
    event(K.CHECKPOINT_BEGAN, 45),
    event(K.CHECKPOINT_SAVED, 47, step=100),
    event(K.FAULT, 60),
    event(K.DETECTED, 64),
    event(K.TRAINING, 70, step=100),
    event(K.ENDED, 100),
)


def test_a_life_with_one_failure_is_split_into_its_classes() -> None:
    assert minutes(accounted(*LIFE)) == {
        T.WAITING_FOR_CAPACITY: 10,
        T.RESTART: 5 + 6,
        T.PRODUCTIVE: 30 + 30,
        T.CHECKPOINT: 2,
        T.LOST_WORK: 13,
        T.DETECTION: 4,
    }


def test_recovery_that_keeps_the_work_loses_none() -> None:
    kept = (event(K.TRAINING, 0, step=0), event(K.FAULT, 10), event(K.DETECTED, 11), event(K.CHECKPOINT_SAVED, 12))

    assert T.LOST_WORK not in minutes(accounted(*kept, until=20))


def test_a_rollback_past_a_save_loses_the_work_between_too() -> None:
    events = (
        event(K.TRAINING, 0, step=0),
        event(K.CHECKPOINT_SAVED, 10, step=100),
        event(K.CHECKPOINT_SAVED, 20, step=200),
        event(K.FAULT, 25),
        event(K.TRAINING, 30, step=100),
    )

    assert minutes(accounted(*events, until=40))[T.LOST_WORK] == 15


def test_starting_from_scratch_loses_everything() -> None:
    events = (
        event(K.TRAINING, 0, step=0),
        event(K.CHECKPOINT_SAVED, 10, step=100),
        event(K.FAULT, 20),
        event(K.TRAINING, 20, step=0),
    )

    assert minutes(accounted(*events, until=30)) == {T.LOST_WORK: 20, T.PRODUCTIVE: 10}


def test_a_slow_job_is_productive_at_its_speed_and_degraded_for_the_rest() -> None:
    events = (event(K.TRAINING, 0, step=0), event(K.DEGRADED, 10, speed=0.75), event(K.RECOVERED_SPEED, 30))

    assert minutes(accounted(*events, until=40)) == {T.PRODUCTIVE: 10 + 15 + 10, T.DEGRADED: 5}


def test_a_running_job_is_accounted_until_now() -> None:
    running = accounted(event(K.TRAINING, 0, step=0), until=50)

    assert (running.wall, running.goodput) == (timedelta(minutes=50), 1.0)


def test_money_is_whole_cents_and_waiting_costs_none() -> None:
    whole = accounted(*LIFE)

    assert whole.cost_cents() == round(8 * 1.5 * 400)
    assert whole.cost_cents(T.WAITING_FOR_CAPACITY) == 0


def test_jobs_count_by_their_size() -> None:
    good = accounted(event(K.TRAINING, 0, step=0), until=60, gpus=24)
    idle = accounted(event(K.QUEUED, 0), until=60, gpus=8, team="b")

    assert goodput_of(total([good, idle])) == pytest.approx(0.75)
    assert goodput_of(by_team([good, idle])[TeamName("b")]) == 0.0


def test_a_job_without_events_has_no_time_and_no_goodput() -> None:
    empty = accounted()

    assert (empty.wall, empty.goodput) == (timedelta(0), 0.0)


@pytest.mark.parametrize(
    ("events", "anomaly"),
    [
        ((event(K.TRAINING, 0, step=0), event(K.TRAINING, 0, step=0)), Anomaly.DUPLICATE),
        ((event(K.FAULT, 9), event(K.TRAINING, 0, step=0)), Anomaly.OUT_OF_ORDER),
        ((event(K.TRAINING, 0, step=0), event(K.DEGRADED, 1, speed=-3.0)), Anomaly.SPEED_OUT_OF_RANGE),
        ((event(K.TRAINING, 0, step=0), event(K.DEGRADED, 1, speed=float("nan"))), Anomaly.SPEED_OUT_OF_RANGE),
        ((event(K.TRAINING, 0, step=0), event(K.CHECKPOINT_SAVED, 5, step=9)), Anomaly.SAVE_WITHOUT_BEGIN),
        ((event(K.TRAINING, 0, step=77),), Anomaly.RESUMED_FROM_UNKNOWN_STEP),
        ((event(K.ENDED, 5), event(K.TRAINING, 9, step=0)), Anomaly.AFTER_END),
    ],
    ids=lambda value: value.value if isinstance(value, Anomaly) else "",
)
def test_odd_events_are_noted_and_do_not_stop_the_account(events: tuple[JobEvent, ...], anomaly: Anomaly) -> None:
    assert anomaly in accounted(*events, until=20).anomalies


any_event = st.builds(
    event,
    st.sampled_from(JobEventKind),
    st.integers(min_value=-100, max_value=100),
    step=st.none() | st.integers(min_value=-5, max_value=300),
    speed=st.floats(allow_nan=True, allow_infinity=True),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(any_event, max_size=14))
def test_the_classes_sum_to_the_wall_time_exactly(events: list[JobEvent]) -> None:
    result = accounted(*events, until=100)
    inside = sorted(one.at for one in events)
    ended = sorted(one.at for one in events if one.kind is K.ENDED)
    expected = (ended[0] if ended else at(100)) - inside[0] if inside else timedelta(0)

    assert result.wall == max(timedelta(0), expected)
    assert min(result.by_class.values()) >= timedelta(0)


@settings(max_examples=80, deadline=None)
@given(st.lists(any_event, max_size=10, unique_by=lambda one: one.at), st.randoms(use_true_random=False))
def test_the_order_of_arrival_and_duplicates_change_nothing(events: list[JobEvent], random: object) -> None:
    shuffled = sorted([*events, *events[:3]], key=lambda _: random.random())  # type: ignore[attr-defined]

    assert accounted(*shuffled).by_class == accounted(*events).by_class
