"""A Chat Completions server that answers from a script, in all the ways in which real servers misbehave."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TypeAlias

from core.json_value import JsonObject, JsonValue

Behaviour: TypeAlias = "Callable[[_Handler], None]"


@dataclass
class ScriptedServer:
    """`requests` are the bodies received, in order; each request uses up one behaviour of `script`."""

    script: list[Behaviour]
    requests: list[dict[str, JsonValue]] = field(default_factory=list)
    released: Event = field(default_factory=Event)
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def scripted_server(*script: Behaviour) -> Iterator[ScriptedServer]:
    """Serves on loopback until the block ends; hanging answers are then let go."""
    server = ScriptedServer(list(script))

    class Handler(_Handler):
        scripted = server

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    server.port = listener.server_port
    thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        listener.shutdown()
        listener.server_close()
        thread.join()


def say(text: str) -> Behaviour:
    return _stream([*_text_chunks(text), _closing("stop")], done=True)


def call(name: str, arguments: JsonObject | str, *, call_id: str = "call-1", text: str = "") -> Behaviour:
    """One tool call, its arguments in fragments of seven bytes."""
    return calls((name, arguments, call_id), text=text)


def calls(*wanted: tuple[str, JsonObject | str, str], text: str = "") -> Behaviour:
    chunks = _text_chunks(text) if text else []
    for index, (name, arguments, call_id) in enumerate(wanted):
        chunks += _call_chunks(index, name, arguments, call_id)
    return _stream([*chunks, _closing("tool_calls")], done=True)


def cut_call(name: str, arguments: JsonObject) -> Behaviour:
    """The connection closes in the middle of a call, without a finish reason."""
    return _stream(_call_chunks(0, name, arguments, "call-cut"), done=False)


def cut_text(text: str) -> Behaviour:
    return _stream(_text_chunks(text), done=False)


def too_long(text: str) -> Behaviour:
    return _stream([*_text_chunks(text), _closing("length")], done=True)


def call_too_long(name: str, arguments: JsonObject) -> Behaviour:
    return _stream([*_call_chunks(0, name, arguments, "call-long"), _closing("length")], done=True)


def status(code: int, *, retry_after: str | None = None) -> Behaviour:
    def behave(handler: _Handler) -> None:
        body = json.dumps({"error": {"message": "scripted trouble", "type": "server_error"}}).encode()
        handler.send_response(code)
        if retry_after is not None:
            handler.send_header("Retry-After", retry_after)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def hang(handler: _Handler) -> None:
    """Accepts the request and never answers."""
    handler.scripted.released.wait(30)


def stall(handler: _Handler) -> None:
    """Begins to answer and falls silent."""
    handler.begin_stream()
    handler.send_event(_delta({"role": "assistant", "content": "Let me"}))
    handler.scripted.released.wait(30)


def drip(handler: _Handler) -> None:
    """A byte now and then, never a whole event: no read ever times out."""
    handler.begin_stream()
    while not handler.scripted.released.wait(0.02):
        handler.wfile.write(b":")
        handler.wfile.flush()


def garbage(handler: _Handler) -> None:
    handler.begin_stream()
    handler.wfile.write(b"data: {this is no JSON\n\n")


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.scripted.requests.append(body)
        behaviour = self.scripted.script.pop(0) if self.scripted.script else status(500)
        try:
            behaviour(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()

    def send_event(self, event: JsonValue) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()


def _stream(chunks: Sequence[JsonObject], *, done: bool) -> Behaviour:
    def behave(handler: _Handler) -> None:
        handler.begin_stream()
        for chunk in chunks:
            handler.send_event(chunk)
        if done:
            usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
            handler.send_event({**_delta({}), "choices": [], "usage": usage})
            handler.wfile.write(b"data: [DONE]\n\n")

    return behave


def _text_chunks(text: str) -> list[JsonObject]:
    return [_delta({"role": "assistant", "content": text[at : at + 7]}) for at in range(0, len(text), 7)]


def _call_chunks(index: int, name: str, arguments: JsonObject | str, call_id: str) -> list[JsonObject]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    head: JsonObject = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    pieces: list[JsonObject] = [
        {"index": index, "function": {"arguments": text[at : at + 7]}} for at in range(0, len(text), 7)
    ]
    return [_delta({"tool_calls": [piece]}) for piece in [head, *pieces]]


def _closing(reason: str) -> JsonObject:
    return _delta({}, reason)


def _delta(delta: JsonObject, finish_reason: str | None = None) -> JsonObject:
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    }
