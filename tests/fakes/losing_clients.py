"""Clients that carry a change out and then lose the answer, or die before anybody could note it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tools.clients.base import AwsClient, Clients, KubernetesClient, KubernetesConnector
from tools.errors import OutcomeUnknown

_READS = ("Describe", "Get", "Head", "List", "Search")


class Killed(BaseException):
    """What SIGKILL is to a process: nothing after it runs, and nothing is written."""


@dataclass(slots=True)
class Losses:
    """`is_lost(call, n)`: whether the answer of the n-th change (from 0) is lost. `lost` names those that were."""

    is_lost: Callable[[str, int], bool]
    kills: bool = False
    """True: the caller dies instead of hearing that the answer was lost."""
    lost: list[str] = field(default_factory=list)
    seen: int = 0

    def after(self, call: str) -> None:
        number, self.seen = self.seen, self.seen + 1
        if self.is_lost(call, number):
            self.lost.append(call)
            if self.kills:
                raise Killed(call)
            raise OutcomeUnknown(
                message("tools.outcome_unknown", call=call, code="lost", raw="the answer was lost"),
                call=call,
                failure_class=FailureClass.UNKNOWN,
            )


def losing(clients: Clients, losses: Losses) -> Clients:
    return Clients(
        aws=_LosingAws(clients.aws, losses), kubernetes=_LosingConnector(clients.kubernetes, losses), tags=clients.tags
    )


class _LosingAws:
    def __init__(self, aws: AwsClient, losses: Losses) -> None:
        self._aws, self._losses = aws, losses

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
        answer = self._aws.call(service, operation, params)
        if not operation.startswith(_READS):
            self._losses.after(f"{service}:{operation}")
        return answer

    def pages(self, service: str, operation: str, params: JsonObject, key: str) -> Iterator[JsonObject]:
        return self._aws.pages(service, operation, params, key)


class _LosingConnector:
    def __init__(self, connector: KubernetesConnector, losses: Losses) -> None:
        self._connector, self._losses = connector, losses

    def connect(self, eks_cluster_name: str) -> KubernetesClient:
        return _LosingKubernetes(self._connector.connect(eks_cluster_name), self._losses)


class _LosingKubernetes:
    def __init__(self, kubernetes: KubernetesClient, losses: Losses) -> None:
        self._kubernetes, self._losses = kubernetes, losses

    def get(self, kind: str, name: str, namespace: str | None = None) -> JsonObject:
        return self._kubernetes.get(kind, name, namespace)

    def list(
        self, kind: str, namespace: str | None = None, *, label_selector: str = "", field_selector: str = ""
    ) -> list[JsonObject]:
        return self._kubernetes.list(kind, namespace, label_selector=label_selector, field_selector=field_selector)

    def create(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        answer = self._kubernetes.create(kind, body, namespace)
        self._losses.after(f"k8s:create:{kind.rpartition('/')[2]}")
        return answer

    def patch(self, kind: str, name: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        answer = self._kubernetes.patch(kind, name, body, namespace)
        self._losses.after(f"k8s:patch:{kind.rpartition('/')[2]}")
        return answer

    def apply(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        answer = self._kubernetes.apply(kind, body, namespace)
        self._losses.after(f"k8s:patch:{kind.rpartition('/')[2]}")
        return answer

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        self._kubernetes.delete(kind, name, namespace)
        self._losses.after(f"k8s:delete:{kind.rpartition('/')[2]}")

    def logs(self, pod: str, namespace: str, *, tail_lines: int) -> str:
        return self._kubernetes.logs(pod, namespace, tail_lines=tail_lines)
