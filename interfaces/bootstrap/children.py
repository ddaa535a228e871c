"""A child process that is kept alive: started, watched, started again with growing pauses, ended with its group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.json_value import JsonObject

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0
_GRACE_SECONDS = 5.0
"""How long a process may take to end by itself before it is killed."""
_STEADY_SECONDS = 30.0
"""A process that lived this long has recovered: its next death counts as the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to start a child. `environment` is asked at each start: the twin may have moved meanwhile."""

    name: str
    module: str
    arguments: Sequence[str]
    environment: Callable[[], Mapping[str, str]]
    log: Path

    def command(self) -> list[str]:
        # -P: a folder called `tools` where the person happens to stand must not stand in for ours.
        return [sys.executable, "-P", "-m", self.module, *self.arguments]


@dataclass(slots=True, kw_only=True)
class Child:
    """The present life of one recipe."""

    recipe: Recipe
    process: subprocess.Popen[bytes] | None = None
    deaths: int = 0
    last_exit: int | None = None
    pause_seconds: float = _FIRST_PAUSE_SECONDS
    started_at: float = 0.0
    retry_at: float = field(default=0.0)

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process is not None and self.process.poll() is None else None

    def keep_alive(self) -> bool:
        """Start it when it is not running and its pause is over. True when it was started."""
        if self.process is not None:
            if (code := self.process.poll()) is None:
                return False
            self._note_death(code)
        if time.monotonic() < self.retry_at:
            return False
        self.started_at = time.monotonic()
        self.process = start(self.recipe)
        return True

    def end(self) -> None:
        """Ask it to end, then insist. A child that is a pod's parent takes its group along."""
        process, self.process = self.process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def to_json(self) -> JsonObject:
        return {"pid": self.pid, "deaths": self.deaths, "last_exit": self.last_exit, "log": str(self.recipe.log)}

    def _note_death(self, code: int) -> None:
        self.process, self.last_exit = None, code
        self.deaths += 1
        has_recovered = time.monotonic() - self.started_at > _STEADY_SECONDS
        self.pause_seconds = (
            _FIRST_PAUSE_SECONDS if has_recovered else min(self.pause_seconds * 2, _LONGEST_PAUSE_SECONDS)
        )
        self.retry_at = time.monotonic() + self.pause_seconds


def start(recipe: Recipe) -> subprocess.Popen[bytes]:
    """Start it in a session of its own, so that a Ctrl-C in the terminal does not reach it."""
    with recipe.log.open("ab") as log:
        return subprocess.Popen(
            recipe.command(),
            env=dict(recipe.environment()),
            cwd=recipe.log.parent,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            close_fds=True,
        )


def is_alive(pid: int) -> bool:
    """True while a process of that id runs (a zombie has ended)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:
        return _exists(pid)
    return state != "Z"


def is_running_module(pid: int, module: str) -> bool:
    """True for a living `python -m module`: a pid alone may be somebody else's by now."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return module.encode() in command and is_alive(pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
