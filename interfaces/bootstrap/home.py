"""The one folder that an installation keeps its things in, and the locks that its processes meet at."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.ids import ConversationId
from core.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class Home:
    """Names every file below `root`; nothing else spells one."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "muster.db"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints.db"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def twin(self) -> Path:
        return self.root / "twin"

    @property
    def planner(self) -> Path:
        return self.root / "planner"

    @property
    def history(self) -> Path:
        """What the person typed, for the arrow keys."""
        return self.root / "history"

    @property
    def status(self) -> Path:
        """What the supervisor last knew of its processes."""
        return self.root / "processes.json"

    @property
    def audit_key(self) -> Path:
        """Signs the seals of the audit trail. Better kept by somebody else than who keeps the database."""
        return self.root / "audit.key"

    @property
    def audit_seals(self) -> Path:
        """The heads of the audit chains, signed, one a line."""
        return self.root / "audit-seals.jsonl"

    @property
    def audit_lock(self) -> Path:
        return self.root / "audit.lock"

    @property
    def users_lock(self) -> Path:
        """Shared by everybody who needs the processes; the supervisor ends when it gets it alone."""
        return self.root / "users.lock"

    @property
    def supervisor_lock(self) -> Path:
        return self.root / "supervisor.lock"

    def conversation_lock(self, conversation_id: ConversationId) -> Path:
        """Two terminals on one conversation take turns at the assistant."""
        return self.root / "turns" / f"{conversation_id}.lock"

    def create(self) -> None:
        """Readable by its owner alone: it holds the twin's token and whatever was said."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.logs, self.twin, self.planner, self.root / "turns"):
            folder.mkdir(exist_ok=True, mode=0o700)


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of `path`, waiting for it. The system lets go of it when the process ends, however it ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def locked_if_free(path: Path) -> Iterator[bool]:
    """Like `locked`, but yields False at once where somebody else holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def read_json(path: Path) -> JsonObject | None:
    """The object in the file; `None` while it is absent or half written."""
    try:
        value = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: JsonObject) -> None:
    """All or nothing: a reader never sees half of it."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(value, file)
    fresh.replace(path)
