"""What must be true for a wanted goodput."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.goodput.closed_form import Recovery, best_goodput
from core.goodput.simulator import TrainingPlan
from core.goodput.solver import Assumption, longest_checkpoint, longest_recovery, plan_goodput, spares_needed

HOUR = 3600.0
LLAMA3 = TrainingPlan(
    nodes=2048,
    failures_per_1000_node_days=3.79,
    checkpoint_seconds=2,
    recovery=Recovery(detection_seconds=60, restart_seconds=240),
)


@pytest.mark.parametrize(("w", "seconds"), [(1, 421), (5, 235), (20, None), (60, None)])
def test_95_percent_at_llama_3_scale_is_a_statement_about_w_and_d(w: float, seconds: float | None) -> None:
    longest = longest_recovery(0.95, 3.09 * HOUR, w)

    assert longest == (None if seconds is None else pytest.approx(seconds, abs=1))


@settings(max_examples=40, deadline=None)
@given(st.floats(min_value=3_000, max_value=200_000), st.floats(min_value=0.5, max_value=120))
def test_the_longest_recovery_is_enough_and_a_little_more_is_not(m: float, w: float) -> None:
    longest = longest_recovery(0.9, m, w)

    if longest is None:
        assert best_goodput(m, w, 0) < 0.9
    else:
        assert best_goodput(m, w, longest) >= 0.9 - 1e-9
        assert best_goodput(m, w, longest * 1.01 + 1) < 0.9


def test_the_longest_checkpoint_is_found_the_same_way() -> None:
    longest = longest_checkpoint(0.95, 3.09 * HOUR, 235)

    assert longest == pytest.approx(5, abs=0.05)


@pytest.mark.parametrize(
    ("nodes", "rate", "hours", "spares"),
    [
        (128, 6.5, 24, 4),
        (512, 6.5, 24, 8),
        (2048, 6.5, 24, 22),
        (2048, 3.79, 2, 3),
        (0, 6.5, 24, 0),
        (8, 0, 24, 0),
        (3, 1e6, 24, 3),
    ],
)
def test_spares_cover_the_nodes_in_repair_99_times_in_100(nodes: int, rate: float, hours: float, spares: int) -> None:
    assert spares_needed(nodes, rate, hours) == spares


def test_a_plan_says_what_carries_it() -> None:
    plan = plan_goodput(LLAMA3, target=0.95, repair_hours=24)

    assert plan.goodput == pytest.approx(0.955, abs=0.001)
    assert plan.sensitivities[0].assumption is Assumption.FAILURE_RATE
    assert [one.loss for one in plan.sensitivities] == sorted((one.loss for one in plan.sensitivities), reverse=True)
