"""The whole job slower than its best, and a loss that leaves its range."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.detectors.findings import Advice, Finding, FindingKind, leading_finding
from core.health.detectors.loss import LossWatch, see_loss
from core.health.detectors.slow import SlowWatch, see_step_time


def run(seconds: Iterable[float], *, predicted: float | None = None, suppressed: bool = False) -> list[Finding]:
    watch, found = SlowWatch(predicted_seconds=predicted), []
    for number, value in enumerate(seconds):
        watch, finding = see_step_time(watch, value, at_seconds=number, is_suppressed=suppressed)
        if finding is not None:
            found.append(finding)
    return found


def losses(values: Iterable[float]) -> list[Finding]:
    watch, found = LossWatch(), []
    for number, value in enumerate(values):
        watch, finding = see_loss(watch, value, at_seconds=number)
        if finding is not None:
            found.append(finding)
    return found


def wavy(count: int, level: float = 2.0) -> list[float]:
    return [level * (1 + 0.02 * math.sin(number)) for number in range(count)]


def test_a_quarter_slower_than_the_best_is_acted_on() -> None:
    assert [finding.advice for finding in run([1.0] * 50 + [1.3] * 50)] == [Advice.ACT]


def test_ten_per_cent_slower_is_notified_once_it_lasts() -> None:
    assert run([1.0] * 50 + [1.1] * 50) == []
    assert [finding.advice for finding in run([1.0] * 50 + [1.1] * 100)] == [Advice.NOTIFY]


def test_the_daily_swing_is_nothing() -> None:
    assert run([1.0 + 0.02 * math.sin(number / 300) for number in range(2000)]) == []


def test_single_long_steps_are_nothing() -> None:
    assert run([30.0 if number % 25 == 0 else 1.0 for number in range(500)]) == []


def test_a_job_that_never_was_fast_is_measured_against_its_prediction() -> None:
    assert [finding.advice for finding in run([1.3] * 50, predicted=1.0)] == [Advice.ACT]


def test_suppressed_steps_and_impossible_times_do_not_count() -> None:
    assert run([1.0] * 50 + [9.0] * 200, suppressed=True) == []
    assert run([math.nan, -1.0, 0.0, math.inf] * 50) == []


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_number_is_told_at_once(value: float) -> None:
    assert [finding.kind for finding in losses([2.0, value])] == [FindingKind.LOSS_NOT_FINITE]


def test_one_high_point_is_ordinary() -> None:
    assert losses([*wavy(100), 11.0, *wavy(20)]) == []


def test_three_high_points_of_five_are_told_and_nothing_is_killed() -> None:
    found = losses([*wavy(100), 11.0, 2.0, 11.0, 11.0])

    assert [(finding.kind, finding.advice) for finding in found] == [(FindingKind.LOSS_SPIKE, Advice.NOTIFY)]


def test_high_points_do_not_become_the_new_normal() -> None:
    assert len(losses([*wavy(100), *[11.0] * 50])) == 48


def test_the_steep_start_of_training_is_not_judged() -> None:
    assert losses([50.0, 10.0, 40.0, 9.0, 60.0, 60.0, 60.0]) == []


def test_a_falling_loss_is_nothing() -> None:
    assert losses([10 * math.exp(-number / 100) + 1 for number in range(600)]) == []


@given(st.lists(st.floats(), max_size=80))
def test_no_sequence_raises(values: list[float]) -> None:
    losses(values)
    run(values)


def test_a_straggler_explains_the_slow_job() -> None:
    slow = Finding(kind=FindingKind.SLOW, advice=Advice.NOTIFY, at_seconds=1)
    straggler = Finding(kind=FindingKind.STRAGGLER, advice=Advice.ACT, at_seconds=2, rank=4)

    assert leading_finding([slow, straggler]) == straggler
    assert leading_finding([]) is None
