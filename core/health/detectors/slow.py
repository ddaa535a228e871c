"""Slow: the whole job has lost speed against its own best, or against what was predicted.

Compared are trimmed means of many steps, so that one long step (a checkpoint, the garbage collector) is not a
slow-down; the daily swing of one to two per cent (Llama 3) stays below the warning. Sources: EROICA (50 steps, 5 %),
ResiHP (25 % over prediction).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from core.health.detectors.findings import Advice, Finding, FindingKind
from core.health.detectors.robust import trimmed_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowLimits:
    window_steps: int = 50
    warn_ratio: float = 1.05
    act_ratio: float = 1.25
    warn_windows: int = 2
    """A warning has to last; the action's ratio is large enough at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowWatch:
    limits: SlowLimits = field(default_factory=SlowLimits)
    predicted_seconds: float | None = None
    """Of a step, where it is known; else the job's own best window is the measure."""
    best_seconds: float = math.inf
    window: tuple[float, ...] = ()
    slow_windows: int = 0


def see_step_time(
    watch: SlowWatch, seconds: float, *, at_seconds: float, is_suppressed: bool = False
) -> tuple[SlowWatch, Finding | None]:
    """One step. Suppressed steps, and times that are no times, change nothing."""
    if is_suppressed or not math.isfinite(seconds) or seconds <= 0:
        return watch, None
    window = (*watch.window, seconds)
    if len(window) < watch.limits.window_steps:
        return replace(watch, window=window), None
    mean = trimmed_mean(window)
    best = min(watch.best_seconds, mean)
    ratio = mean / (watch.predicted_seconds or best)
    slow_windows = watch.slow_windows + 1 if ratio > watch.limits.warn_ratio else 0
    judged = replace(watch, window=(), best_seconds=best, slow_windows=slow_windows)
    if ratio > watch.limits.act_ratio:
        advice = Advice.ACT
    elif slow_windows >= watch.limits.warn_windows:
        advice = Advice.NOTIFY
    else:
        return judged, None
    return judged, Finding(kind=FindingKind.SLOW, advice=advice, at_seconds=at_seconds, figure=ratio)
