"""How the gateway reaches the Kubernetes half, and what stands there while there is none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from twin.ports import JoiningNode, Orchestration

# ASGI's own types: what a scope and a message hold is open by design.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


class Record(Protocol):
    def __call__(self, call: str, took_effect: bool, status: int) -> None:
        """One mutating Kubernetes call into the request log."""


@dataclass(frozen=True, slots=True)
class KubernetesHalf:
    app: AsgiApp
    """Serves `/k8s/<EKS cluster>/...`, paths unchanged."""
    orchestration: Orchestration
    close: Callable[[], None] = lambda: None


class NoKubernetes:
    """Control planes that nobody can talk to: the AWS half alone."""

    def create_control_plane(self, eks_name: str) -> None:
        del eks_name

    def delete_control_plane(self, eks_name: str) -> None:
        del eks_name

    def node_joined(self, eks_name: str, node: JoiningNode) -> None:
        del eks_name, node

    def set_node_ready(self, eks_name: str, node_name: str, ready: bool, reason: str) -> None:
        del eks_name, node_name, ready, reason

    def set_node_label(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        del eks_name, node_name, label, value

    def node_left(self, eks_name: str, node_name: str) -> None:
        del eks_name, node_name


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Nobody is there."""
    del scope, receive
    await send({"type": "http.response.start", "status": 503, "headers": []})
    await send({"type": "http.response.body", "body": b"This twin was started without its Kubernetes half."})


def without_kubernetes() -> KubernetesHalf:
    return KubernetesHalf(app=refuse, orchestration=NoKubernetes())
