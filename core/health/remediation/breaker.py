"""The breaker and the storm clock: how their state follows from what is seen. Both only ever get stricter alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from core.health.remediation.fleet import BreakerState, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class StormWatch:
    """Kept between observations."""

    breaker: BreakerState = BreakerState.CLOSED
    in_storm: bool = False
    ended_at: datetime | None = None


def observe(watch: StormWatch, *, healthy: int, total: int, taken: int, now: datetime, limits: Limits) -> StormWatch:
    """`taken`: nodes that repairs took within the breaker's window. Counts below zero are read as zero."""
    healthy, taken = max(0, healthy), max(0, taken)
    breaker = watch.breaker
    if total > 1 and taken > limits.breaker_share * total:
        breaker = BreakerState.TRIPPED
    in_storm = total > 1 and healthy / total < limits.minimum_healthy_share
    ended_at = now if watch.in_storm and not in_storm else watch.ended_at
    return StormWatch(breaker=breaker, in_storm=in_storm, ended_at=None if in_storm else ended_at)


def reset(watch: StormWatch) -> StormWatch:
    """By a person, after the cause was found."""
    return StormWatch(breaker=BreakerState.CLOSED, in_storm=watch.in_storm, ended_at=watch.ended_at)
