"""The objects of all control planes on disk, so that a killed twin comes back with what it had acknowledged.

SQLite without syncing: an answered write survives the death of the process, which is what the twin simulates;
it need not survive a power cut.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from twin.kube.objects import Obj, ObjectName, encode, parse_json

_SCHEMA = """
create table if not exists planes (name text primary key, version integer not null);
create table if not exists objects (
    plane text not null, resource text not null, namespace text not null, name text not null,
    body blob not null,
    primary key (plane, resource, namespace, name)
);
"""


class Journal:
    """One per twin; `path` may be `:memory:`."""

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=off")
        self._db.executescript(_SCHEMA)

    def planes(self) -> dict[str, int]:
        """Name of each control plane and its last resourceVersion."""
        with self._lock:
            return dict(self._db.execute("select name, version from planes").fetchall())

    def objects(self, plane: str) -> Iterator[tuple[str, ObjectName, Obj]]:
        with self._lock:
            rows = self._db.execute(
                "select resource, namespace, name, body from objects where plane = ?", (plane,)
            ).fetchall()
        for resource, namespace, name, body in rows:
            value = parse_json(body)
            if isinstance(value, dict):
                yield resource, ObjectName(namespace, name), value

    def write(self, plane: str, version: int, resource: str, name: ObjectName, obj: Obj | None) -> None:
        """Keep the object, or forget it when it is `None`, together with the plane's new resourceVersion."""
        with self._lock:
            self._db.execute("begin")
            self._db.execute("insert or replace into planes values (?, ?)", (plane, version))
            if obj is None:
                self._db.execute(
                    "delete from objects where plane = ? and resource = ? and namespace = ? and name = ?",
                    (plane, resource, *name),
                )
            else:
                self._db.execute(
                    "insert or replace into objects values (?, ?, ?, ?, ?)",
                    (plane, resource, *name, encode(obj)),
                )
            self._db.execute("commit")

    def add_plane(self, plane: str) -> None:
        with self._lock:
            self._db.execute("insert or ignore into planes values (?, 1)", (plane,))

    def drop_plane(self, plane: str) -> None:
        with self._lock:
            self._db.execute("begin")
            self._db.execute("delete from objects where plane = ?", (plane,))
            self._db.execute("delete from planes where name = ?", (plane,))
            self._db.execute("commit")

    def close(self) -> None:
        with self._lock:
            self._db.close()
