"""The ports. Adapters stand beside this module; `interfaces.bootstrap` alone wires them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from core.json_value import JsonObject


class AwsClient(Protocol):
    """AWS by service and operation name, as boto3 spells them (`sagemaker`, `CreateCluster`)."""

    @property
    def region(self) -> str: ...

    @property
    def account(self) -> str:
        """The account that the credentials belong to (STS), read once."""
        ...

    @property
    def is_local(self) -> bool:
        """True when the endpoint is on loopback: the twin, never the real cloud."""
        ...

    def call(self, service: str, operation: str, params: JsonObject) -> JsonObject:
        """One request, one answer, no hidden retry for anything that changes something.

        Time stamps come back as ISO 8601 text. Raises `tools.errors.ToolError`.
        """
        ...

    def pages(self, service: str, operation: str, params: JsonObject, key: str) -> Iterator[JsonObject]:
        """The items under `key` of every page. Raises `tools.errors.ToolError`."""
        ...


class KubernetesClient(Protocol):
    """One cluster's API server. Objects are plain JSON; `kind` is `group/version/plural` (`v1/pods`)."""

    def get(self, kind: str, name: str, namespace: str | None = None) -> JsonObject:
        """Raises `TargetNotFound` when absent, like every verb here another `ToolError` on other trouble."""
        ...

    def list(
        self, kind: str, namespace: str | None = None, *, label_selector: str = "", field_selector: str = ""
    ) -> list[JsonObject]: ...

    def create(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject: ...

    def patch(self, kind: str, name: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        """JSON merge patch."""
        ...

    def apply(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        """Server-side apply as field manager `muster`, without force."""
        ...

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None: ...

    def logs(self, pod: str, namespace: str, *, tail_lines: int) -> str: ...


class KubernetesConnector(Protocol):
    """Opens the API server of an EKS cluster by its name."""

    def connect(self, eks_cluster_name: str) -> KubernetesClient: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Every way out of the process, passed down; nothing else talks to the outside."""

    aws: AwsClient
    kubernetes: KubernetesConnector
    tags: Mapping[str, str]
    """Put on everything that Muster creates, e.g. `{"muster:managed": "true"}`."""
