"""Goodput in closed form.

Symbols as in the literature: M mean time between failures of the job, w blocking time of one checkpoint, tau work
between checkpoints, D time lost per failure before work goes on (detection + restart + chance of waiting times the
wait). All times in seconds. Sources: Young 1974, Daly 2006, and for the linear form arXiv 2410.21680.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SECONDS_PER_DAY = 86_400.0
PER_THOUSAND = 1_000.0
_MAX_EXPONENT = 700.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What one failure costs before work goes on, besides the work since the last checkpoint."""

    detection_seconds: float
    restart_seconds: float
    wait_chance: float = 0.0
    """Chance that no spare is free."""
    wait_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        """D, on average."""
        return self.detection_seconds + self.restart_seconds + self.wait_chance * self.wait_seconds


def mean_time_between_failures(nodes: int, failures_per_1000_node_days: float) -> float:
    """M in seconds. Infinite without nodes or failures."""
    per_day = nodes * failures_per_1000_node_days / PER_THOUSAND
    return SECONDS_PER_DAY / per_day if per_day > 0 else math.inf


def young_interval(m: float, w: float) -> float:
    """First-order optimum of tau."""
    return math.sqrt(2 * w * m)


def daly_interval(m: float, w: float) -> float:
    """Daly's higher-order optimum of tau; M itself where checkpoints cost more than failures come apart."""
    if w <= 0:
        return 0.0
    if w >= 2 * m or math.isinf(m):
        return m
    ratio = w / (2 * m)
    return young_interval(m, w) * (1 + math.sqrt(ratio) / 3 + ratio / 9) - w


def exact_goodput(m: float, w: float, d: float, tau: float) -> float:
    """Share of wall time that is kept work, with exponential failures that may hit checkpoints and recoveries too."""
    if tau <= 0:
        return 0.0
    if math.isinf(m):
        return tau / (tau + w)
    if d / m > _MAX_EXPONENT or (tau + w) / m > _MAX_EXPONENT:
        return 0.0
    return tau / (m * math.exp(d / m) * math.expm1((tau + w) / m))


def first_order_goodput(m: float, w: float, d: float, tau: float) -> float:
    """Good while failures are rare against tau and D."""
    return 1 / (1 + w / tau) / (1 + (d + (tau + w) / 2) / m)


def linear_goodput(m: float, w: float, d: float, tau: float) -> float:
    """Meta's form of the expected effective training time ratio; only where D + tau/2 is much smaller than M."""
    return (1 - (d + tau / 2) / m) / (1 + w / tau)


def in_process_goodput(m: float, d: float) -> float:
    """Recovery inside the process without a rollback: nothing but D is lost."""
    return 1 / (1 + d / m)


def best_interval(m: float, w: float, d: float) -> float:
    """The tau that maximises `exact_goodput`, by golden-section search. Does not depend on D; kept for clarity."""
    low, high = 1e-3, max(1.0, 4 * daly_interval(m, w))
    shrink = (math.sqrt(5) - 1) / 2
    left, right = high - shrink * (high - low), low + shrink * (high - low)
    for _ in range(200):
        if exact_goodput(m, w, d, left) < exact_goodput(m, w, d, right):
            low, left = left, right
            right = low + shrink * (high - low)
        else:
            high, right = right, left
            left = high - shrink * (high - low)
    return (low + high) / 2


def best_goodput(m: float, w: float, d: float) -> float:
    """`exact_goodput` at its best interval; without checkpoint cost the limit of ever shorter intervals."""
    if w <= 0:
        return 0.0 if d / m > _MAX_EXPONENT else math.exp(-d / m)
    return exact_goodput(m, w, d, best_interval(m, w, d))
