"""Straggler: one rank whose own work takes longer than that of the others, window after window.

In synchronous training every rank's step takes as long as the slowest one's, so the step time names nobody: what
counts is the time that a rank computes, without waiting in collectives. Sources: NVRx (score below 0.7), EROICA.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from core.health.detectors.findings import Advice, Finding, FindingKind
from core.health.detectors.robust import finite, median, robust_z

MINIMUM_RANKS = 4
"""With fewer there is no crowd to differ from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StragglerLimits:
    act_score: float = 0.7
    """Median of all ranks over the rank's own compute time."""
    act_windows: int = 2
    warn_ratio: float = 1.10
    warn_deviations: float = 6.0
    warn_windows: int = 3
    spread_floor_share: float = 0.01
    """Differences under one per cent of the median are noise, however even the ranks are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StragglerWatch:
    """For how many windows in a row each rank has been slow."""

    limits: StragglerLimits = field(default_factory=StragglerLimits)
    far_behind: Mapping[int, int] = field(default_factory=dict)
    behind: Mapping[int, int] = field(default_factory=dict)


def scores(compute_seconds: Mapping[int, float]) -> dict[int, float]:
    """1 = as fast as the median, below 1 slower. Ranks without a finite positive time have no score."""
    usable = {rank: value for rank, value in compute_seconds.items() if value > 0 and value in finite([value])}
    centre = median(list(usable.values()))
    return {rank: centre / value for rank, value in usable.items()}


def see_window(
    watch: StragglerWatch, compute_seconds: Mapping[int, float], *, at_seconds: float, is_suppressed: bool = False
) -> tuple[StragglerWatch, tuple[Finding, ...]]:
    """One window of steps: each rank's typical compute time. Suppressed windows (start-up, checkpoint, compilation)
    change nothing."""
    rated = scores(compute_seconds)
    if is_suppressed or len(rated) < MINIMUM_RANKS:
        return watch, ()
    limits = watch.limits
    times = [compute_seconds[rank] for rank in rated]
    floor = limits.spread_floor_share * median(times)
    far = {rank: watch.far_behind.get(rank, 0) + 1 for rank, score in rated.items() if score < limits.act_score}
    behind = {
        rank: watch.behind.get(rank, 0) + 1
        for rank, score in rated.items()
        if score < 1 / limits.warn_ratio
        and robust_z(compute_seconds[rank], times, floor=floor) > limits.warn_deviations
    }
    findings = [
        _finding(rank, Advice.ACT, rated[rank], at_seconds)
        for rank, count in far.items()
        if count >= limits.act_windows
    ]
    found = {finding.rank for finding in findings}
    findings += [
        _finding(rank, Advice.NOTIFY, rated[rank], at_seconds)
        for rank, count in behind.items()
        if count >= limits.warn_windows and rank not in found
    ]
    return replace(watch, far_behind=far, behind=behind), tuple(findings)


def _finding(rank: int, advice: Advice, score: float, at_seconds: float) -> Finding:
    return Finding(kind=FindingKind.STRAGGLER, advice=advice, at_seconds=at_seconds, rank=rank, figure=score)
