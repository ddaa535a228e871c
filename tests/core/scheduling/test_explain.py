"""Every refusal names its reason, the figures, and what would admit the workload."""

from __future__ import annotations

from dataclasses import replace

from core.messages.message import Language
from core.scheduling.decisions import Eviction
from core.scheduling.explain import explain
from core.scheduling.loops import LoopDetector, LoopSetting
from core.scheduling.policies import BorrowWithinCohort, Gates, QueueingStrategy, SchedulerConfig
from core.scheduling.quantities import FlavorResource
from core.scheduling.refusals import RefusalReason
from core.scheduling.remedies import RemedyKind
from core.scheduling.scheduler import Scheduler
from core.scheduling.victims import PreemptionReason
from core.scheduling.world import World
from tests.builders.scheduling import ANY, LOWER, admitted, pending, queue, settle, waiting_again, world

H100 = FlavorResource("h100", "gpu")


def test_quota_return_and_size_are_all_named() -> None:
    start = world(
        [queue("q", 8)], admitted=[admitted("a", "q", 4), admitted("b", "q", 3)], pending=[pending("w", "q", count=4)]
    )

    explanation = explain(Scheduler(start), "w")

    assert explanation is not None and explanation.refusal is not None
    assert explanation.refusal.reason is RefusalReason.WAITS_FOR_OTHERS
    remedies = {remedy.kind: remedy for remedy in explanation.remedies}
    assert remedies[RemedyKind.RAISE_QUOTA].quota_raises == {H100: 3}
    assert remedies[RemedyKind.OTHERS_LEAVE].leaving in (("a",), ("b",))
    assert remedies[RemedyKind.ASK_LESS].counts == {"main": 1}


def test_the_sentences_carry_the_numbers_in_both_languages() -> None:
    start = world([queue("q", 2)], pending=[pending("w", "q", count=3)])

    explanation = explain(Scheduler(start), "w")

    assert explanation is not None
    english = [text.english() for text in explanation.messages()]
    chinese = [text.render(Language.CHINESE) for text in explanation.messages()]
    assert english == [
        "w can never run in queue q as the quotas stand.",
        "gpu on flavor h100: 3 asked, 2 at most, borrowing included.",
        "w starts now with fewer pods (main: 2).",
        "Raise the quota of queue q: gpu +1 (h100).",
    ]
    assert chinese[0] == "按现有配额，w 在队列 q 中永远无法运行。"


def test_who_only_waits_its_turn_is_told_behind_whom() -> None:
    start = world(
        [queue("q", 2, strategy=QueueingStrategy.STRICT_FIFO)],
        pending=[pending("huge", "q", 9), pending("small", "q", at_s=1.0)],
    )

    explanation = explain(Scheduler(start), "small")

    assert explanation is not None and explanation.refusal is not None
    assert explanation.refusal.reason is RefusalReason.BEHIND_OTHERS
    assert explanation.ahead == ("huge",)


def test_a_running_backoff_is_the_reason() -> None:
    late = replace(pending("w", "q"), not_before_s=60.0)

    explanation = explain(Scheduler(world([queue("q", 1)], pending=[late])), "w")

    assert explanation is not None and explanation.refusal is not None
    assert explanation.refusal.message().english() == "w waits in queue q until 60 s, as its last start failed."


def test_what_does_not_wait_is_not_explained() -> None:
    assert explain(Scheduler(world([queue("q", 1)])), "nobody") is None


def test_explaining_changes_nothing() -> None:
    start = world([queue("q", 8)], admitted=[admitted("a", "q", 7)], pending=[pending("w", "q", 4)])
    scheduler = Scheduler(start)
    before = scheduler.world()

    explain(scheduler, "w")

    assert scheduler.world() == before
    assert scheduler.snapshot.queue("q").usage == [7]


def eviction(uid: str, preemptor: str, reason: PreemptionReason) -> Eviction:
    return Eviction(
        uid=uid, queue=f"queue-of-{uid}", reason=reason, preemptor=preemptor, preemptor_queue=f"queue-of-{preemptor}"
    )


def test_two_workloads_that_evict_each_other_are_found_and_the_setting_is_named() -> None:
    detector = LoopDetector()

    first = detector.observe(0.0, [eviction("b", "a", PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING)])
    second = detector.observe(60.0, [eviction("a", "b", PreemptionReason.IN_COHORT_RECLAMATION)])

    assert first == []
    (loop,) = second
    assert (loop.first, loop.second, loop.turns, loop.over_s) == ("a", "b", 2, 60.0)
    assert loop.setting is LoopSetting.BORROW_WITHIN_COHORT
    assert all(loop.setting.value in loop.message().render(language) for language in Language)


def test_the_same_victim_for_the_third_time_is_a_loop_of_its_own_kind() -> None:
    detector = LoopDetector()
    again = [eviction("b", "a", PreemptionReason.IN_CLUSTER_QUEUE)]

    assert detector.observe(0.0, again) == []
    assert detector.observe(1.0, again) == []
    assert [loop.setting for loop in detector.observe(2.0, again)] == [LoopSetting.PRIORITIZE_PREEMPTORS]


def test_turns_outside_the_window_are_forgotten() -> None:
    detector = LoopDetector(window_s=100.0)

    detector.observe(0.0, [eviction("b", "a", PreemptionReason.IN_COHORT_RECLAMATION)])

    assert detector.observe(101.0, [eviction("a", "b", PreemptionReason.IN_COHORT_RECLAMATION)]) == []


def victim_that_comes_back(gates: Gates) -> World:
    """`small` reclaims what it owns at a reduced size; at full size it borrows, and `urgent` goes before it."""
    return world(
        [queue("q1", 2, cohort="c"), queue("q2", 7, cohort="c", reclaim=ANY)],
        admitted=[admitted("urgent", "q1", 9, priority=2)],
        pending=[pending("small", "q2", 3, count=3, min_count=1, priority=1)],
        config=SchedulerConfig(gates=gates),
    )


def test_a_victim_that_is_back_before_its_preemptor_is_found() -> None:
    scheduler, detector = Scheduler(victim_that_comes_back(Gates())), LoopDetector()
    found = []
    for step in range(12):
        facts = {w.uid: w for w in scheduler.holders()}
        result = scheduler.cycle(float(step))
        found += detector.observe(float(step), result.evictions)
        for gone in result.evictions:
            scheduler.requeue(waiting_again(facts[gone.uid]))

    assert {loop.setting for loop in found} == {LoopSetting.PRIORITIZE_PREEMPTORS}


def test_the_setting_that_is_named_ends_that_loop() -> None:
    scheduler = Scheduler(victim_that_comes_back(Gates(prioritize_preemptors=True)))

    assert settle(scheduler) == ["urgent"]


def test_a_real_loop_of_borrowing_and_reclaiming_is_found() -> None:
    """Both queues borrow by preemption and own nothing; whoever waits is given a higher priority each time."""
    borrow = BorrowWithinCohort(policy=LOWER)
    queues = [
        queue("q1", 0, cohort="c", reclaim=ANY, borrow=borrow),
        queue("q2", 0, cohort="c", reclaim=ANY, borrow=borrow),
        queue("lender", 1, cohort="c"),
    ]
    scheduler = Scheduler(world(queues, admitted=[admitted("a", "q1")], pending=[pending("b", "q2", priority=1)]))
    detector = LoopDetector()
    found = []
    for step in range(8):
        facts = {w.uid: w for w in scheduler.holders()}
        result = scheduler.cycle(float(step))
        found += detector.observe(float(step), result.evictions)
        for gone in result.evictions:
            scheduler.requeue(waiting_again(facts[gone.uid]))
        for waiting in scheduler.world().pending if result.admitted else ():
            scheduler.withdraw(waiting.uid, waiting.queue)
            scheduler.submit(replace(waiting, priority=waiting.priority + 2))

    assert {loop.setting for loop in found} == {LoopSetting.BORROW_WITHIN_COHORT}
