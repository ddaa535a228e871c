"""The simulator and the closed forms."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.goodput.closed_form import Recovery
from core.goodput.llama3 import INTERRUPTIONS
from core.goodput.simulator import TrainingPlan, draw_faults, simulate
from core.goodput.solver import predicted

PLAN = TrainingPlan(
    nodes=2048,
    failures_per_1000_node_days=3.79,
    checkpoint_seconds=20,
    recovery=Recovery(detection_seconds=300, restart_seconds=300),
)


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        replace(PLAN, interval_seconds=3600.0),
        replace(PLAN, hang_share=0.1, hang_detection_seconds=1800),
        replace(PLAN, recovery=Recovery(detection_seconds=60, restart_seconds=240, wait_chance=0.1, wait_seconds=7200)),
        replace(PLAN, loses_work=False, checkpoint_seconds=0),
    ],
    ids=["optimum", "hourly saves", "hangs", "waits", "in process"],
)
def test_simulator_and_closed_form_agree_within_half_a_point(plan: TrainingPlan) -> None:
    simulated = simulate(plan, failures=20_000, random=Random(3)).goodput

    assert simulated == pytest.approx(predicted(plan), abs=0.005)


def test_the_same_seed_gives_the_same_run() -> None:
    assert simulate(PLAN, failures=100, random=Random(1)) == simulate(PLAN, failures=100, random=Random(1))


plans = st.builds(
    TrainingPlan,
    nodes=st.integers(min_value=1, max_value=5000),
    failures_per_1000_node_days=st.floats(min_value=0.5, max_value=50),
    checkpoint_seconds=st.floats(min_value=0, max_value=300),
    recovery=st.builds(
        Recovery,
        detection_seconds=st.floats(min_value=0, max_value=2000),
        restart_seconds=st.floats(min_value=0, max_value=2000),
        wait_chance=st.floats(min_value=0, max_value=1),
        wait_seconds=st.floats(min_value=0, max_value=20_000),
    ),
    interval_seconds=st.floats(min_value=10, max_value=20_000),
    hang_share=st.floats(min_value=0, max_value=1),
    hang_detection_seconds=st.floats(min_value=0, max_value=4000),
    loses_work=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(plans, st.integers(min_value=0, max_value=999))
def test_no_plan_books_negative_time_or_more_than_all_of_it(plan: TrainingPlan, seed: int) -> None:
    run = simulate(plan, failures=40, random=Random(seed))

    parts = (run.productive, run.checkpoint, run.lost_work, run.detection, run.restart, run.waiting)
    assert min(parts) >= -1e-6
    assert 0 <= run.goodput <= 1


def test_faults_are_drawn_in_proportion_to_the_mix() -> None:
    drawn = draw_faults(INTERRUPTIONS, count=41_900, random=Random(5))

    assert drawn["gpu"] == pytest.approx(14_800, rel=0.03)
    assert drawn.total() == 41_900
