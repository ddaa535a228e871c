"""One rank that computes longer than the others."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from core.health.detectors.findings import Advice, Finding
from core.health.detectors.straggler import StragglerWatch, scores, see_window


def follow(*windows: dict[int, float], suppressed: bool = False) -> tuple[Finding, ...]:
    watch = StragglerWatch()
    findings: tuple[Finding, ...] = ()
    for number, window in enumerate(windows):
        watch, findings = see_window(watch, window, at_seconds=number, is_suppressed=suppressed)
    return findings


def crowd(slow: float = 1.0, rank: int = 3) -> dict[int, float]:
    return {index: 1.0 + 0.001 * index for index in range(8)} | {rank: slow}


def test_a_rank_far_behind_in_two_windows_is_acted_on() -> None:
    (finding,) = follow(crowd(1.6), crowd(1.6))

    assert (finding.rank, finding.advice) == (3, Advice.ACT)


def test_one_window_is_not_enough() -> None:
    assert follow(crowd(1.6)) == ()


def test_two_windows_with_a_good_one_between_are_not_in_a_row() -> None:
    assert follow(crowd(1.6), crowd(), crowd(1.6)) == ()


def test_a_rank_somewhat_behind_for_three_windows_is_notified() -> None:
    (finding,) = follow(crowd(1.2), crowd(1.2), crowd(1.2))

    assert (finding.rank, finding.advice) == (3, Advice.NOTIFY)


def test_differences_within_noise_are_nothing() -> None:
    assert follow(crowd(1.05), crowd(1.05), crowd(1.05), crowd(1.05)) == ()


def test_start_up_checkpoint_and_compilation_are_suppressed() -> None:
    assert follow(crowd(3.0), crowd(3.0), crowd(3.0), suppressed=True) == ()


def test_with_three_ranks_there_is_no_crowd() -> None:
    window = {0: 1.0, 1: 1.0, 2: 9.0}

    assert follow(window, window, window) == ()


def test_ranks_without_a_time_have_no_score() -> None:
    assert scores({0: 1.0, 1: math.nan, 2: -1.0, 3: math.inf, 4: 0.0}) == {0: 1.0}


@given(st.lists(st.dictionaries(st.integers(0, 8), st.floats(), max_size=9), max_size=6))
def test_no_window_raises(windows: list[dict[int, float]]) -> None:
    follow(*windows)
