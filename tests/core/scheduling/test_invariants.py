"""What holds in every world, whatever its quotas, limits, policies and history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.messages.message import Language
from core.scheduling.decisions import CycleResult, Outcome
from core.scheduling.explain import admits, applied, explain
from core.scheduling.loops import LoopDetector
from core.scheduling.nomination import Nominator
from core.scheduling.policies import Gates, PreemptionPolicy, SchedulerConfig
from core.scheduling.preemption_fair import FairSearch
from core.scheduling.quantities import Slot
from core.scheduling.quota_tree import CohortNode, QuotaNode, QuotaTree
from core.scheduling.refusals import RefusalReason
from core.scheduling.scheduler import Scheduler
from core.scheduling.world import World
from tests.builders.scheduling import pending, settle, waiting_again
from tests.core.scheduling.worlds import worlds

WHOLE = SchedulerConfig(gates=Gates(partial_admission=False))
RUNS = settings(max_examples=150, deadline=None)


def history(start: World, seed: int, steps: int = 12) -> tuple[Scheduler, list[CycleResult]]:
    """Workloads arrive, run, finish, are evicted and withdrawn in a random order, with a cycle after each step."""
    random = Random(seed)
    arrivals = list(start.pending)
    random.shuffle(arrivals)
    scheduler = Scheduler(replace(start, pending=()))
    results = []
    for step in range(steps):
        for _ in range(random.randint(0, 4)):
            if arrivals:
                scheduler.submit(arrivals.pop())
        running = sorted(w.uid for w in scheduler.holders())
        if running and random.random() < 0.4:
            scheduler.finish(random.choice(running))
        facts = {w.uid: w for w in scheduler.holders()}
        result = scheduler.cycle(float(step))
        results.append(result)
        for eviction in result.evictions:
            if eviction.uid in facts and random.random() < 0.8:
                facts_now = facts.pop(eviction.uid)
                scheduler.requeue(waiting_again(facts_now))
            else:
                scheduler.mark_evicting([eviction.uid])
    return scheduler, results


def recomputed_usage(tree: QuotaTree, direct: Mapping[str, Mapping[Slot, int]]) -> dict[str, list[int]]:
    """Usage of every node from its definition: what a child cannot cover locally is its parent's usage."""
    found: dict[str, list[int]] = {}

    def usage(node: QuotaNode) -> list[int]:
        if isinstance(node, CohortNode):
            total = [0] * len(tree.pairs)
            for child in (*node.queues, *node.cohorts):
                for slot, amount in enumerate(usage(child)):
                    total[slot] += max(0, amount - child.local[slot])
        else:
            total = [direct.get(node.name, {}).get(Slot(slot), 0) for slot in range(len(tree.pairs))]
        found[node.name] = total
        return total

    for node in (*tree.roots, *(q for q in tree.queues.values() if q.parent is None)):
        usage(node)
    return found


def direct_usage(scheduler: Scheduler) -> dict[str, dict[Slot, int]]:
    sums: dict[str, dict[Slot, int]] = {}
    for workload in scheduler.holders():
        of_queue = sums.setdefault(workload.queue, {})
        for slot, amount in scheduler.snapshot.usage_of(workload):
            of_queue[slot] = of_queue.get(slot, 0) + amount
    return sums


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_usage_of_every_node_is_the_sum_of_what_is_admitted(start: World, seed: int) -> None:
    scheduler, _ = history(start, seed)

    tree = scheduler.snapshot.tree
    expected = recomputed_usage(tree, direct_usage(scheduler))
    assert {node.name: node.usage for node in (*tree.queues.values(), *tree.cohorts.values())} == expected


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_no_capacity_is_oversubscribed_and_no_borrower_is_beyond_its_limit(start: World, seed: int) -> None:
    scheduler, _ = history(start, seed)

    tree = scheduler.snapshot.tree
    for node in (*tree.queues.values(), *tree.cohorts.values()):
        for slot, used in enumerate(node.usage):
            limit = node.borrowing_limit[slot]
            assert used <= node.potential[slot]
            assert node.parent is not None or used <= node.subtree[slot]
            assert node.parent is None or limit is None or used <= node.subtree[slot] + limit


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_a_gang_is_admitted_whole_or_at_no_less_than_its_minimum(start: World, seed: int) -> None:
    _, results = history(start, seed)

    asked = {w.uid: w.podsets[0] for w in start.pending}
    for result in results:
        for workload in result.admitted:
            (podset,), full = workload.podsets, asked[workload.uid]
            smallest = full.count if full.min_count is None else full.min_count
            assert smallest <= podset.count <= full.count
            assert podset.usage.get("gpu", 0) == full.requests["gpu"] * podset.count


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_the_same_world_in_another_order_gives_the_same_decisions(start: World, seed: int) -> None:
    random = Random(seed)

    def shuffled(world: World) -> World:
        return replace(
            world,
            flavors=tuple(random.sample(world.flavors, len(world.flavors))),
            cohorts=tuple(random.sample(world.cohorts, len(world.cohorts))),
            queues=tuple(random.sample(world.queues, len(world.queues))),
            pending=tuple(random.sample(world.pending, len(world.pending))),
        )

    first, second = Scheduler(start), Scheduler(shuffled(start))
    for _ in range(3):
        one, two = first.cycle(), second.cycle()
        assert one.admitted == two.admitted
        assert one.evictions == two.evictions
        for scheduler in (first, second):
            scheduler.mark_evicting(e.uid for e in one.evictions)


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_a_cycle_leaves_nothing_of_what_it_only_assumed(start: World, seed: int) -> None:
    scheduler, _ = history(start, seed, steps=6)

    fresh = Scheduler(replace(scheduler.world(), pending=()))

    for name, node in scheduler.snapshot.tree.queues.items():
        assert node.usage == fresh.snapshot.queue(name).usage
    assert not any(holder.is_out for holder in scheduler.snapshot.holders.values())


@given(worlds())
@RUNS
def test_a_stable_workload_comes_to_rest_or_the_loop_is_reported(start: World) -> None:
    """Kueue's rules allow a few endless loops; none of them goes unseen."""
    scheduler, detector, loops = Scheduler(start), LoopDetector(), 0
    for step in range(100):
        facts = {w.uid: w for w in scheduler.holders()}
        result = scheduler.cycle(float(step))
        loops += len(detector.observe(float(step), result.evictions))
        for eviction in result.evictions:
            scheduler.requeue(waiting_again(facts[eviction.uid]))
        if scheduler.is_at_rest:
            return

    assert loops


@given(worlds(fair=False, borrow=False), st.booleans())
@RUNS
def test_without_borrowing_by_preemption_and_partial_admission_it_always_comes_to_rest(
    start: World, is_fair: bool
) -> None:
    gates = Gates(partial_admission=False)
    settle(Scheduler(replace(start, config=SchedulerConfig(fair_sharing=is_fair, gates=gates))), cycles=100)


@given(worlds(fair=False, limits=False, borrow=False), st.integers(0, 4), st.integers(1, 8))
@RUNS
def test_nominal_quota_is_regained_by_whoever_may_reclaim_it(start: World, index: int, gpus: int) -> None:
    start = replace(start, config=WHOLE)
    scheduler = Scheduler(start)
    settle(scheduler)
    owner = start.queues[index % len(start.queues)]
    reclaims = replace(
        owner, preemption=replace(owner.preemption, reclaim_in_cohort=PreemptionPolicy.ANY, borrow_in_cohort=None)
    )
    now = scheduler.world()
    others = tuple(w for w in now.admitted if w.queue != owner.name)
    queues = tuple(reclaims if q.name == owner.name else q for q in start.queues)
    claim = pending("claim", owner.name, gpus, priority=5)
    claimed = Scheduler(replace(now, queues=queues, admitted=others, pending=(claim,)))

    settle(claimed)

    owned = max(q.nominal for q in (f.quotas["gpu"] for f in owner.groups[0].flavors))
    is_running = any(w.uid == "claim" for w in claimed.holders())
    assert is_running or gpus > owned


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_victims_of_other_queues_lived_beyond_their_quota_and_none_could_be_spared(start: World, seed: int) -> None:
    scheduler, _ = history(start, seed, steps=5)
    before = scheduler.world()
    result = Scheduler(before).cycle(9.0)
    queues = {q.name: q for q in before.queues}
    tree = Scheduler(before).snapshot.tree

    for decision in result.decisions:
        for eviction in decision.evictions:
            if eviction.queue == eviction.preemptor_queue:
                assert queues[eviction.queue].preemption.within_queue is not PreemptionPolicy.NEVER
            else:
                node = tree.queues[eviction.queue]
                assert queues[eviction.preemptor_queue].preemption.reclaim_in_cohort is not PreemptionPolicy.NEVER
                assert any(used > node.subtree[slot] for slot, used in enumerate(node.usage))


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_what_would_admit_a_refused_workload_does_admit_it(start: World, seed: int) -> None:
    scheduler, _ = history(start, seed, steps=5)
    now = scheduler.world()

    for workload in now.pending[:3]:
        explanation = explain(scheduler, workload.uid)
        assert explanation is not None
        for remedy in explanation.remedies:
            changed, asked = applied(replace(now, pending=()), workload, remedy)
            assert admits(changed, asked), remedy


@given(worlds(fair=False, limits=False), st.integers(0, 10_000))
@RUNS
def test_a_workload_that_only_lacks_quota_is_always_told_what_would_admit_it(start: World, seed: int) -> None:
    scheduler, _ = history(start, seed, steps=5)

    for workload in scheduler.world().pending[:3]:
        explanation = explain(scheduler, workload.uid)
        assert explanation is not None
        refusal = explanation.refusal
        if refusal is not None and refusal.reason in (RefusalReason.NEVER_FITS, RefusalReason.WAITS_FOR_OTHERS):
            assert explanation.remedies, refusal
            assert all(text.english() and text.render(Language.CHINESE) for text in explanation.messages())


@given(worlds(), st.integers(0, 10_000))
@RUNS
def test_every_victim_is_needed(start: World, seed: int) -> None:
    """Without any one of its victims leaving, the preemptor would not fit."""
    scheduler, _ = history(start, seed, steps=5)
    now = scheduler.world()
    result = Scheduler(now).cycle(9.0)
    preemptors = [d for d in result.decisions if d.outcome is Outcome.PREEMPTING]
    for decision in preemptors[:1]:  # the first of a cycle: nobody else's victims are counted on yet
        waiting = next(w for w in now.pending if w.uid == decision.uid)
        victims = {eviction.uid for eviction in decision.evictions}
        pinned = {f.flavor for f in decision.refusal.attempts} if decision.refusal else set()
        for spared in victims:
            left = tuple(w for w in now.admitted if w.uid not in victims - {spared})
            if len(pinned) > 1 or waiting.podsets[0].min_count is not None:
                continue  # another flavor or a smaller size may do without them
            assert not admits(replace(now, admitted=left, pending=()), waiting)


@given(worlds(fair=True), st.integers(0, 10_000))
@RUNS
def test_the_short_cuts_of_fair_sharing_decide_as_the_search_does(start: World, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Nominator, "_plainly_refused", lambda self, pending, queue: None)
        patch.setattr(FairSearch, "is_hopeless", lambda self: False)
        _, searched = history(start, seed)

    _, cut_short = history(start, seed)

    assert [(r.admitted, r.evictions) for r in cut_short] == [(r.admitted, r.evictions) for r in searched]
    reasons = [[(d.uid, d.refusal and d.refusal.reason) for d in r.decisions] for r in cut_short]
    assert reasons == [[(d.uid, d.refusal and d.refusal.reason) for d in r.decisions] for r in searched]
