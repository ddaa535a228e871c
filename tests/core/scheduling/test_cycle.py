"""Cycles, queues and flavors: rules of Kueue v0.20 that few recorded cases show, in worlds worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.scheduling.decisions import Outcome
from core.scheduling.policies import (
    Fungibility,
    Gates,
    QueueingStrategy,
    SchedulerConfig,
    WhenCanBorrow,
    WhenCanPreempt,
)
from core.scheduling.refusals import RefusalReason
from core.scheduling.scheduler import Scheduler
from core.scheduling.world import PodSetRequest, Quota, ReplacedSlice, World
from tests.builders.scheduling import ANY, LOWER, NEVER, admitted, cohort, pending, queue, settle, world

STRICT = QueueingStrategy.STRICT_FIFO
FAIR = SchedulerConfig(fair_sharing=True)


def evicted(scheduler: Scheduler) -> list[str]:
    return sorted(eviction.uid for eviction in scheduler.cycle().evictions)


def running(scheduler: Scheduler) -> list[str]:
    return sorted(workload.uid for workload in scheduler.holders())


class TestOneCycle:
    def test_among_those_who_borrow_alike_the_higher_priority_goes_first(self) -> None:
        start = world(
            [queue(name, 0, cohort="c") for name in ("q1", "q2")],
            cohorts=[cohort("c", 1)],
            pending=[pending("early", "q1", at_s=0.0), pending("urgent", "q2", priority=7, at_s=9.0)],
        )
        scheduler = Scheduler(start)

        scheduler.cycle()

        assert running(scheduler) == ["urgent"]

    def test_who_needs_no_borrowing_goes_before_any_priority(self) -> None:
        start = world(
            [queue("owner", 1, cohort="c"), queue("borrower", 0, cohort="c")],
            pending=[pending("owned", "owner"), pending("urgent", "borrower", priority=7)],
        )
        scheduler = Scheduler(start)

        scheduler.cycle()

        assert running(scheduler) == ["owned"]

    def test_a_blocked_head_that_cannot_reclaim_keeps_its_unused_quota(self) -> None:
        """Otherwise a borrower would slip in, and the head could not get it out again."""
        start = world(
            [queue("own", 4, cohort="c"), queue("other", 0, cohort="c")],
            admitted=[admitted("long", "other", 2)],
            pending=[pending("head", "own", 4), pending("small", "other", priority=-1)],
        )
        scheduler = Scheduler(start)

        scheduler.cycle()

        assert running(scheduler) == ["long"]

    def test_a_blocked_head_that_can_always_reclaim_lets_others_borrow(self) -> None:
        start = world(
            [queue("own", 4, cohort="c", reclaim=ANY), queue("other", 1, cohort="c")],
            admitted=[admitted("long", "own", 1), admitted("mine", "other", 1)],
            pending=[pending("head", "own", 4), pending("small", "other")],
        )
        scheduler = Scheduler(start)

        scheduler.cycle()

        assert running(scheduler) == ["long", "mine", "small"]

    def test_two_preemptors_never_count_on_the_same_victim(self) -> None:
        start = world(
            [
                queue("q1", 2, cohort="c", reclaim=ANY),
                queue("q2", 2, cohort="c", reclaim=ANY),
                queue("q3", 0, cohort="c"),
            ],
            admitted=[admitted("a", "q3", 2, reserved_s=1.0), admitted("b", "q3", 2, reserved_s=2.0)],
            pending=[pending("w1", "q1", 2, at_s=1.0), pending("w2", "q2", 2, at_s=2.0)],
        )

        result = Scheduler(start).cycle()

        assert [(d.uid, [e.uid for e in d.evictions]) for d in result.decisions] == [("w1", ["b"]), ("w2", ["a"])]
        assert result.recomputations["q2"].new_targets == 1

    def test_without_recomputation_the_second_preemptor_is_put_off(self) -> None:
        start = world(
            [
                queue("q1", 2, cohort="c", reclaim=ANY),
                queue("q2", 2, cohort="c", reclaim=ANY),
                queue("q3", 0, cohort="c"),
            ],
            admitted=[admitted("a", "q3", 2, reserved_s=1.0), admitted("b", "q3", 2, reserved_s=2.0)],
            pending=[pending("w1", "q1", 2, at_s=1.0), pending("w2", "q2", 2, at_s=2.0)],
            config=SchedulerConfig(gates=Gates(recompute_on_victim_overlap=False)),
        )

        result = Scheduler(start).cycle()

        assert [e.uid for e in result.evictions] == ["b"]
        assert result.decisions[1].refusal is not None
        assert result.decisions[1].refusal.reason is RefusalReason.VICTIMS_TAKEN
        assert result.skipped_preemptions == {"q2": 1}


class TestQueues:
    def test_a_strict_head_blocks_its_queue_and_no_other(self) -> None:
        start = world(
            [queue("strict", 2, cohort="c", strategy=STRICT, reclaim=ANY), queue("free", 1, cohort="c")],
            pending=[pending("huge", "strict", 9), pending("small", "strict", at_s=1.0), pending("other", "free")],
        )
        scheduler = Scheduler(start)

        settle(scheduler)

        assert running(scheduler) == ["other"]

    def test_a_best_effort_head_is_parked_and_the_next_one_runs(self) -> None:
        start = world([queue("q", 2)], pending=[pending("huge", "q", 9), pending("small", "q", at_s=1.0)])
        scheduler = Scheduler(start)

        settle(scheduler)

        assert running(scheduler) == ["small"]
        assert [w.uid for w in scheduler.waiting("q")[1]] == ["huge"]

    def test_what_is_parked_is_tried_again_when_quota_becomes_free_anywhere_in_its_tree(self) -> None:
        start = world(
            [queue("q1", 1, cohort="c"), queue("q2", 1, cohort="c")],
            admitted=[admitted("a", "q2", 2)],
            pending=[pending("w", "q1")],
        )
        scheduler = Scheduler(start)
        settle(scheduler)
        assert [w.uid for w in scheduler.waiting("q1")[1]] == ["w"]

        scheduler.finish("a")
        settle(scheduler)

        assert running(scheduler) == ["w"]

    def test_a_refusal_parks_every_workload_of_its_shape(self) -> None:
        many = [pending(f"w{index}", "q", 3, at_s=float(index)) for index in range(5)]
        scheduler = Scheduler(world([queue("q", 2)], pending=many))

        result = scheduler.cycle()

        assert len(result.decisions) == 1
        assert len(scheduler.waiting("q")[1]) == 5

    def test_a_newcomer_of_a_refused_shape_waits_with_the_others(self) -> None:
        scheduler = Scheduler(world([queue("q", 2)], pending=[pending("w0", "q", 3)]))
        scheduler.cycle()

        scheduler.submit(pending("w1", "q", 3))

        assert scheduler.cycle().decisions == ()

    def test_nothing_overtakes_a_preemptor_that_waits_for_its_victims(self) -> None:
        start = world(
            [queue("q", 2, within=LOWER)],
            admitted=[admitted("victim", "q", 2)],
            pending=[pending("preemptor", "q", 2, priority=1)],
        )
        scheduler = Scheduler(start)
        scheduler.cycle()
        scheduler.submit(pending("urgent", "q", priority=9))
        scheduler.finish("victim")

        scheduler.cycle()

        assert running(scheduler) == ["preemptor"]

    def test_a_backoff_ends_when_its_time_has_come_and_not_before(self) -> None:
        late = replace(pending("w", "q"), not_before_s=60.0)
        scheduler = Scheduler(world([queue("q", 1)], pending=[late]))

        assert scheduler.cycle(59.0).decisions == ()
        assert [d.outcome for d in scheduler.cycle(60.0).decisions] == [Outcome.ADMITTED]

    def test_a_queue_that_names_a_missing_flavor_takes_no_part(self) -> None:
        start = replace(world([queue("q", 1)], pending=[pending("w", "q")]), flavors=())

        assert Scheduler(start).cycle().decisions == ()


class TestFlavors:
    def test_the_search_goes_on_where_it_stopped(self) -> None:
        """The first flavor stops the search without a victim; the next cycle starts at the second one."""
        start = world(
            [
                queue(
                    "q",
                    {"a100": 4, "h100": 4},
                    within=LOWER,
                    fungibility=Fungibility(when_can_preempt=WhenCanPreempt.MAY_STOP_SEARCH),
                )
            ],
            admitted=[admitted("a", "q", 4, flavor="a100"), admitted("b", "q", 4, flavor="h100", priority=-1)],
            pending=[pending("w", "q", 2, priority=0)],
        )
        scheduler = Scheduler(start)

        assert settle(scheduler)[:1] == ["b"]

    @pytest.mark.parametrize(
        ("when", "flavor"),
        [
            pytest.param(WhenCanBorrow.MAY_STOP_SEARCH, "a100", id="may stop: it borrows the first flavor"),
            pytest.param(WhenCanBorrow.TRY_NEXT_FLAVOR, "h100", id="try next: it takes the flavor that it owns"),
        ],
    )
    def test_borrowing_ends_the_search_only_when_it_may(self, when: WhenCanBorrow, flavor: str) -> None:
        start = world(
            [
                queue("q", {"a100": 0, "h100": 2}, cohort="c", fungibility=Fungibility(when_can_borrow=when)),
                queue("lender", {"a100": 2}, cohort="c"),
            ],
            pending=[pending("w", "q", 2)],
        )

        result = Scheduler(start).cycle()

        assert [w.podsets[0].flavors for w in result.admitted] == [{"gpu": flavor}]


class TestPartialAdmission:
    def test_the_largest_size_that_fits_is_admitted(self) -> None:
        start = world([queue("q", 5)], pending=[pending("w", "q", count=9, min_count=2)])

        assert [w.podsets[0].count for w in Scheduler(start).cycle().admitted] == [5]

    def test_below_its_minimum_nothing_is_admitted(self) -> None:
        start = world([queue("q", 5)], pending=[pending("w", "q", count=9, min_count=6)])

        assert Scheduler(start).cycle().admitted == ()

    def test_preempting_at_full_size_comes_before_shrinking(self) -> None:
        start = world(
            [queue("q", 4, within=LOWER)],
            admitted=[admitted("low", "q", 2, priority=-1)],
            pending=[pending("w", "q", count=4, min_count=1)],
        )

        assert evicted(Scheduler(start)) == ["low"]


class TestElasticSlices:
    def growing(self, gpus: int) -> World:
        """`old` holds 2 of 4 and grows to `gpus`."""
        old = admitted("old", "q", 2)
        replaces = ReplacedSlice(workload="old", requests={"gpu": 2}, flavors={"gpu": "h100"})
        podset = PodSetRequest(name="main", count=gpus, requests={"gpu": 1}, replaces=replaces)
        return world([queue("q", 4)], admitted=[old], pending=[replace(pending("new", "q"), podsets=(podset,))])

    def test_only_the_difference_needs_quota_and_the_old_slice_ends(self) -> None:
        scheduler = Scheduler(self.growing(4))

        (decision,) = scheduler.cycle().decisions

        assert decision.replaces == ("old",)
        assert running(scheduler) == ["new"]
        assert scheduler.snapshot.queue("q").usage == [4]

    def test_while_the_bigger_slice_waits_the_old_one_runs_on(self) -> None:
        scheduler = Scheduler(self.growing(5))

        scheduler.cycle()

        assert running(scheduler) == ["old"]
        assert scheduler.snapshot.queue("q").usage == [2]

    def test_it_grows_on_the_flavor_that_it_stands_on(self) -> None:
        start = self.growing(4)
        scheduler = Scheduler(
            replace(
                start,
                queues=(queue("q", {"a100": 9, "h100": 3}),),
                flavors=world([queue("q", {"a100": 9, "h100": 3})]).flavors,
            )
        )

        scheduler.cycle()

        assert running(scheduler) == ["old"]


class TestQuotaTree:
    def test_what_is_not_lent_stays_with_its_owner(self) -> None:
        start = world(
            [
                queue("own", Quota(nominal=4, lending_limit=1), cohort="c"),
                queue("other", Quota(nominal=1, borrowing_limit=9), cohort="c"),
            ],
            pending=[pending("two", "other", 2), pending("three", "other", 3, at_s=1.0)],
        )
        scheduler = Scheduler(start)

        settle(scheduler)

        assert running(scheduler) == ["two"]

    def test_a_limit_of_a_cohort_bounds_its_whole_subtree(self) -> None:
        start = world(
            [queue("q1", 1, cohort="low"), queue("q2", 0, cohort="low"), queue("rich", 9, cohort="root")],
            cohorts=[cohort("root"), cohort("low", Quota(nominal=0, borrowing_limit=1), parent="root")],
            pending=[pending("a", "q1", 1), pending("b", "q2", 1), pending("c", "q2", 1, at_s=1.0)],
        )
        scheduler = Scheduler(start)

        settle(scheduler)

        assert running(scheduler) == ["a", "b"]

    def test_never_is_never(self) -> None:
        start = world(
            [queue("own", 2, cohort="c", within=NEVER, reclaim=NEVER), queue("other", 0, cohort="c")],
            admitted=[admitted("b", "other", 2, priority=-9)],
            pending=[pending("w", "own", 2, priority=9)],
        )

        assert evicted(Scheduler(start)) == []
