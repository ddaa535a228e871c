"""How a local server process (the twin, the planner) says where it listens: a record in its folder, written last."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path

from core.json_value import JsonObject
from interfaces.bootstrap.home import read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecord:
    """`token` opens it; both are for this machine alone."""

    endpoint: str
    token: str
    pid: int

    def to_json(self) -> JsonObject:
        return {"endpoint": self.endpoint, "token": self.token, "pid": self.pid}


def read_server_record(path: Path, *, pid: int | None) -> ServerRecord | None:
    """`None` until the process `pid` has written it: what an earlier life left behind does not count."""
    match read_json(path):
        case {"endpoint": str(endpoint), "token": str(token), "pid": int(written_by)} if written_by == pid:
            return ServerRecord(endpoint=endpoint, token=token, pid=written_by)
        case _:
            return None


def stable_port(path: Path) -> int:
    """The port that `path` remembers, or a free one when there is none or somebody else took it.

    A server that comes back after a crash is then where its clients look for it.
    """
    remembered = int(text) if path.exists() and (text := path.read_text()).isdecimal() else 0
    port = _bindable(remembered) or _bindable(0)
    path.write_text(str(port))
    return port


def _bindable(port: int) -> int:
    """The port, chosen by the system for 0; 0 when it is taken."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return 0
        address: tuple[str, int] = listener.getsockname()
        return address[1]
