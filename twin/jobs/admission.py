"""Which waiting gang may start where. `Admission` is the seam; first come, first served is its simplest answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from twin.kube.objects import Obj, text


class WaitReason(StrEnum):
    """Why a gang is not started. The value stands in the pods' conditions."""

    NO_NODE = "no_usable_node"
    NO_ROOM = "insufficient_resources"
    POD_LIMIT = "twin_pod_limit"
    UNBOUND_CLAIM = "unbound_claim"
    INCOMPLETE = "gang_incomplete"
    BAD_REQUEST = "unreadable_request"


@dataclass(frozen=True, slots=True, kw_only=True)
class GangPod:
    name: str
    requests: Mapping[str, int]
    """In thousandths of each unit."""
    node_selector: Mapping[str, str]
    tolerations: Sequence[Obj]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gang:
    """Pods that start together or not at all; a lone pod is a gang of one."""

    id: str
    namespace: str
    name: str
    created: str
    pods: Sequence[GangPod]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRoom:
    """A ready, schedulable node. `free` in thousandths."""

    name: str
    labels: Mapping[str, str]
    taints: Sequence[Obj]
    free: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    nodes: Mapping[str, str]
    """Pod name -> node name, for every pod of the gang."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    reason: WaitReason
    message: str


class Admission(Protocol):
    def decide(self, waiting: Sequence[Gang], nodes: Sequence[NodeRoom]) -> Mapping[str, Placement | Refusal]:
        """One decision per gang id."""


class FirstComeFirstServed:
    """In the order of creation; a gang that does not fit lets later ones pass (Kueue's BestEffortFIFO)."""

    def decide(self, waiting: Sequence[Gang], nodes: Sequence[NodeRoom]) -> Mapping[str, Placement | Refusal]:
        free = {node.name: dict(node.free) for node in nodes}
        decisions: dict[str, Placement | Refusal] = {}
        for gang in sorted(waiting, key=lambda gang: (gang.created, gang.namespace, gang.name)):
            decision = _place(gang, nodes, free)
            if isinstance(decision, Placement):
                for pod in gang.pods:
                    _take(free[decision.nodes[pod.name]], pod.requests)
            decisions[gang.id] = decision
        return decisions


def _place(gang: Gang, nodes: Sequence[NodeRoom], free: Mapping[str, Mapping[str, int]]) -> Placement | Refusal:
    if not nodes:
        return Refusal(reason=WaitReason.NO_NODE, message="no node is ready and schedulable")
    left = {name: dict(amounts) for name, amounts in free.items()}
    placed: dict[str, str] = {}
    held: Counter[str] = Counter()
    for pod in gang.pods:
        fitting = [node for node in nodes if _may_run(pod, node) and not _lacking(left[node.name], pod.requests)]
        if not fitting:
            return Refusal(reason=WaitReason.NO_ROOM, message=_why(gang, pod, nodes, left, placed))
        # Spread a gang: one pod per node where there is a choice, as training jobs have it.
        chosen = min(fitting, key=lambda node: (held[node.name], node.name)).name
        placed[pod.name] = chosen
        held[chosen] += 1
        _take(left[chosen], pod.requests)
    return Placement(nodes=placed)


def _why(
    gang: Gang,
    pod: GangPod,
    nodes: Sequence[NodeRoom],
    left: Mapping[str, Mapping[str, int]],
    placed: Mapping[str, str],
) -> str:
    """In the words of kube-scheduler, and what the gang as a whole lacks."""
    reasons: Counter[str] = Counter()
    for node in nodes:
        if not _may_run(pod, node):
            reasons["node(s) didn't match Pod's node affinity/selector or taints"] += 1
        else:
            reasons.update(f"Insufficient {name}" for name in _lacking(left[node.name], pod.requests))
    listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    message = f"0/{len(nodes)} nodes are available: {listed}."
    if len(gang.pods) > 1:
        message += f" The gang needs {len(gang.pods)} pods at once; {len(placed)} would fit."
    return message


def _may_run(pod: GangPod, node: NodeRoom) -> bool:
    if any(node.labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    return all(
        text(taint, "effect") == "PreferNoSchedule"
        or any(_tolerates(toleration, taint) for toleration in pod.tolerations)
        for taint in node.taints
    )


def _tolerates(toleration: Obj, taint: Obj) -> bool:
    if text(toleration, "effect") not in ("", text(taint, "effect")):
        return False
    if text(toleration, "operator") == "Exists":
        return text(toleration, "key") in ("", text(taint, "key"))
    return (text(toleration, "key"), text(toleration, "value")) == (text(taint, "key"), text(taint, "value"))


def _lacking(free: Mapping[str, int], wanted: Mapping[str, int]) -> list[str]:
    return [name for name, amount in wanted.items() if amount > free.get(name, 0)]


def _take(free: dict[str, int], wanted: Mapping[str, int]) -> None:
    for name, amount in wanted.items():
        free[name] = free.get(name, 0) - amount
