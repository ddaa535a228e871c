"""The control planes of the twin: one API server per EKS cluster, with the nodes that join it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from core.clock import Clock
from twin.kube import nodes
from twin.kube.custom import kind_of_definition
from twin.kube.journal import Journal
from twin.kube.kinds import Kind, Kinds
from twin.kube.objects import Obj, ObjectName, merged, name_of, number, objects, strings, text, timestamp, uid_of
from twin.kube.resources import Resources
from twin.kube.store import ObjectStore
from twin.ports import JoiningNode, NodeAgent

_NAMESPACES: Final = (
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "aws-hyperpod",
    "kueue-system",
)
REBOOTING: Final = "Rebooting"
"""The reason with which a node stops being ready because its machine goes down and comes back."""
_KEPT_EVENTS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeConfig:
    """Where the Kubernetes half keeps its things."""

    folder: Path
    """Objects in `kube.sqlite`, pods' logs and working directories under `pods/`."""

    @property
    def pods(self) -> Path:
        return self.folder / "pods"


class ControlPlane:
    """One API server: its registry of kinds, its objects and the events it writes about them."""

    def __init__(self, name: str, journal: Journal, clock: Clock, random: Random) -> None:
        self.name = name
        self.kinds = Kinds()
        self.store = ObjectStore(name, journal)
        self.resources = Resources(self.store, self.kinds, clock, random)
        self.clock = clock
        self.closed = False
        for definition in self.store.objects("customresourcedefinitions.apiextensions.k8s.io"):
            self._follow_definition(None, definition)
        self.resources.on_write.append(self._written)
        for namespace in _NAMESPACES:
            if self.store.get("namespaces", ObjectName("", namespace)) is None:
                self.resources.add("namespaces", {"metadata": {"name": namespace}})

    def event(self, about: Obj, reason: str, message: str, *, component: str, warning: bool = False) -> None:
        """A `core/v1` Event; the same news about the same object is counted, not repeated."""
        with self.store.lock:
            self._event(about, reason, message, component, warning)

    def _event(self, about: Obj, reason: str, message: str, component: str, warning: bool) -> None:
        now, subject = timestamp(self.clock.now()), name_of(about)
        namespace = subject.namespace or "default"
        for event in reversed(self.store.objects("events", namespace)):
            said = (text(event, "involvedObject", "uid"), text(event, "reason"), text(event, "message"))
            if said == (uid_of(about), reason, message):
                again: Obj = {"count": (number(event, "count") or 1) + 1, "lastTimestamp": now}
                self.store.write("events", name_of(event), {**event, **again})
                return
        self.resources.add(
            "events",
            {
                "metadata": {"name": f"{subject.name}.{self.store.version:016x}", "namespace": namespace},
                "involvedObject": {
                    "apiVersion": about.get("apiVersion"),
                    "kind": about.get("kind"),
                    "name": subject.name,
                    "namespace": subject.namespace,
                    "uid": uid_of(about),
                },
                "reason": reason,
                "message": message,
                "type": "Warning" if warning else "Normal",
                "source": {"component": component},
                "reportingComponent": component,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
            },
        )
        self._forget_old_events(namespace)

    def _forget_old_events(self, namespace: str) -> None:
        events = self.store.objects("events", namespace)
        for event in sorted(events, key=lambda e: text(e, "lastTimestamp"))[:-_KEPT_EVENTS]:
            self.resources.remove("events", name_of(event))

    def _written(self, kind: Kind, before: Obj | None, after: Obj | None) -> None:
        if kind.plural == "customresourcedefinitions":
            self._follow_definition(before, after)

    def _follow_definition(self, before: Obj | None, after: Obj | None) -> None:
        for row in kind_of_definition(before) if before else ():
            if after is None:
                self.kinds.remove(row)
                for obj in self.store.objects(row.resource):
                    self.resources.remove(row.resource, name_of(obj))
        for row in kind_of_definition(after) if after else ():
            self.kinds.add(row)


class ControlPlanes:
    """All control planes: `twin.ports.Orchestration`; they survive the twin's death in its folder.

    Where the control plane is gone, news about its nodes reaches nobody: an EKS cluster may be deleted first.
    """

    def __init__(self, config: KubeConfig, clock: Clock, random: Random, agent: NodeAgent | None = None) -> None:
        config.pods.mkdir(parents=True, exist_ok=True)
        self.config = config
        self.clock = clock
        self.agent = agent
        """Set before serving: the AWS half, which hears of labels set on nodes."""
        self.on_node_left: list[Callable[[ControlPlane, str], None]] = []
        """Called before the node object goes: whoever runs pods there must end them."""
        self.on_node_down: list[Callable[[ControlPlane, str], None]] = []
        """Called when the machine under a node reboots."""
        self.on_plane_deleted: list[Callable[[ControlPlane], None]] = []
        self.on_changed: list[Callable[[], None]] = []
        """Called after a control plane has come or gone."""
        self._random = random
        self._journal = Journal(config.folder / "kube.sqlite")
        self._planes = {name: self._open(name) for name in self._journal.planes()}

    def find(self, eks_name: str) -> ControlPlane | None:
        return self._planes.get(eks_name)

    def all(self) -> list[ControlPlane]:
        return list(self._planes.values())

    def create_control_plane(self, eks_name: str) -> None:
        if eks_name not in self._planes:
            self._journal.add_plane(eks_name)
            self._planes[eks_name] = self._open(eks_name)
            self._changed()

    def delete_control_plane(self, eks_name: str) -> None:
        plane = self._planes.pop(eks_name, None)
        if plane is not None:
            plane.closed = True
            for told in self.on_plane_deleted:
                told(plane)
            self._journal.drop_plane(eks_name)
            self._changed()

    def fresh_id(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def reset(self) -> None:
        """As if the twin had just been made."""
        for name in list(self._planes):
            self.delete_control_plane(name)
        shutil.rmtree(self.config.folder / "volumes", ignore_errors=True)

    def node_joined(self, eks_name: str, node: JoiningNode) -> None:
        plane = self.find(eks_name)
        if plane is None:
            return
        fresh = nodes.node_object(node, self.clock.now())
        if plane.store.get("nodes", ObjectName("", node.name)) is None:
            made = plane.resources.add("nodes", fresh)
            plane.event(made, "RegisteredNode", f"Node {node.name} joined", component="node-controller")

    def set_node_ready(self, eks_name: str, node_name: str, ready: bool, reason: str) -> None:
        plane = self.find(eks_name)
        if plane is None:
            return
        nodes.set_ready(plane.resources, node_name, ready=ready, reason=reason)
        node = plane.store.get("nodes", ObjectName("", node_name))
        if node is not None:
            for told in self.on_node_down if not ready and reason == REBOOTING else ():
                told(plane, node_name)
            word = "NodeReady" if ready else "NodeNotReady"
            plane.event(node, word, f"Node {node_name} status is now: {word}", component="node-controller")

    def set_node_label(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        self._change_node(eks_name, node_name, lambda node: merged(node, {label: value}, "metadata", "labels"))

    def set_node_taint(self, eks_name: str, node_name: str, key: str, value: str, present: bool) -> None:
        def tainted(node: Obj) -> Obj:
            others = [taint for taint in objects(node, "spec", "taints") if text(taint, "key") != key]
            own: list[Obj] = [{"key": key, "value": value, "effect": "NoSchedule"}] if present else []
            return merged(node, {"taints": [*others, *own]}, "spec")

        self._change_node(eks_name, node_name, tainted)

    def node_left(self, eks_name: str, node_name: str) -> None:
        plane = self.find(eks_name)
        if plane is None:
            return
        for told in self.on_node_left:
            told(plane, node_name)
        plane.resources.remove("nodes", ObjectName("", node_name))

    def close(self) -> None:
        self._journal.close()

    def _open(self, name: str) -> ControlPlane:
        plane = ControlPlane(name, self._journal, self.clock, self._random)
        plane.resources.on_write.append(lambda kind, before, after: self._report_labels(name, kind, before, after))
        return plane

    def _changed(self) -> None:
        for told in self.on_changed:
            told()

    def _change_node(self, eks_name: str, node_name: str, change: Callable[[Obj], Obj]) -> None:
        plane = self.find(eks_name)
        if plane is not None:
            plane.resources.modify("nodes", ObjectName("", node_name), change)

    def _report_labels(self, eks_name: str, kind: Kind, before: Obj | None, after: Obj | None) -> None:
        """Only what clients of the API write: the AWS half knows what it set itself."""
        if kind.resource != "nodes" or self.agent is None or before is None or after is None:
            return
        old, new = strings(before, "metadata", "labels"), strings(after, "metadata", "labels")
        for label in sorted(set(old) | set(new)):
            if old.get(label) != new.get(label):
                self.agent.label_changed(eks_name, name_of(after).name, label, new.get(label))
