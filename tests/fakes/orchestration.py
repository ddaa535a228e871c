"""A Kubernetes half without an API: it remembers which nodes it was told about."""

from __future__ import annotations

from dataclasses import dataclass, field

from twin.kubernetes_half import KubernetesSite, Receive, Scope, Send
from twin.ports import JoiningNode, Workloads


@dataclass(slots=True)
class FakeNode:
    joined: JoiningNode
    is_ready: bool = False
    labels: dict[str, str] = field(default_factory=dict)
    taints: dict[str, str] = field(default_factory=dict)


class FakeOrchestration:
    """`planes`: EKS cluster -> node name -> node."""

    def __init__(self) -> None:
        self.planes: dict[str, dict[str, FakeNode]] = {}

    def create_control_plane(self, eks_name: str) -> None:
        self.planes[eks_name] = {}

    def delete_control_plane(self, eks_name: str) -> None:
        del self.planes[eks_name]

    def node_joined(self, eks_name: str, node: JoiningNode) -> None:
        self.planes[eks_name][node.name] = FakeNode(node, labels=dict(node.labels))

    def set_node_ready(self, eks_name: str, node_name: str, ready: bool, reason: str) -> None:
        self.planes[eks_name][node_name].is_ready = ready

    def set_node_label(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        labels = self.planes[eks_name][node_name].labels
        labels.pop(label, None)
        if value is not None:
            labels[label] = value

    def set_node_taint(self, eks_name: str, node_name: str, key: str, value: str, present: bool) -> None:
        taints = self.planes[eks_name][node_name].taints
        taints.pop(key, None)
        if present:
            taints[key] = value

    def node_left(self, eks_name: str, node_name: str) -> None:
        self.planes[eks_name].pop(node_name, None)


class FakeKubernetes:
    """For the AWS half alone; `site.agent` is what a Kubernetes half would call."""

    def __init__(self, site: KubernetesSite) -> None:
        self.site, self.orchestration = site, FakeOrchestration()
        self.workloads: Workloads | None = None

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def reset(self) -> None:
        self.orchestration.planes.clear()

    def close(self) -> None:
        pass
