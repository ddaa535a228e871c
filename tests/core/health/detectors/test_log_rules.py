"""Rules that people declare about a job's own output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.detectors.log_rules import Comparison, LogRule, LogRuleState, LogRuleWatch, see_line, see_time
from core.reasons import InputRefused

STEPS = LogRule(
    name="steps",
    log_pattern=r"TFLOPS: (\d+\.?\d*)",
    stop_pattern="training finished",
    expected_start_cut_off_seconds=240,
    expected_recurring_frequency_seconds=300,
    metric_threshold=400,
    operator=Comparison.LT,
    metric_evaluation_data_points=2,
)


def watching(rule: LogRule = STEPS) -> LogRuleWatch:
    return LogRuleWatch(rule=rule, started_at=0)


def test_a_job_that_never_prints_its_first_line_hangs_after_the_cut_off() -> None:
    assert see_time(watching(), 240).state is LogRuleState.WAITING
    assert see_time(watching(), 241).state is LogRuleState.HANGING


def test_a_job_that_stops_printing_hangs_after_the_frequency() -> None:
    running = see_line(watching(), "TFLOPS: 500", 100)

    assert see_time(running, 400).state is LogRuleState.RUNNING
    assert see_time(running, 401).state is LogRuleState.HANGING


def test_a_line_brings_a_hanging_job_back() -> None:
    hanging = see_time(see_line(watching(), "TFLOPS: 500", 100), 900)

    assert see_line(hanging, "TFLOPS: 500", 901).state is LogRuleState.RUNNING


def test_bad_values_in_a_row_make_the_job_slow() -> None:
    once = see_line(watching(), "TFLOPS: 300", 1)

    assert once.state is LogRuleState.RUNNING
    assert see_line(once, "TFLOPS: 300", 2).state is LogRuleState.SLOW
    assert see_line(see_line(once, "TFLOPS: 500", 2), "TFLOPS: 300", 3).state is LogRuleState.RUNNING


def test_after_the_stop_pattern_silence_is_no_hang() -> None:
    stopped = see_line(watching(), "training finished", 10)

    assert see_time(stopped, 99_999).state is LogRuleState.STOPPED


def test_a_match_can_be_a_fault_by_itself() -> None:
    rule = LogRule(name="fault", log_pattern="loss is nan", fault_on_match=True)

    assert see_line(watching(rule), "step 7: loss is nan", 1).state is LogRuleState.FAULT


def test_a_disabled_rule_sees_nothing() -> None:
    rule = LogRule(name="off", log_pattern="x", enabled=False, expected_start_cut_off_seconds=1)

    assert see_time(see_line(watching(rule), "x", 1), 99).state is LogRuleState.WAITING


def test_a_clock_that_goes_back_does_not_make_a_hang() -> None:
    running = see_line(see_line(watching(), "TFLOPS: 500", 1000), "TFLOPS: 500", 10)

    assert see_time(running, 1200).state is LogRuleState.RUNNING


@pytest.mark.parametrize(
    "changes",
    [
        {"log_pattern": "x" * 257},
        {"log_pattern": "("},
        {"log_pattern": "(?=x)"},
        {"log_pattern": "(?<!x)y"},
        {"log_pattern": r"(a)\1"},
        {"log_pattern": "(a+)+b"},
        {"stop_pattern": "(x*)*"},
        {"log_pattern": "x", "expected_start_cut_off_seconds": -1.0},
        {"log_pattern": "x", "metric_evaluation_data_points": 0},
        {"log_pattern": "x", "metric_threshold": 3.0},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_a_rule_that_cannot_work_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InputRefused):
        LogRule(**({"name": "r", "log_pattern": "x"} | changes))  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.text(max_size=40), st.floats(allow_nan=False)), max_size=12))
def test_no_output_raises(lines: list[tuple[str, float]]) -> None:
    watch = watching()
    for line, at in lines:
        watch = see_time(see_line(watch, line, at), at)
