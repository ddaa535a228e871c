"""AWS over boto3: one request, one answer, errors that say whether anything happened.

The session and the endpoint are given; nothing is read from the environment here. botocore's own retries are
off, because they repeat a CreateCluster whose answer was lost; throttled reads are repeated here instead.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from threading import Lock
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import boto3
from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, IncompleteReadError, UnknownServiceError
from botocore.loaders import create_loader
from botocore.model import OperationModel, ServiceModel
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_random_exponential

from core.json_value import JsonObject, JsonValue
from core.messages.message import message
from core.reasons import FailureClass
from tools.clients.aws_errors import from_service, from_transport, not_sent
from tools.clients.aws_validation import violations
from tools.errors import EndpointRefused, RejectedByPlatform, RetryableToolError

_READS: Final = ("Describe", "Get", "Head", "List", "Search", "Simulate")
_HOME_REGION: Final[Mapping[str, str]] = {"pricing": "us-east-1"}
"""Services that answer in few regions only: the one to ask."""
_READ_ATTEMPTS: Final = 5
_READ_RETRY_SECONDS: Final = 20.0


class _BotoClient(Protocol):
    """As much of a boto3 client as is used here."""

    @property
    def meta(self) -> Any: ...


class BotoAws:
    """`tools.clients.base.AwsClient` over boto3."""

    def __init__(
        self,
        session: boto3.Session,
        *,
        region: str,
        endpoint_url: str | None = None,
        allow_loopback: bool = False,
        connect_timeout_seconds: float = 5.0,
        read_timeout_seconds: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`endpoint_url` serves every service; absent = the real cloud. Raises `EndpointRefused` for a loopback
        endpoint unless `allow_loopback`: production must not talk to a twin by accident."""
        self._is_local = endpoint_url is not None and is_loopback(endpoint_url)
        if self._is_local and not allow_loopback:
            raise EndpointRefused(message("tools.loopback_refused", endpoint=endpoint_url or ""))
        self.session, self.endpoint_url = session, endpoint_url
        self._region, self._sleep = region, sleep
        self._config = Config(
            retries={"total_max_attempts": 1},
            connect_timeout=connect_timeout_seconds,
            read_timeout=read_timeout_seconds,
            ignore_configured_endpoint_urls=True,
            max_pool_connections=16,
            s3={"addressing_style": "path"} if self._is_local else None,
        )
        self._lock = Lock()
        self._clients: dict[str, _BotoClient] = {}
        self._paginators: dict[str, Mapping[str, Any]] = {}
        self._account: str | None = None

    @property
    def region(self) -> str:
        return self._region

    @property
    def is_local(self) -> bool:
        return self._is_local

    @property
    def account(self) -> str:
        if self._account is None:
            self._account = str(self.call("sts", "GetCallerIdentity", {})["Account"])
        return self._account

    def open_clients(self, services: Sequence[str]) -> None:
        """Makes what calls to these services need, without a connection: for a process that forks others."""
        for service in services:
            self._client(service)

    def call(self, service: str, operation: str, params: JsonObject) -> JsonObject:
        client = self._client(service)
        name = f"{service}:{operation}"
        self._check(client, name, operation, params)
        if not operation.startswith(_READS):
            return self._send(client, name, operation, params, changes=True)
        retrying = Retrying(
            retry=retry_if_exception_type(_Throttled),
            stop=stop_after_attempt(_READ_ATTEMPTS) | stop_after_delay(_READ_RETRY_SECONDS),
            wait=wait_random_exponential(multiplier=0.2, max=5),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return retrying(self._read, client, name, operation, params)
        except _Throttled as throttled:
            raise throttled.error from throttled

    def pages(self, service: str, operation: str, params: JsonObject, key: str) -> Iterator[JsonObject]:
        given, returned = self._tokens(service, operation)
        token: JsonValue = None
        while True:
            page = self.call(service, operation, {**params, **({given: token} if token else {})})
            items = page.get(key)
            if isinstance(items, Sequence):
                for item in items:
                    yield item if isinstance(item, Mapping) else {"value": item}
            token = page.get(returned) if returned else None
            if not token:
                return

    def _client(self, service: str) -> _BotoClient:
        with self._lock:  # boto3 clients may be shared between threads, the session that makes them may not
            if service not in self._clients:
                self._clients[service] = self._open(service)
            return self._clients[service]

    def _open(self, service: str) -> _BotoClient:
        try:
            client: _BotoClient = self.session.client(
                service,
                region_name=_HOME_REGION.get(service, self._region),
                endpoint_url=self.endpoint_url,
                config=self._config,
            )
        except UnknownServiceError as error:
            raise from_transport(error, service, changes=False) from error
        client.meta.events.register("after-call", _refuse_cut_answer)
        return client

    def _check(self, client: _BotoClient, name: str, operation: str, params: JsonObject) -> None:
        model: ServiceModel = client.meta.service_model
        if operation not in model.operation_names:
            raise not_sent(name, "operation", "botocore's model does not have it")
        for violation in violations(model.operation_model(operation).input_shape, params):
            raise not_sent(name, violation.member, violation.why)

    def _read(self, client: _BotoClient, name: str, operation: str, params: JsonObject) -> JsonObject:
        try:
            return self._send(client, name, operation, params, changes=False)
        except RetryableToolError as error:
            if error.message.key == "tools.throttled":
                raise _Throttled(error) from error
            raise

    def _send(self, client: _BotoClient, name: str, operation: str, params: JsonObject, *, changes: bool) -> JsonObject:
        method: Callable[..., Mapping[str, Any]] = getattr(client, xform_name(operation))
        try:
            answer = _as_json(method(**{key: _plain(value) for key, value in params.items()}))
        except ClientError as error:
            raise from_service(error, name, changes=changes) from error
        except BotoCoreError as error:
            raise from_transport(error, name, changes=changes) from error
        if not isinstance(answer, Mapping):  # a service's answer is always a structure
            raise RejectedByPlatform(
                message("tools.rejected", call=name, code="", raw=str(answer)),
                call=name,
                failure_class=FailureClass.UNKNOWN,
            )
        return {key: value for key, value in answer.items() if key != "ResponseMetadata"}

    def _tokens(self, service: str, operation: str) -> tuple[str, str | None]:
        """Names of the page token going in and coming out; `None` for an operation without pages."""
        with self._lock:
            if service not in self._paginators:
                model = create_loader().load_service_model(service, "paginators-1")
                self._paginators[service] = model["pagination"]
        rule = self._paginators[service].get(operation)
        if rule is None:
            return "", None
        return str(rule["input_token"]), str(rule["output_token"])


class _Throttled(Exception):
    """Carries a throttled read through tenacity."""

    def __init__(self, error: RetryableToolError) -> None:
        super().__init__(str(error))
        self.error = error


def _refuse_cut_answer(http_response: Any, model: OperationModel, **_: Any) -> None:
    """botocore parses what arrived of an answer that was cut, which reads as a success without members."""
    promised = http_response.headers.get("content-length", "")
    if model.has_streaming_output or model.http.get("method") == "HEAD" or not promised.isdigit():
        return
    if "content-encoding" not in http_response.headers and len(http_response.content) < int(promised):
        raise IncompleteReadError(actual_bytes=len(http_response.content), expected_bytes=int(promised))


def is_loopback(url: str) -> bool:
    """Whether the host of `url` is this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _plain(value: JsonValue) -> Any:
    """botocore accepts `dict` and `list` only, not any mapping or sequence."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(part) for part in value]
    return value


def _as_json(value: object) -> JsonValue:
    """Times as ISO 8601 in UTC, bodies as text, other bytes as base64."""
    if isinstance(value, Mapping):
        return {str(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    body = getattr(value, "read", None)
    return body().decode(errors="replace") if callable(body) else str(value)
