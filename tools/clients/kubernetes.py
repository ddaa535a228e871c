"""The API server of an EKS cluster, over the official client's transport.

Objects stay plain JSON: the client's generated models refuse what they do not know, and HyperPod's own kinds
are among it. Each verb is one request with a time limit and no hidden repetition.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final
from urllib.parse import quote, urlencode

from kubernetes.client.configuration import Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.client.rest import RESTClientObject
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from core.clock import Clock
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tools.clients.aws import BotoAws, is_loopback
from tools.clients.eks_token import EksTokens
from tools.errors import (
    Conflict,
    EndpointRefused,
    OutcomeUnknown,
    RejectedByPlatform,
    RetryableToolError,
    TargetNotFound,
    ToolError,
)
from tools.reading import at, text

FIELD_MANAGER: Final = "muster"
_TIMEOUT_SECONDS: Final = (5.0, 30.0)
"""To connect, and between two bytes of the answer."""
_PAGE: Final = 500


_ADDRESS_KEPT_FOR: Final = timedelta(minutes=5)
"""A control plane keeps its address for life; one that was deleted and made again gets another."""


@dataclass(frozen=True, slots=True)
class _Server:
    endpoint: str
    authority: str
    request: Callable[..., Any]
    found_at: datetime


class EksConnector:
    """`tools.clients.base.KubernetesConnector` for EKS: address and CA from eks:DescribeCluster."""

    def __init__(self, aws: BotoAws, clock: Clock) -> None:
        self._aws, self._clock, self._lock = aws, clock, Lock()
        self._tokens = EksTokens(aws.session, region=aws.region, endpoint_url=aws.endpoint_url, clock=clock)
        self._servers: dict[str, _Server] = {}

    def connect(self, eks_cluster_name: str) -> EksKubernetes:
        """Raises `TargetNotFound` without such a cluster, `Conflict` before it has an endpoint."""
        with self._lock:
            server = self._servers.get(eks_cluster_name)
        now = self._clock.now()
        if server is None or not timedelta() <= now - server.found_at < _ADDRESS_KEPT_FOR:
            server = self._find(eks_cluster_name, server, now)
            with self._lock:
                self._servers[eks_cluster_name] = server
        return EksKubernetes(eks_cluster_name, server, self._tokens, lambda: self._forget(eks_cluster_name))

    def _find(self, name: str, known: _Server | None, now: datetime) -> _Server:
        cluster = at(self._aws.call("eks", "DescribeCluster", {"name": name}), "cluster")
        endpoint, authority = text(cluster, "endpoint").rstrip("/"), text(cluster, "certificateAuthority", "data")
        if not endpoint:
            raise Conflict(
                message("tools.control_plane_not_ready", cluster=name, status=text(cluster, "status")),
                call="eks:DescribeCluster",
                failure_class=FailureClass.TRANSIENT,
            )
        if self._aws.is_local and not is_loopback(endpoint):
            raise EndpointRefused(message("tools.kubernetes_left_loopback", cluster=name, endpoint=endpoint))
        if known is not None and (known.endpoint, known.authority) == (endpoint, authority):
            return replace(known, found_at=now)
        rest: Any = RESTClientObject(_configuration(endpoint, authority))
        return _Server(endpoint, authority, rest.request, now)

    def _forget(self, name: str) -> None:
        """It did not answer: where it is is asked anew."""
        with self._lock:
            self._servers.pop(name, None)


class EksKubernetes:
    """`tools.clients.base.KubernetesClient` of one cluster."""

    def __init__(self, name: str, server: _Server, tokens: EksTokens, forget: Callable[[], None]) -> None:
        self._name, self._server, self._tokens, self._forget = name, server, tokens, forget

    def get(self, kind: str, name: str, namespace: str | None = None) -> JsonObject:
        return self._json("GET", "get", kind, name, namespace)

    def list(
        self, kind: str, namespace: str | None = None, *, label_selector: str = "", field_selector: str = ""
    ) -> list[JsonObject]:
        items: list[JsonObject] = []
        query = {"limit": str(_PAGE), "labelSelector": label_selector, "fieldSelector": field_selector}
        while True:
            page = self._json("GET", "list", kind, None, namespace, query=query)
            found = page.get("items")
            items += [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
            metadata = page.get("metadata")
            token = metadata.get("continue") if isinstance(metadata, Mapping) else None
            if not token:
                return items
            query = {**query, "continue": str(token)}

    def create(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        query = {"fieldManager": FIELD_MANAGER}
        return self._json("POST", "create", kind, None, namespace, body=body, query=query)

    def patch(self, kind: str, name: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        content_type, query = "application/merge-patch+json", {"fieldManager": FIELD_MANAGER}
        return self._json("PATCH", "patch", kind, name, namespace, body=body, query=query, content_type=content_type)

    def apply(self, kind: str, body: JsonObject, namespace: str | None = None) -> JsonObject:
        metadata = body.get("metadata")
        name = str(metadata.get("name")) if isinstance(metadata, Mapping) else ""
        content_type, query = "application/apply-patch+yaml", {"fieldManager": FIELD_MANAGER}
        return self._json("PATCH", "patch", kind, name, namespace, body=body, query=query, content_type=content_type)

    def delete(self, kind: str, name: str, namespace: str | None = None) -> None:
        self._json("DELETE", "delete", kind, name, namespace, query={"propagationPolicy": "Background"})

    def logs(self, pod: str, namespace: str, *, tail_lines: int) -> str:
        call = "k8s:get:pods/log"
        path = f"{_path('v1/pods', pod, namespace)}/log"
        return self._send("GET", path, call, query={"tailLines": str(tail_lines)}).decode(errors="replace")

    def _json(
        self,
        method: str,
        verb: str,
        kind: str,
        name: str | None,
        namespace: str | None,
        *,
        body: JsonObject | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> JsonObject:
        call = f"k8s:{verb}:{kind.rpartition('/')[2]}"
        answer = self._send(
            method, _path(kind, name, namespace), call, body=body, query=query, content_type=content_type
        )
        try:
            parsed: JsonObject = json.loads(answer)
        except ValueError as error:  # cut on its way: what it answered to may well have happened
            raise _no_answer(call, str(error), changes=method != "GET") from error
        return parsed

    def _send(
        self,
        method: str,
        path: str,
        call: str,
        *,
        body: JsonObject | None = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        filled = {key: value for key, value in (query or {}).items() if value}
        url = self._server.endpoint + path + (f"?{urlencode(filled)}" if filled else "")
        headers = {"Authorization": f"Bearer {self._tokens.token(self._name)}", "Accept": "application/json, */*"}
        if body is not None:
            headers["Content-Type"] = content_type
        try:
            response = self._server.request(method, url, headers=headers, body=body, _request_timeout=_TIMEOUT_SECONDS)
            answer = bytes(response.read())
        except (NewConnectionError, ConnectTimeoutError) as error:
            self._forget()
            raise _unreachable(call, str(error)) from error
        except (HTTPError, ApiException) as error:
            raise _no_answer(call, str(error), changes=method != "GET") from error
        if response.status >= 400:
            if response.status == 401:
                self._tokens.forget(self._name)
                self._forget()
            raise _from_status(int(response.status), answer, call, changes=method != "GET")
        return answer


def _configuration(endpoint: str, authority: str) -> Configuration:
    # An empty proxy rather than none: with none the client would look one up in the environment.
    data = base64.b64decode(authority).decode() if authority else None
    return Configuration(
        host=endpoint, ca_cert_data=data, proxy="", no_proxy="", retries=False, connection_pool_maxsize=8
    )


def _path(kind: str, name: str | None, namespace: str | None) -> str:
    """`v1/pods` lives under `/api`, `group/version/plural` under `/apis`."""
    group_version, _, plural = kind.rpartition("/")
    root = "/apis" if "/" in group_version else "/api"
    parts = [root, group_version, *(["namespaces", quote(namespace)] if namespace else []), plural]
    return "/".join(parts + ([quote(name)] if name else []))


def _from_status(status: int, answer: bytes, call: str, *, changes: bool) -> ToolError:
    """The error for a `Status` body, or for whatever else came with that HTTP status."""
    reason, raw = _reason(answer)
    code = reason or str(status)
    kind, failure_class, key = _classify(status, raw, changes=changes)
    return kind(message(key, call=call, code=code, raw=raw), call=call, failure_class=failure_class, code=code, raw=raw)


def _classify(status: int, raw: str, *, changes: bool) -> tuple[type[ToolError], FailureClass, str]:
    match status:
        case 404:
            return TargetNotFound, FailureClass.CONFIG, "tools.target_not_found"
        case 409:
            return Conflict, FailureClass.TRANSIENT, "tools.conflict"
        case 429:
            return RetryableToolError, FailureClass.TRANSIENT, "tools.throttled"
        case 403 if "exceeded quota" in raw:
            return RejectedByPlatform, FailureClass.QUOTA, "tools.rejected"
        case 401 | 403:
            return RejectedByPlatform, FailureClass.PERMISSION, "tools.rejected"
        case _ if status < 500:
            return RejectedByPlatform, FailureClass.CONFIG, "tools.rejected"
        case _ if changes:
            return OutcomeUnknown, FailureClass.UNKNOWN, "tools.outcome_unknown"
        case _:
            return RetryableToolError, FailureClass.TRANSIENT, "tools.service_error"


def _reason(answer: bytes) -> tuple[str, str]:
    try:
        status = json.loads(answer)
    except ValueError:
        return "", answer[:500].decode(errors="replace")
    if not isinstance(status, dict):
        return "", str(status)[:500]
    return str(status.get("reason", "")), str(status.get("message", ""))


def _unreachable(call: str, raw: str) -> RetryableToolError:
    return RetryableToolError(
        message("tools.unreachable", call=call, raw=raw), call=call, failure_class=FailureClass.TRANSIENT, raw=raw
    )


def _no_answer(call: str, raw: str, *, changes: bool) -> ToolError:
    if not changes:
        return _unreachable(call, raw)
    return OutcomeUnknown(
        message("tools.outcome_unknown", call=call, code="no answer", raw=raw),
        call=call,
        failure_class=FailureClass.UNKNOWN,
        raw=raw,
    )
