"""A world that cannot be decided on is refused with the name of the field, and nothing is changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.messages.message import Language
from core.scheduling.errors import WorldField, WorldInvalid
from core.scheduling.policies import (
    BorrowWithinCohort,
    FairSharingStrategy,
    Fungibility,
    FungibilityPreference,
    SchedulerConfig,
)
from core.scheduling.quantities import UNLIMITED
from core.scheduling.scheduler import Scheduler
from core.scheduling.validation import check_policy
from core.scheduling.world import PendingWorkload, Quota, World
from tests.builders.scheduling import LOWER, admitted, cohort, pending, queue, world

PREFERS = Fungibility(preference=FungibilityPreference.PREEMPTION_OVER_BORROWING)
BORROWS = BorrowWithinCohort(policy=LOWER)
ONE = pending("w", "q")


def with_podset(*, count: int = 1, min_count: int | None = None, reclaimable: int = 0) -> PendingWorkload:
    podset = replace(ONE.podsets[0], count=count, min_count=min_count, reclaimable=reclaimable)
    return replace(ONE, podsets=(podset,))


@pytest.mark.parametrize(
    ("problem", "start"),
    [
        pytest.param(
            WorldField.COHORT_CYCLE,
            world([], cohorts=[cohort("a", parent="b"), cohort("b", parent="a")]),
            id="cohorts in a circle",
        ),
        pytest.param(WorldField.NAME_TWICE, world([queue("q"), queue("q")]), id="a queue twice"),
        pytest.param(
            WorldField.NAME_TWICE,
            world([queue("q", 2)], admitted=[admitted("w", "q")], pending=[ONE]),
            id="a uid twice",
        ),
        pytest.param(WorldField.QUOTA_NEGATIVE, world([queue("q", -1)]), id="negative quota"),
        pytest.param(
            WorldField.QUOTA_NEGATIVE, world([queue("q", Quota(nominal=1, borrowing_limit=-1))]), id="negative limit"
        ),
        pytest.param(WorldField.QUOTA_TOO_LARGE, world([queue("q", UNLIMITED + 1)]), id="quota beyond 64 bits"),
        pytest.param(WorldField.WEIGHT_NEGATIVE, world([queue("q", weight=-1.0)]), id="negative weight"),
        pytest.param(WorldField.WEIGHT_NEGATIVE, world([queue("q", weight=float("nan"))]), id="weight is no number"),
        pytest.param(
            WorldField.STRATEGIES_INVALID,
            world(
                [],
                config=SchedulerConfig(fair_strategies=(FairSharingStrategy.LESS_THAN_INITIAL_SHARE,) * 2),
            ),
            id="a strategy twice",
        ),
        pytest.param(WorldField.QUEUE_UNKNOWN, world([], pending=[ONE]), id="workload of an unknown queue"),
        pytest.param(
            WorldField.PODSETS_MISSING, world([queue("q")], pending=[replace(ONE, podsets=())]), id="no podsets"
        ),
        pytest.param(WorldField.COUNT_NEGATIVE, world([queue("q")], pending=[with_podset(count=-1)]), id="count"),
        pytest.param(
            WorldField.COUNTS_CROSSED, world([queue("q")], pending=[with_podset(min_count=2)]), id="min above count"
        ),
        pytest.param(
            WorldField.COUNTS_CROSSED,
            world([queue("q")], pending=[with_podset(reclaimable=2)]),
            id="more done than asked",
        ),
        pytest.param(WorldField.REQUEST_NEGATIVE, world([queue("q")], pending=[pending("w", "q", -1)]), id="request"),
        pytest.param(
            WorldField.TIME_NOT_FINITE, world([queue("q")], pending=[pending("w", "q", at_s=float("nan"))]), id="time"
        ),
    ],
)
def test_a_broken_world_is_refused_by_field(problem: WorldField, start: World) -> None:
    with pytest.raises(WorldInvalid) as refused:
        Scheduler(start)

    assert refused.value.problem is problem
    assert all(refused.value.message.render(language) for language in Language)


@pytest.mark.parametrize(
    ("problem", "start"),
    [
        pytest.param(WorldField.PREFERENCE_NEEDS_TRY_NEXT, world([queue("q", fungibility=PREFERS)]), id="preference"),
        pytest.param(WorldField.BORROW_NEEDS_RECLAIM, world([queue("q", borrow=BORROWS)]), id="borrow without reclaim"),
        pytest.param(WorldField.FLAVOR_UNKNOWN, replace(world([queue("q")]), flavors=()), id="unknown flavor"),
    ],
)
def test_a_policy_that_kueue_would_refuse_is_refused_before_it_is_applied(problem: WorldField, start: World) -> None:
    Scheduler(start)  # live it is taken as it is

    with pytest.raises(WorldInvalid) as refused:
        check_policy(start)

    assert refused.value.problem is problem


def test_a_refused_submission_changes_nothing() -> None:
    scheduler = Scheduler(world([queue("q", 1)], pending=[ONE]))

    with pytest.raises(WorldInvalid):
        scheduler.submit(ONE)

    assert scheduler.world().pending == (ONE,)


def test_a_gang_larger_than_the_cluster_is_told_so() -> None:
    result = Scheduler(world([queue("q", 4)], pending=[pending("w", "q", count=5)])).cycle()

    refusal = result.decisions[0].refusal
    assert refusal is not None
    assert [text.english() for text in refusal.details()] == [
        "gpu on flavor h100: 5 asked, 4 at most, borrowing included."
    ]


def test_no_queues_and_no_nodes_decide_nothing() -> None:
    assert Scheduler(World()).cycle().decisions == ()


def test_unlimited_quota_stays_unlimited_however_much_is_used() -> None:
    huge = pending("w", "q", UNLIMITED)
    scheduler = Scheduler(world([queue("q", UNLIMITED, cohort="c")], pending=[huge, pending("v", "q", at_s=1.0)]))

    assert [w.uid for _ in range(2) for w in scheduler.cycle().admitted] == ["w", "v"]
