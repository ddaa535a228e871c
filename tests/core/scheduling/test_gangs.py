"""A gang that does not come up in time gives its quota back, waits longer each time, and leaks nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.messages.message import Language
from core.scheduling.gangs import GangPhase, GangVerdict, PodsReadyPolicy, PodsReadyWatch, requeued
from core.scheduling.policies import RequeueTimestamp
from core.scheduling.scheduler import Scheduler
from tests.builders.scheduling import pending, queue, world


@pytest.mark.parametrize(
    ("requeues", "wait_s"),
    [(1, 60.0), (2, 120.0), (3, 240.0), (6, 1920.0), (7, 3600.0), (50, 3600.0)],
)
def test_the_backoff_doubles_up_to_an_hour(requeues: int, wait_s: float) -> None:
    assert PodsReadyPolicy().backoff_s(requeues) == wait_s


def test_a_gang_that_starts_in_time_is_left_alone() -> None:
    watch = PodsReadyWatch(PodsReadyPolicy())
    watch.admitted("w", 0.0)

    watch.ready("w")

    assert watch.expired(10_000.0) == []


def test_a_gang_that_does_not_start_is_requeued_after_five_minutes() -> None:
    watch = PodsReadyWatch(PodsReadyPolicy())
    watch.admitted("w", 0.0)

    assert watch.expired(299.0) == []
    (timeout,) = watch.expired(300.0)

    assert (timeout.verdict, timeout.phase, timeout.not_before_s) == (GangVerdict.REQUEUE, GangPhase.STARTING, 360.0)
    assert all("w" in timeout.message().render(language) for language in Language)


def test_each_further_failure_waits_longer_until_it_is_given_up() -> None:
    watch = PodsReadyWatch(PodsReadyPolicy(timeout_s=1.0, limit=2))
    verdicts = []
    for start_s in (0.0, 100.0, 300.0):
        watch.admitted("w", start_s)
        verdicts += [(t.verdict, t.not_before_s - start_s - 1.0) for t in watch.expired(start_s + 1.0)]

    assert verdicts == [
        (GangVerdict.REQUEUE, 60.0),
        (GangVerdict.REQUEUE, 120.0),
        (GangVerdict.GIVE_UP, 240.0),
    ]


def test_a_node_failure_while_starting_does_not_extend_the_deadline() -> None:
    watch = PodsReadyWatch(PodsReadyPolicy())
    watch.admitted("w", 0.0)

    watch.lost("w", 250.0)

    assert watch.next_deadline_s() == 300.0


@pytest.mark.parametrize(
    ("recovery_s", "deadline_s"),
    [
        pytest.param(100.0, 1100.0, id="its own recovery time"),
        pytest.param(None, 1300.0, id="unset: the first timeout"),
        pytest.param(0.0, None, id="zero: it may wait without end"),
    ],
)
def test_a_gang_that_lost_a_pod_has_its_recovery_time(recovery_s: float | None, deadline_s: float | None) -> None:
    watch = PodsReadyWatch(PodsReadyPolicy(recovery_timeout_s=recovery_s))
    watch.admitted("w", 0.0)
    watch.ready("w")

    watch.lost("w", 1000.0)

    assert watch.next_deadline_s() == deadline_s


def test_running_once_clears_earlier_failures() -> None:
    watch = PodsReadyWatch(PodsReadyPolicy(timeout_s=1.0))
    watch.admitted("w", 0.0)
    watch.expired(1.0)
    watch.admitted("w", 100.0)
    watch.ready("w")
    watch.forget("w")
    watch.admitted("w", 200.0)

    assert [t.requeues for t in watch.expired(201.0)] == [1]


def test_blocking_admission_holds_everybody_until_the_gang_is_ready() -> None:
    watch = PodsReadyWatch(PodsReadyPolicy(blocks_admission=True))
    watch.admitted("w", 0.0)
    assert not watch.allows_admission

    watch.ready("w")

    assert watch.allows_admission


@pytest.mark.parametrize(
    ("timestamp", "place_s"),
    [
        pytest.param(RequeueTimestamp.EVICTION, 300.0, id="goes to the back"),
        pytest.param(RequeueTimestamp.CREATION, 5.0, id="keeps its place"),
    ],
)
def test_where_it_queues_again_is_a_setting(timestamp: RequeueTimestamp, place_s: float) -> None:
    policy = PodsReadyPolicy(timestamp=timestamp)
    watch = PodsReadyWatch(policy)
    watch.admitted("w", 0.0)
    (timeout,) = watch.expired(300.0)

    again = requeued(pending("w", "q", at_s=5.0), timeout, policy, 300.0)

    assert (again.queued_at_s, again.not_before_s) == (place_s, 360.0)


@given(st.lists(st.sampled_from(("ready", "lost", "expire", "finish")), max_size=12))
def test_quota_is_conserved_through_every_failure(events: list[str]) -> None:
    """kubernetes-sigs/kueue issue 14811: eviction during recovery leaked quota there."""
    policy = PodsReadyPolicy()
    workload = pending("w", "q", 4)
    scheduler, watch, now_s = Scheduler(world([queue("q", 4)], pending=[workload])), PodsReadyWatch(policy), 0.0
    for event in (*events, "finish"):
        for admitted in scheduler.cycle(now_s).admitted:
            watch.admitted(admitted.uid, now_s)
        if event == "ready":
            watch.ready("w")
        elif event == "lost":
            watch.lost("w", now_s)
        elif event == "expire":
            now_s += 10_000.0
            for timeout in watch.expired(now_s):
                scheduler.requeue(requeued(workload, timeout, policy, now_s))
        elif scheduler.finish("w"):
            watch.forget("w")
        holds = 4 if list(scheduler.holders()) else 0
        assert scheduler.snapshot.queue("q").usage == [holds]
