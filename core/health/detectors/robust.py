"""Statistics that a few wild values cannot bend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

MAD_TO_SIGMA = 1.4826
"""Median absolute deviation to standard deviation, for normal data."""


def median(values: Sequence[float]) -> float:
    """NaN for no values."""
    if not values:
        return math.nan
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def spread(values: Sequence[float]) -> float:
    """Robust standard deviation: scaled median absolute deviation."""
    centre = median(values)
    return MAD_TO_SIGMA * median([abs(value - centre) for value in values])


def robust_z(value: float, others: Sequence[float], *, floor: float = 0.0) -> float:
    """How many robust standard deviations `value` lies above the others. `floor`: least spread believed in."""
    deviation = max(spread(others), floor)
    distance = value - median(others)
    if deviation > 0:
        return distance / deviation
    return math.copysign(math.inf, distance) if distance else 0.0


def trimmed_mean(values: Sequence[float], share: float = 0.1) -> float:
    """The mean without the largest and the smallest `share` of values; NaN for no values."""
    ordered = sorted(values)
    cut = int(len(ordered) * share)
    kept = ordered[cut : len(ordered) - cut] or ordered
    return math.fsum(kept) / len(kept) if kept else math.nan


def finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]
