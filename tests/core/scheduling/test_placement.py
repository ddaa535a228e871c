"""Placement: every pod has a place, no place is overfull, and a refusal means that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from core.scheduling.decisions import Outcome
from core.scheduling.placement import PlacementAsk, place_podsets
from core.scheduling.policies import Gates, SchedulerConfig
from core.scheduling.refusals import RefusalReason
from core.scheduling.scheduler import Scheduler
from core.scheduling.topology import HOSTNAME_LEVEL, TopologyTree
from core.scheduling.world import (
    PendingWorkload,
    PodSetRequest,
    ResourceFlavor,
    SliceLayer,
    Topology,
    TopologyNode,
    TopologyRequest,
    World,
)
from tests.builders.scheduling import ANY, LOWER, pending, queue, settle, world

LEVELS = ("block", "rack", HOSTNAME_LEVEL)
TOPOLOGY = Topology(name="cluster", levels=LEVELS)
FLAVOR = ResourceFlavor(name="h100", topology="cluster")
RUNS = settings(max_examples=200, deadline=None)


def node(index: int, block: int, rack: int, gpus: int) -> TopologyNode:
    name = f"n{index:02d}"
    labels = {"block": f"b{block}", "rack": f"b{block}r{rack}", HOSTNAME_LEVEL: name}
    return TopologyNode(name=name, labels=labels, allocatable={"gpu": gpus, "pods": 9})


NODES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=9).map(
    lambda rows: [node(index, *row) for index, row in enumerate(rows)]
)

REQUESTS = st.one_of(
    st.sampled_from(LEVELS).map(lambda level: TopologyRequest(required=level)),
    st.sampled_from(LEVELS).map(lambda level: TopologyRequest(preferred=level)),
    st.just(TopologyRequest(unconstrained=True)),
)


def place(nodes: Sequence[TopologyNode], *podsets: PodSetRequest) -> dict[str, dict[str, int]] | None:
    """podset -> host -> pods; `None` when one of them finds no room."""
    tree = TopologyTree(TOPOLOGY, FLAVOR, nodes)
    result = place_podsets(tree, [PlacementAsk(podset=p, count=p.count) for p in podsets], Gates())
    if result.short is not None:
        return None
    return {name: {p.values[0]: p.count for p in places} for name, places in result.by_podset.items()}


def workers(count: int, gpus: int, request: TopologyRequest, group: str | None = None) -> PodSetRequest:
    return PodSetRequest(name="workers", count=count, requests={"gpu": gpus}, topology=request, group=group)


def domains(nodes: Sequence[TopologyNode], level: str) -> list[list[TopologyNode]]:
    names = sorted({n.labels[level] for n in nodes})
    return [[n for n in nodes if n.labels[level] == name] for name in names]


def pods_that_fit(nodes: Sequence[TopologyNode], gpus: int) -> int:
    return sum(min(9, n.allocatable["gpu"] // gpus) for n in nodes)


@given(NODES, st.integers(1, 12), st.integers(1, 3), REQUESTS)
@RUNS
def test_pods_are_placed_exactly_when_there_is_room_and_never_overfill_a_node(
    nodes: list[TopologyNode], count: int, gpus: int, request: TopologyRequest
) -> None:
    found = place(nodes, workers(count, gpus, request))

    wide = domains(nodes, request.required) if request.required else [nodes]
    assert (found is not None) == any(pods_that_fit(domain, gpus) >= count for domain in wide)
    if found is not None:
        placed = found["workers"]
        assert sum(placed.values()) == count
        assert all(pods * gpus <= n.allocatable["gpu"] for n in nodes if (pods := placed.get(n.name, 0)))
        used = [n for n in nodes if n.name in placed]
        assert request.required is None or len({n.labels[request.required] for n in used}) == 1


@given(NODES, st.integers(1, 12), st.integers(1, 2), st.sampled_from(LEVELS))
@RUNS
def test_preferred_pods_share_a_domain_whenever_one_holds_them_all(
    nodes: list[TopologyNode], count: int, gpus: int, level: str
) -> None:
    found = place(nodes, workers(count, gpus, TopologyRequest(preferred=level)))

    if found is not None and any(pods_that_fit(domain, gpus) >= count for domain in domains(nodes, level)):
        assert len({n.labels[level] for n in nodes if n.name in found["workers"]}) == 1


@given(NODES, st.integers(1, 4), st.integers(1, 3), st.sampled_from(("rack", HOSTNAME_LEVEL)))
@RUNS
def test_slices_stay_whole(nodes: list[TopologyNode], slices: int, size: int, level: str) -> None:
    request = TopologyRequest(slices=(SliceLayer(level=level, size=size),))

    found = place(nodes, workers(slices * size, 1, request))

    room = sum(pods_that_fit(domain, 1) // size for domain in domains(nodes, level))
    assert (found is not None) == (room >= slices)
    if found is not None:
        for domain in domains(nodes, level):
            assert sum(found["workers"].get(n.name, 0) for n in domain) % size == 0


@given(NODES, st.integers(1, 8), st.integers(1, 2), st.integers(0, 3), REQUESTS)
@RUNS
def test_a_leader_and_its_workers_find_room_together_whenever_there_is_some(
    nodes: list[TopologyNode], count: int, gpus: int, leader_gpus: int, request: TopologyRequest
) -> None:
    leader = PodSetRequest(name="leader", count=1, requests={"gpu": leader_gpus}, topology=request, group="lws")
    found = place(nodes, leader, workers(count, gpus, request, group="lws"))

    def holds(domain: Sequence[TopologyNode]) -> bool:
        for host in domain:
            left = host.allocatable["gpu"] - leader_gpus
            others = [n for n in domain if n is not host]
            if left >= 0 and pods_that_fit(others, gpus) + min(8, left // gpus) >= count:
                return True
        return False

    wide = domains(nodes, request.required) if request.required else [nodes]
    if found is None:
        assert not any(holds(domain) for domain in wide)
    else:
        assert sum(found["leader"].values()) == 1 and sum(found["workers"].values()) == count
        for n in nodes:
            used = found["leader"].get(n.name, 0) * leader_gpus + found["workers"].get(n.name, 0) * gpus
            assert used <= n.allocatable["gpu"]


def cluster(nodes: Sequence[TopologyNode], *waiting: PendingWorkload, quota: int = 99) -> World:
    """One queue with more quota than there are nodes: place decides."""
    start = world([queue("q", quota, within=LOWER)], pending=waiting)
    return replace(start, flavors=(FLAVOR,), topologies=(TOPOLOGY,), nodes=tuple(nodes))


def placed(
    uid: str, count: int, *, required: str | None = None, priority: int = 0, at_s: float = 0.0
) -> PendingWorkload:
    plain = pending(uid, "q", count=count, priority=priority, at_s=at_s)
    request = None if required is None else TopologyRequest(required=required)
    return replace(plain, podsets=(replace(plain.podsets[0], topology=request),))


def hosts(scheduler: Scheduler) -> dict[str, dict[str, int]]:
    return {
        w.uid: {place.values[0]: place.count for p in w.podsets for place in p.placement} for w in scheduler.holders()
    }


def test_quota_without_place_does_not_admit() -> None:
    scheduler = Scheduler(cluster([node(0, 0, 0, 4), node(1, 0, 1, 4)], placed("w", 5, required="rack")))

    (decision,) = scheduler.cycle().decisions

    assert decision.outcome is Outcome.REFUSED
    assert decision.refusal is not None and decision.refusal.reason is RefusalReason.NEVER_FITS
    assert decision.refusal.details()[-1].english().startswith("Podset main: room for 4 of 5")


def test_a_workload_without_a_request_is_placed_too_when_every_flavor_has_a_topology() -> None:
    scheduler = Scheduler(cluster([node(0, 0, 0, 4)], placed("w", 3)))

    scheduler.cycle()

    assert hosts(scheduler) == {"w": {"n00": 3}}


def test_what_is_placed_takes_up_its_node_until_it_finishes() -> None:
    nodes = [node(0, 0, 0, 4), node(1, 0, 1, 2)]
    scheduler = Scheduler(cluster(nodes, placed("a", 4, required="rack"), placed("b", 3, required="rack", at_s=1.0)))
    settle(scheduler)
    assert hosts(scheduler) == {"a": {"n00": 4}}

    scheduler.finish("a")
    settle(scheduler)

    assert hosts(scheduler) == {"b": {"n00": 3}}


def test_a_higher_priority_takes_the_place_it_needs() -> None:
    nodes = [node(0, 0, 0, 4), node(1, 0, 1, 2)]
    scheduler = Scheduler(cluster(nodes, placed("low", 4, required="rack")))
    settle(scheduler)
    scheduler.submit(placed("high", 3, required="rack", priority=5))

    assert settle(scheduler) == ["low"]
    assert hosts(scheduler)["high"] == {"n00": 3}


def test_two_heads_of_one_cycle_do_not_get_the_same_node() -> None:
    start = world([queue("q1", 4, cohort="c", reclaim=ANY), queue("q2", 4, cohort="c", reclaim=ANY)])
    first = replace(placed("a", 2, required=HOSTNAME_LEVEL), queue="q1")
    second = replace(placed("b", 2, required=HOSTNAME_LEVEL, at_s=1.0), queue="q2")
    nodes = (node(0, 0, 0, 2), node(1, 0, 0, 2))
    scheduler = Scheduler(
        replace(start, flavors=(FLAVOR,), topologies=(TOPOLOGY,), nodes=nodes, pending=(first, second))
    )

    scheduler.cycle()

    assert hosts(scheduler) == {"a": {"n00": 2}, "b": {"n01": 2}}


def test_a_node_that_is_not_ready_or_cordoned_holds_nothing() -> None:
    nodes = [replace(node(0, 0, 0, 4), is_ready=False), replace(node(1, 0, 0, 4), is_schedulable=False)]

    assert Scheduler(cluster(nodes, placed("w", 1))).cycle().admitted == ()


def test_pods_outside_the_schedulers_sight_take_up_room() -> None:
    crowded = replace(node(0, 0, 0, 4), used={"gpu": 2, "pods": 1})

    assert Scheduler(cluster([crowded], placed("w", 3))).cycle().admitted == ()


def test_with_the_gate_off_nobody_is_placed() -> None:
    start = cluster([node(0, 0, 0, 1)], placed("w", 5))
    config = SchedulerConfig(gates=Gates(topology_aware_scheduling=False))

    assert [w.uid for w in Scheduler(replace(start, config=config)).cycle().admitted] == ["w"]
