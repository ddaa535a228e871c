"""First come, first served: all pods of a gang or none, and a sentence for each that waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from core.json_value import JsonObject
from twin.jobs.admission import FirstComeFirstServed, Gang, GangPod, NodeRoom, Placement, Refusal, WaitReason

GPU = "nvidia.com/gpu"


def gang(
    name: str,
    pods: int,
    gpus: int,
    created: str = "2026-03-01T12:00:00Z",
    selector: Mapping[str, str] | None = None,
    tolerations: tuple[JsonObject, ...] = (),
) -> Gang:
    members = [
        GangPod(
            name=f"{name}-{i}",
            requests={GPU: gpus * 1000, "pods": 1000},
            node_selector=selector or {},
            tolerations=tolerations,
        )
        for i in range(pods)
    ]
    return Gang(id=name, namespace="default", name=name, created=created, pods=members)


def node(name: str, gpus: int, taints: tuple[JsonObject, ...] = (), **labels: str) -> NodeRoom:
    return NodeRoom(name=name, labels=labels, taints=taints, free={GPU: gpus * 1000, "pods": 110_000})


def decide(waiting: list[Gang], nodes: list[NodeRoom]) -> Mapping[str, Placement | Refusal]:
    return FirstComeFirstServed().decide(waiting, nodes)


def test_a_gang_takes_whole_nodes() -> None:
    decision = decide([gang("a", 2, 8)], [node("n1", 8), node("n2", 8)])["a"]

    assert decision == Placement(nodes={"a-0": "n1", "a-1": "n2"})


def test_a_gang_is_spread_over_nodes_while_there_is_a_choice() -> None:
    decision = decide([gang("a", 3, 1)], [node("n1", 8), node("n2", 8)])["a"]

    assert isinstance(decision, Placement)
    assert Counter(decision.nodes.values()) == {"n1": 2, "n2": 1}


def test_a_gang_that_fits_in_part_is_not_started() -> None:
    decision = decide([gang("a", 3, 8)], [node("n1", 8), node("n2", 8)])["a"]

    assert decision == Refusal(
        reason=WaitReason.NO_ROOM,
        message="0/2 nodes are available: 2 Insufficient nvidia.com/gpu. The gang needs 3 pods at once; 2 would fit.",
    )


def test_the_first_comer_is_served_first_and_a_smaller_one_may_pass() -> None:
    first = gang("first", 2, 8, created="2026-03-01T12:00:01Z")
    second = gang("second", 1, 8, created="2026-03-01T12:00:02Z")

    enough = decide([second, first], [node("n1", 8), node("n2", 8)])
    short = decide([second, first], [node("n1", 8)])

    assert isinstance(enough["first"], Placement)
    assert isinstance(enough["second"], Refusal)
    assert isinstance(short["first"], Refusal)
    assert isinstance(short["second"], Placement)


def test_without_nodes_the_reason_is_that() -> None:
    decision = decide([gang("a", 1, 0)], [])["a"]

    assert isinstance(decision, Refusal)
    assert decision.reason is WaitReason.NO_NODE


def test_node_selectors_and_taints_are_obeyed() -> None:
    tainted: JsonObject = {"key": "team", "value": "x", "effect": "NoSchedule"}
    nodes = [node("n1", 8, (tainted,), zone="a"), node("n2", 8, zone="b")]

    wrong_zone = decide([gang("a", 1, 8, selector={"zone": "c"})], nodes)["a"]
    untolerated = decide([gang("a", 1, 8, selector={"zone": "a"})], nodes)["a"]
    tolerated = decide(
        [gang("a", 1, 8, selector={"zone": "a"}, tolerations=({"key": "team", "operator": "Exists"},))], nodes
    )["a"]

    assert isinstance(wrong_zone, Refusal)
    assert isinstance(untolerated, Refusal)
    assert tolerated == Placement(nodes={"a-0": "n1"})


@settings(max_examples=60, deadline=None)
@given(
    gangs=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 8)), max_size=6),
    rooms=st.lists(st.integers(0, 8), max_size=5),
)
def test_no_node_is_ever_overfilled_and_gangs_are_whole(gangs: list[tuple[int, int]], rooms: list[int]) -> None:
    waiting = [gang(f"g{i}", pods, gpus, created=f"2026-03-01T12:00:{i:02}Z") for i, (pods, gpus) in enumerate(gangs)]
    nodes = [node(f"n{i}", gpus) for i, gpus in enumerate(rooms)]

    decisions = decide(waiting, nodes)

    used: Counter[str] = Counter()
    for wanted in waiting:
        decision = decisions[wanted.id]
        if isinstance(decision, Placement):
            assert set(decision.nodes) == {pod.name for pod in wanted.pods}
            for pod in wanted.pods:
                used[decision.nodes[pod.name]] += pod.requests[GPU]
    assert all(used[n.name] <= n.free[GPU] for n in nodes)
