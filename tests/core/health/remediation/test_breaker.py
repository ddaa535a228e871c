"""The breaker trips for good, the storm ends with a delay."""

from __future__ import annotations

from datetime import timedelta

from core.health.remediation.breaker import StormWatch, observe, reset
from core.health.remediation.fleet import BreakerState, Limits
from tests.builders.health import NOW


def seen(watch: StormWatch, *, healthy: int, taken: int = 0, minutes: int = 0) -> StormWatch:
    now = NOW + timedelta(minutes=minutes)
    return observe(watch, healthy=healthy, total=10, taken=taken, now=now, limits=Limits())


def test_more_than_half_of_the_nodes_taken_trips_the_breaker() -> None:
    assert seen(StormWatch(), healthy=10, taken=6).breaker is BreakerState.TRIPPED


def test_a_tripped_breaker_stays_so_until_a_person_resets_it() -> None:
    tripped = seen(StormWatch(), healthy=10, taken=6)

    assert seen(tripped, healthy=10, taken=0).breaker is BreakerState.TRIPPED
    assert reset(tripped).breaker is BreakerState.CLOSED


def test_the_end_of_a_storm_is_remembered_for_the_delay() -> None:
    storm = seen(StormWatch(), healthy=5)
    calm = seen(storm, healthy=9, minutes=3)

    assert (storm.in_storm, storm.ended_at) == (True, None)
    assert (calm.in_storm, calm.ended_at) == (False, NOW + timedelta(minutes=3))


def test_a_cluster_without_nodes_is_no_storm() -> None:
    watch = observe(StormWatch(), healthy=0, total=0, taken=-1, now=NOW, limits=Limits())

    assert watch == StormWatch()
