"""A hang is no step for too long while steps are due, with a witness or after a longer time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.detectors.findings import Advice, FindingKind
from core.health.detectors.hang import HangWatch, JobPhase, Witness, enter_phase, judge_hang, see_step

LAGGING = Witness(lagging_rank=7)
SPINNING = Witness(gpu_util_percent=100, power_share=0.2)
SILENT = Witness(network_silent_seconds=600)
BUSY = Witness(gpu_util_percent=100, power_share=0.9, network_silent_seconds=0)


def training(step_seconds: float = 5, steps: int = 20) -> HangWatch:
    watch = HangWatch(started_at=0)
    for number in range(1, steps + 1):
        watch = see_step(watch, number * step_seconds)
    return watch


LAST = 100.0  # of `training()`


@pytest.mark.parametrize(
    ("witness", "too_early", "late_enough"),
    [(LAGGING, 45, 46), (SPINNING, 300, 301), (SILENT, 300, 301), (BUSY, 540, 541), (None, 540, 541)],
    ids=["flight recorder", "spinning", "silent network", "busy", "nothing known"],
)
def test_the_better_the_witness_the_earlier_the_verdict(
    witness: Witness | None, too_early: float, late_enough: float
) -> None:
    assert judge_hang(training(), LAST + too_early, witness) is None
    finding = judge_hang(training(), LAST + late_enough, witness)
    assert finding is not None
    assert (finding.kind, finding.advice) == (FindingKind.HANG, Advice.ACT)


def test_the_lagging_rank_is_the_suspect() -> None:
    finding = judge_hang(training(), LAST + 60, LAGGING)

    assert finding is not None
    assert finding.rank == 7


def test_a_job_with_long_steps_is_given_five_of_them() -> None:
    watch = training(step_seconds=200, steps=20)

    assert judge_hang(watch, 4000 + 999, SPINNING) is None
    assert judge_hang(watch, 4000 + 1001, SPINNING) is not None


@pytest.mark.parametrize("phase", [JobPhase.CHECKPOINT, JobPhase.COMPILATION, JobPhase.EVALUATION, JobPhase.ENDED])
def test_outside_training_nothing_is_a_hang(phase: JobPhase) -> None:
    watch = enter_phase(training(), phase, LAST)

    assert judge_hang(watch, LAST + 9_999, SPINNING) is None


def test_after_a_checkpoint_the_clock_starts_anew() -> None:
    watch = enter_phase(enter_phase(training(), JobPhase.CHECKPOINT, LAST), JobPhase.TRAINING, LAST + 2_000)

    assert judge_hang(watch, LAST + 2_100, SPINNING) is None
    assert judge_hang(watch, LAST + 2_400, SPINNING) is not None


def test_tokenising_for_half_an_hour_is_a_start_and_only_notified_when_later() -> None:
    watch = HangWatch(started_at=0)

    assert judge_hang(watch, 1_800, SPINNING) is None
    finding = judge_hang(watch, 1_801, SPINNING)
    assert finding is not None
    assert (finding.kind, finding.advice) == (FindingKind.LATE_START, Advice.NOTIFY)


@given(st.lists(st.floats(min_value=-1e6, max_value=1e6), max_size=30), st.floats(min_value=-1e6, max_value=1e6))
def test_steps_in_any_order_never_raise_nor_move_the_clock_back(times: list[float], now: float) -> None:
    watch = HangWatch(started_at=0)
    for at in times:
        watch = see_step(watch, at)
        assert watch.step_at is not None
    judge_hang(watch, now)

    assert watch.step_at == (max(times) if times else None) or times
    assert all(duration > 0 for duration in watch.durations)
