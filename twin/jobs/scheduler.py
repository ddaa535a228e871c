"""Binds waiting pods to nodes: a job's pods all at once or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from core.json_value import JsonValue
from twin.jobs.admission import Admission, Gang, GangPod, NodeRoom, Placement, Refusal, WaitReason
from twin.jobs.volumes import unbound_claim
from twin.kube import nodes
from twin.kube.objects import (
    Obj,
    dig,
    is_terminating,
    name_of,
    objects,
    owner_of,
    put,
    strings,
    text,
    uid_of,
    with_condition,
)
from twin.kube.planes import ControlPlane
from twin.kube.quantity import requests_of, room_on

GANG_SIZE: Final = "muster.dev/gang-size"
"""Annotation of a job's pods: how many of them must be there before any is bound."""
COMPONENT: Final = "default-scheduler"


class Scheduler:
    """`most_pods` bounds the processes of the whole twin, as it lives on a small machine."""

    def __init__(self, admission: Admission, most_pods: int) -> None:
        self._admission = admission
        self._most_pods = most_pods

    def schedule(self, plane: ControlPlane, bound_elsewhere: int) -> None:
        """One round; `bound_elsewhere`: live pods of other control planes."""
        pods = [pod for pod in plane.store.objects("pods") if text(pod, "status", "phase") in ("Pending", "Running")]
        waiting = [pod for pod in pods if not text(pod, "spec", "nodeName") and not is_terminating(pod)]
        if not waiting:
            return
        bound = [pod for pod in pods if text(pod, "spec", "nodeName")]
        rooms = list(_rooms(plane, bound))
        left = self._most_pods - len(bound) - bound_elsewhere
        ready: list[tuple[Gang, list[Obj]]] = []
        for gang_id, members in _gangs(waiting).items():
            refusal, gang = _gang(plane, gang_id, members)
            if gang is None or refusal is not None:
                _refuse(plane, members, refusal)
            else:
                ready.append((gang, members))
        decisions = self._admission.decide([gang for gang, _ in ready], rooms)
        for gang, members in ready:
            decision = decisions[gang.id]
            if isinstance(decision, Placement) and len(members) > left:
                decision = self._over_limit(len(members))
            if isinstance(decision, Placement):
                left -= len(members)
                _bind(plane, members, decision)
            else:
                _refuse(plane, members, decision)

    def _over_limit(self, wanted: int) -> Refusal:
        message = (
            f"the twin runs at most {self._most_pods} pods at once on this machine and {wanted} more would exceed it"
        )
        return Refusal(reason=WaitReason.POD_LIMIT, message=message)


def _gangs(waiting: Sequence[Obj]) -> dict[str, list[Obj]]:
    found: dict[str, list[Obj]] = {}
    for pod in waiting:
        found.setdefault(text(owner_of(pod), "uid") or uid_of(pod), []).append(pod)
    return found


def _gang(plane: ControlPlane, gang_id: str, members: Sequence[Obj]) -> tuple[Refusal | None, Gang | None]:
    size = strings(members[0], "metadata", "annotations").get(GANG_SIZE, "1")
    if str(len(members)) != size:
        return Refusal(reason=WaitReason.INCOMPLETE, message=f"{len(members)} of {size} pods are there"), None
    if why := next(filter(None, (unbound_claim(plane, pod) for pod in members)), ""):
        return Refusal(reason=WaitReason.UNBOUND_CLAIM, message=why), None
    try:
        pods = [
            GangPod(
                name=name_of(pod).name,
                requests=requests_of(pod),
                node_selector=strings(pod, "spec", "nodeSelector"),
                tolerations=objects(pod, "spec", "tolerations"),
            )
            for pod in members
        ]
    except ValueError as error:
        return Refusal(reason=WaitReason.BAD_REQUEST, message=str(error)), None
    name = text(owner_of(members[0]), "name") or name_of(members[0]).name
    created = min(text(pod, "metadata", "creationTimestamp") for pod in members)
    return None, Gang(id=gang_id, namespace=name_of(members[0]).namespace, name=name, created=created, pods=pods)


def _rooms(plane: ControlPlane, bound: Sequence[Obj]) -> Iterable[NodeRoom]:
    """Nodes that are ready, not cordoned and, by HyperPod's label, healthy."""
    for node in plane.store.objects("nodes"):
        name, labels = name_of(node).name, strings(node, "metadata", "labels")
        healthy = labels.get(nodes.HEALTH_LABEL, nodes.SCHEDULABLE) == nodes.SCHEDULABLE
        if nodes.is_ready(node) and healthy and dig(node, "spec", "unschedulable") is not True:
            here = [pod for pod in bound if text(pod, "spec", "nodeName") == name]
            try:
                free = room_on(node, here)
            except ValueError:  # someone wrote nonsense into the node's status: nothing can be placed there
                continue
            yield NodeRoom(name=name, labels=labels, taints=objects(node, "spec", "taints"), free=free)


def _bind(plane: ControlPlane, members: Sequence[Obj], placement: Placement) -> None:
    now = plane.clock.now()

    def bound(pod: Obj) -> Obj:
        placed = put(pod, placement.nodes[name_of(pod).name], "spec", "nodeName")
        return with_condition(placed, "PodScheduled", status="True", reason="", message="", now=now)

    for pod in members:
        after = plane.resources.modify("pods", name_of(pod), bound)
        if after is not None:
            where = f"{'/'.join(name_of(pod))} to {placement.nodes[name_of(pod).name]}"
            plane.event(after, "Scheduled", f"Successfully assigned {where}", component=COMPONENT)


def _refuse(plane: ControlPlane, members: Sequence[Obj], refusal: Refusal | None) -> None:
    if refusal is None:
        return
    now = plane.clock.now()

    def waiting(pod: Obj) -> Obj:
        said = with_condition(
            pod, "PodScheduled", status="False", reason="Unschedulable", message=refusal.message, now=now
        )
        conditions: list[JsonValue] = [
            {**c, "twinReason": refusal.reason.value} if c.get("type") == "PodScheduled" else c
            for c in objects(said, "status", "conditions")
        ]
        return put(said, conditions, "status", "conditions")

    for pod in members:
        before = plane.store.get("pods", name_of(pod))
        after = plane.resources.modify("pods", name_of(pod), waiting)
        if after is not None and after != before:
            plane.event(after, "FailedScheduling", refusal.message, component=COMPONENT, warning=True)
