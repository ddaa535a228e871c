"""Whom to take: rules of Kueue v0.20 that few or no recorded cases show, each in a world worked out by hand."""

from __future__ import annotations

import pytest

from core.scheduling.policies import (
    BorrowWithinCohort,
    FairSharingStrategy,
    QueueingStrategy,
    SchedulerConfig,
)
from core.scheduling.scheduler import Scheduler
from tests.builders.scheduling import ANY, LOWER, NEWER, admitted, cohort, pending, queue, world

STRICT = QueueingStrategy.STRICT_FIFO
FAIR = SchedulerConfig(fair_sharing=True)


def evicted(scheduler: Scheduler) -> list[str]:
    return sorted(eviction.uid for eviction in scheduler.cycle().evictions)


def running(scheduler: Scheduler) -> list[str]:
    return sorted(workload.uid for workload in scheduler.holders())


class TestWhoMayBeTaken:
    def test_an_equal_priority_is_taken_only_when_it_queued_later(self) -> None:
        start = world(
            [queue("q", 2, within=NEWER)],
            admitted=[admitted("older", "q", queued_s=1.0), admitted("newer", "q", queued_s=3.0)],
            pending=[pending("w", "q", at_s=2.0)],
        )

        assert evicted(Scheduler(start)) == ["newer"]

    def test_those_already_leaving_are_counted_on_first(self) -> None:
        start = world(
            [queue("q", 2, within=LOWER)],
            admitted=[admitted("low", "q", priority=-5), admitted("leaving", "q", priority=0, is_evicting=True)],
            pending=[pending("w", "q", priority=1)],
        )

        result = Scheduler(start).cycle()

        assert [(e.uid, e.is_repeated) for e in result.evictions] == [("leaving", True)]

    def test_among_equals_the_one_admitted_last_goes(self) -> None:
        start = world(
            [queue("q", 2, within=LOWER)],
            admitted=[admitted("early", "q", reserved_s=1.0), admitted("late", "q", reserved_s=2.0)],
            pending=[pending("w", "q", priority=1)],
        )

        assert evicted(Scheduler(start)) == ["late"]

    def test_borrowers_of_other_queues_go_before_the_own_queue(self) -> None:
        start = world(
            [queue("own", 2, cohort="c", within=LOWER, reclaim=ANY), queue("other", 0, cohort="c")],
            admitted=[admitted("mine", "own", priority=-9), admitted("borrower", "other", priority=9)],
            pending=[pending("w", "own", priority=0)],
        )

        assert evicted(Scheduler(start)) == ["borrower"]

    def test_a_borrower_is_safe_once_its_queue_is_back_within_its_quota(self) -> None:
        start = world(
            [queue("own", 3, cohort="c", reclaim=ANY), queue("other", 1, cohort="c")],
            admitted=[admitted("a", "other", 2, reserved_s=2.0), admitted("b", "other", 2, reserved_s=1.0)],
            pending=[pending("w", "own", 2)],
        )

        assert evicted(Scheduler(start)) == ["a"]

    def test_a_cohort_back_within_its_quota_protects_its_queues(self) -> None:
        """The right cohort owns 2 and uses 3: after one victim it owes nothing, though its queues still do."""
        start = world(
            [
                queue("own", 2, cohort="left", reclaim=ANY),
                queue("q1", 0, cohort="right"),
                queue("q2", 0, cohort="right"),
            ],
            cohorts=[cohort("root"), cohort("left", parent="root"), cohort("right", 2, parent="root")],
            admitted=[admitted("a", "q1", reserved_s=2.0), admitted("b", "q2", 2, reserved_s=1.0)],
            pending=[pending("w", "own", 2)],
        )

        assert evicted(Scheduler(start)) == ["a"]

    @pytest.mark.parametrize(
        ("threshold", "expected"),
        [
            pytest.param(None, ["low"], id="without a threshold every lower priority gives way"),
            pytest.param(0, ["low"], id="at the threshold it still gives way"),
            pytest.param(-1, [], id="above the threshold it is safe from a queue that would borrow"),
        ],
    )
    def test_preempting_while_borrowing_spares_priorities_above_the_threshold(
        self, threshold: int | None, expected: list[str]
    ) -> None:
        borrow = BorrowWithinCohort(policy=LOWER, max_priority_threshold=threshold)
        start = world(
            [
                queue("own", 0, cohort="c", reclaim=LOWER, borrow=borrow),
                queue("other", 0, cohort="c"),
                queue("lender", 2, cohort="c"),
            ],
            admitted=[admitted("low", "other", 2, priority=0)],
            pending=[pending("w", "own", 2, priority=5)],
        )

        assert evicted(Scheduler(start)) == expected

    def test_a_resource_that_is_not_asked_for_does_not_count_as_borrowed(self) -> None:
        """kubernetes-sigs/kueue issue 7392: each flavor and resource is judged alone."""
        start = world(
            [
                queue("own", {"a100": 1, "h100": 1}, cohort="c", reclaim=ANY),
                queue("other", {"a100": 1, "h100": 0}, cohort="c"),
            ],
            admitted=[
                admitted("own-borrows-a100", "own", 2, flavor="a100"),
                admitted("borrower", "other", flavor="h100"),
            ],
            pending=[pending("w", "own")],
        )

        assert evicted(Scheduler(start)) == ["borrower"]


class TestFairSharing:
    def test_the_lowest_share_after_the_admission_goes_first(self) -> None:
        start = world(
            [queue("rich", 0, cohort="c"), queue("poor", 0, cohort="c")],
            cohorts=[cohort("c", 4)],
            admitted=[admitted("r", "rich", 2)],
            pending=[pending("r2", "rich", 2, priority=9), pending("p", "poor", 2)],
            config=FAIR,
        )
        scheduler = Scheduler(start)

        scheduler.cycle()

        assert running(scheduler) == ["p", "r"]

    def test_who_stays_within_its_quota_goes_before_any_share(self) -> None:
        start = world(
            [queue("owner", 2, cohort="c"), queue("borrower", 0, cohort="c", weight=100.0)],
            pending=[pending("b", "borrower", 2, priority=9), pending("o", "owner", 2)],
            config=FAIR,
        )
        scheduler = Scheduler(start)

        scheduler.cycle()

        assert running(scheduler) == ["o"]

    @pytest.mark.parametrize(
        ("strategy", "expected"),
        [
            pytest.param(
                FairSharingStrategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, ["a2"], id="equal final shares will do"
            ),
            pytest.param(FairSharingStrategy.LESS_THAN_INITIAL_SHARE, ["a2"], id="below the initial share"),
        ],
    )
    def test_shares_are_evened_out(self, strategy: FairSharingStrategy, expected: list[str]) -> None:
        """a holds 4 of 6, b 0 and asks 2: afterwards 2 and 2."""
        start = world(
            [queue("a", 0, cohort="c", reclaim=ANY), queue("b", 0, cohort="c", reclaim=ANY)],
            cohorts=[cohort("c", 4)],
            admitted=[admitted("a1", "a", 2, reserved_s=1.0), admitted("a2", "a", 2, reserved_s=2.0)],
            pending=[pending("w", "b", 2)],
            config=SchedulerConfig(fair_sharing=True, fair_strategies=(strategy,)),
        )

        assert evicted(Scheduler(start)) == expected

    def test_a_final_share_below_the_preemptors_is_not_taken_under_the_first_strategy(self) -> None:
        """a holds 3, b asks 2 of 4: a would be left with less than b."""
        start = world(
            [queue("a", 0, cohort="c", reclaim=ANY), queue("b", 0, cohort="c", reclaim=ANY)],
            cohorts=[cohort("c", 4)],
            admitted=[admitted("a1", "a", 3)],
            pending=[pending("w", "b", 2)],
            config=SchedulerConfig(
                fair_sharing=True, fair_strategies=(FairSharingStrategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,)
            ),
        )

        assert evicted(Scheduler(start)) == []

    def test_weight_zero_is_the_first_victim(self) -> None:
        start = world(
            [
                queue("own", 2, cohort="c", reclaim=ANY),
                queue("worthless", 0, cohort="c", weight=0.0),
                queue("heavy", 0, cohort="c", weight=1.0),
            ],
            cohorts=[cohort("c", 3)],
            admitted=[admitted("z", "worthless", 1, priority=9), admitted("h", "heavy", 4, priority=-9)],
            pending=[pending("w", "own", 1)],
            config=FAIR,
        )

        assert evicted(Scheduler(start)) == ["z"]
