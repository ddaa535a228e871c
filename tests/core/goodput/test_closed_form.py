"""Goodput in closed form."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.goodput.closed_form import (
    best_goodput,
    best_interval,
    daly_interval,
    exact_goodput,
    first_order_goodput,
    in_process_goodput,
    linear_goodput,
    mean_time_between_failures,
)

HOUR = 3600.0


def test_the_time_between_failures_is_that_of_all_nodes_together() -> None:
    assert mean_time_between_failures(2048, 3.79) / HOUR == pytest.approx(3.09, rel=0.01)


@pytest.mark.parametrize("nodes", [0, -4])
def test_without_nodes_nothing_fails(nodes: int) -> None:
    assert math.isinf(mean_time_between_failures(nodes, 6.5))


@pytest.mark.parametrize(
    ("m_hours", "w", "d", "exact", "first_order", "linear"),
    [
        (3.09, 20, 600, 0.8918, 0.8949, 0.8895),
        (1.80, 300, 300, 0.6929, 0.7091, 0.6986),
        (7.40, 20, 1200, 0.9194, 0.9213, 0.9178),
    ],
)
def test_the_three_forms_give_the_reference_figures(
    m_hours: float, w: float, d: float, exact: float, first_order: float, linear: float
) -> None:
    m = m_hours * HOUR
    tau = daly_interval(m, w)

    assert exact_goodput(m, w, d, tau) == pytest.approx(exact, abs=5e-5)
    assert first_order_goodput(m, w, d, tau) == pytest.approx(first_order, abs=5e-5)
    assert linear_goodput(m, w, d, tau) == pytest.approx(linear, abs=5e-5)


positive = st.floats(min_value=1, max_value=1e6)


@given(positive, st.floats(min_value=0.1, max_value=1e3), st.floats(min_value=0, max_value=1e5), positive)
def test_goodput_is_a_share_and_more_recovery_never_helps(m: float, w: float, d: float, tau: float) -> None:
    goodput = exact_goodput(m, w, d, tau)

    assert 0 <= goodput <= 1
    assert exact_goodput(m, w, d + 1, tau) <= goodput


@given(st.floats(min_value=1e3, max_value=1e6), st.floats(min_value=0.5, max_value=100))
def test_no_interval_beats_the_one_that_was_searched_for(m: float, w: float) -> None:
    best = best_goodput(m, w, 60)

    for factor in (0.5, 0.9, 1.1, 2.0):
        assert exact_goodput(m, w, 60, best_interval(m, w, 60) * factor) <= best + 1e-12


def test_without_failures_only_checkpoints_cost() -> None:
    assert exact_goodput(math.inf, 10, 600, 90) == pytest.approx(0.9)


def test_recovery_inside_the_process_loses_only_its_own_time() -> None:
    assert in_process_goodput(1000, 250) == pytest.approx(0.8)


def test_an_impossible_plan_has_no_goodput_rather_than_an_overflow() -> None:
    assert exact_goodput(1, 1, 1e6, 1) == 0.0
    assert exact_goodput(1, 1, 1, -5) == 0.0
