"""Clients that tell when a change is about to be asked for and when its answer is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from core.json_value import JsonObject
from tools.clients.base import AwsClient, Clients, KubernetesClient, KubernetesConnector

_READS = ("Describe", "Get", "Head", "List", "Search", "Simulate")

Watch: TypeAlias = Callable[[str, str], None]
"""`watch("before" | "after", call)`; what it raises reaches the caller."""


def watched(clients: Clients, watch: Watch) -> Clients:
    """Reads are let through unseen: nothing outside the process differs between one and the next event."""
    return Clients(
        aws=_WatchedAws(clients.aws, watch), kubernetes=_WatchedConnector(clients.kubernetes, watch), tags=clients.tags
    )


class _WatchedAws:
    def __init__(self, aws: AwsClient, watch: Watch) -> None:
        self._aws, self._watch = aws, watch

    @property
    def region(self) -> str:
        return self._aws.region

    @property
    def account(self) -> str:
        return self._aws.account

    @property
    def is_local(self) -> bool:
        return self._aws.is_local

    def call(self, service: str, operation: str, params: JsonObject) -> JsonObject:
        if operation.startswith(_READS):
            return self._aws.call(service, operation, params)
        self._watch("before", f"{service}:{operation}")
        answer = self._aws.call(service, operation, params)
        self._watch("after", f"{service}:{operation}")
        return answer

    def pages(self, service: str, operation: str, params: JsonObject, key: str) -> Iterator[JsonObject]:
        return self._aws.pages(service, operation, params, key)


class _WatchedConnector:
    def __init__(self, connector: KubernetesConnector, watch: Watch) -> None:
        self._connector, self._watch = connector, watch

    def connect(self, eks_cluster_name: str) -> KubernetesClient:
        return _WatchedKubernetes(self._connector.connect(eks_cluster_name), self._watch)


class _WatchedKubernetes:
    def __init__(self, kubernetes: KubernetesClient, watch: Watch) -> None:
        self._kubernetes, self._watch = kubernetes, watch

    def get(self, kind: str, name: str, namespace: str | None = None) -> JsonObject:
        return self._kubernetes.get(kind, name, namespace)

    def list(
        self, kind: str, namespace: str | None = None, *, label_selector: str = "", field_selector: str = ""
    ) -> list[JsonObject]:
        return self._kubernetes.list(kind, namespace, label_selector=label_selector, field_selector=field_selector)

    def create(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        return self._seen("create", kind, lambda: self._kubernetes.create(kind, body, namespace))

    def patch(self, kind: str, name: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        return self._seen("patch", kind, lambda: self._kubernetes.patch(kind, name, body, namespace))

    def apply(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        return self._seen("patch", kind, lambda: self._kubernetes.apply(kind, body, namespace))

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        self._watch("before", _call("delete", kind))
        self._kubernetes.delete(kind, name, namespace)
        self._watch("after", _call("delete", kind))

    def logs(self, pod: str, namespace: str, *, tail_lines: int) -> str:
        return self._kubernetes.logs(pod, namespace, tail_lines=tail_lines)

    def _seen(self, verb: str, kind: str, send: Callable[[], JsonObject]) -> JsonObject:
        self._watch("before", _call(verb, kind))
        answer = send()
        self._watch("after", _call(verb, kind))
        return answer


def _call(verb: str, kind: str) -> str:
    """As the twin's log names it: `k8s:create:hyperpodpytorchjobs`."""
    return f"k8s:{verb}:{kind.rpartition('/')[2]}"
