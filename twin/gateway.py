"""The twin's one port: AWS at `/`, Kubernetes at `/k8s/`, the control endpoint at `/_twin/`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ParamSpec, Protocol, TypeVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from twin.auth import bearer
from twin.aws.api import AwsApi
from twin.aws.wire import Request, Response
from twin.holds import Holds
from twin.kube.app import EFFECT, LOST
from twin.kubernetes_half import AsgiApp, Message, Receive, Scope, Send

P = ParamSpec("P")
R = TypeVar("R")
MAX_BODY_BYTES = 64 * 1024 * 1024
LOOPBACK = frozenset({"127.0.0.1", "::1"})


class Control(Protocol):
    def __call__(self, method: str, path: str, query: str, body: bytes) -> tuple[int, object]:
        """Status and JSON answer of a control request."""


@dataclass(slots=True)
class Gateway:
    """An ASGI application. AWS and control requests run in a thread of their own, one at a time."""

    aws: AwsApi
    kubernetes: AsgiApp
    control: Control
    token: str
    holds: Holds
    worker: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "twin-gateway"))
    """One thread: the world's lock lets no two work anyway, and each more would keep memory of its own."""
    connections: dict[tuple[str, int], asyncio.Transport] = field(default_factory=dict)
    """By the client's address: the only way to break a connection instead of answering."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"the twin speaks HTTP only, not {scope['type']}")
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if scope["client"] is None or scope["client"][0] not in LOOPBACK:
            await _reply(send, _plain(403, "The twin answers on loopback only."))
        elif scope["path"].startswith("/k8s/"):
            await self._kubernetes(scope, receive, send)
        elif scope["path"].startswith("/_twin"):
            await self._control(scope, receive, send, headers)
        else:
            await self._aws(scope, receive, send, headers)

    async def _aws(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        body = await _body(receive)
        if body is None:
            await _reply(send, _plain(413, f"A request has at most {MAX_BODY_BYTES} bytes."))
            return
        request = Request(
            method=scope["method"],
            path=scope["raw_path"].decode("latin-1").partition("?")[0],
            query=scope["query_string"].decode("latin-1"),
            headers=headers,
            body=body,
        )
        answer = await self._in_worker(self.aws.answer, request)
        if answer.effect is not None:
            await self.holds.pass_on(answer.effect)
        if answer.delay_seconds:
            await asyncio.sleep(answer.delay_seconds)
        if answer.is_lost:
            self._break(scope)
        else:
            await _reply(send, answer.response, is_head=request.method == "HEAD")

    async def _kubernetes(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start" and EFFECT in scope:
                await self.holds.pass_on(scope[EFFECT])
                if scope.get(LOST):
                    self._break(scope)
            if not scope.get(LOST):
                await send(message)

        await self.kubernetes(scope, receive, pass_on)

    async def _control(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        if bearer(headers) != self.token:
            await _reply(send, _plain(401, "The control endpoint wants the twin's token as bearer."))
            return
        body = await _body(receive) or b""
        query = scope["query_string"].decode("latin-1")
        status, result = await self._in_worker(self.control, scope["method"], scope["path"], query, body)
        answer = Response(status=status, body=json.dumps(result).encode(), headers={"content-type": "application/json"})
        await _reply(send, answer)

    async def _in_worker(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.get_running_loop().run_in_executor(self.worker, partial(call, *args, **kwargs))

    def _break(self, scope: Scope) -> None:
        transport = self.connections.get(tuple(scope["client"]))
        if transport is not None:
            transport.abort()


def breakable_protocol(connections: dict[tuple[str, int], asyncio.Transport]) -> type[H11Protocol]:
    """uvicorn's HTTP protocol, which notes each connection's transport in `connections`."""

    class BreakableProtocol(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own type
            super().connection_made(transport)
            connections[transport.get_extra_info("peername")[:2]] = transport

        def connection_lost(self, exc: Exception | None) -> None:
            connections.pop(self.transport.get_extra_info("peername")[:2], None)
            super().connection_lost(exc)

    return BreakableProtocol


async def _body(receive: Receive) -> bytes | None:
    """`None` when it is too long."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks) if size <= MAX_BODY_BYTES else None


async def _reply(send: Send, response: Response, *, is_head: bool = False) -> None:
    headers: dict[str, Any] = {**response.headers}
    if not is_head:
        headers["content-length"] = str(len(response.body))
    wire = [(name.encode("latin-1"), str(value).encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": response.status, "headers": wire})
    await send({"type": "http.response.body", "body": b"" if is_head else response.body})


def _plain(status: int, text: str) -> Response:
    return Response(status=status, body=text.encode(), headers={"content-type": "text/plain; charset=utf-8"})
