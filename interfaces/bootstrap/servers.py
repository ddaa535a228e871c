"""How a local server process (the twin, the planner) says where it listens: a record in its folder, written last."""

from __future__ import annotations

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
