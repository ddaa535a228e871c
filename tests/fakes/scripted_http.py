"""An HTTP server on loopback that answers from a script: good answers, errors, cut and missing ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Reply:
    """`hang_up`: the request is read, then the connection closes without an answer."""

    status: int = 200
    body: str = "{}"
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/x-amz-json-1.1"),)
    hang_up: bool = False
    cut: bool = False
    """The answer promises more bytes than it sends."""


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: str

    def json(self) -> dict[str, object]:
        parsed: dict[str, object] = json.loads(self.body)
        return parsed


@dataclass(slots=True)
class Script:
    """Replies in order, the last one again and again; `received` is what came."""

    replies: list[Reply]
    url: str = ""
    received: list[Received] = field(default_factory=list)

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def serving(*replies: Reply) -> Iterator[Script]:
    script = Script(list(replies))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            headers = {key.lower(): value for key, value in self.headers.items()}
            script.received.append(Received(self.command, self.path, headers, body))
            reply = script.next_reply()
            self.close_connection = True
            if reply.hang_up:
                return
            self.send_response(reply.status)
            for key, value in reply.headers:
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(reply.body.encode()) + (100 if reply.cut else 0)))
            self.end_headers()
            self.wfile.write(reply.body.encode())

        do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Tests read `received` instead."""

    return Handler
