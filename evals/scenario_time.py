"""One time for everything that plays together: the twin's, told to the other processes through a file.

Muster's own waits and budgets are then spans of twin time: a budget of ninety minutes is over when ninety minutes
of the twin are, and a wait of a minute is over when the runner has turned the clock on by one.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    origin: datetime
    mark: float
    """Of the monotonic clock, which all processes of a machine share."""
    factor: float


class SharedClock:
    """A `core.clock.Clock` that follows `path`. Between two settings it runs on by itself, as the twin's does."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._setting: _Setting | None = None

    def now(self) -> datetime:
        """Raises `FileNotFoundError` before the clock was first set."""
        setting = self._read()
        return setting.origin + timedelta(seconds=(time.monotonic() - setting.mark) * setting.factor)

    @property
    def factor(self) -> float:
        return self._read().factor

    def set(self, *, now: datetime, factor: float) -> None:
        """It is `now`, and time runs `factor` times as fast as on this machine."""
        text = json.dumps({"origin": now.isoformat(), "mark": time.monotonic(), "factor": factor})
        fresh = self._path.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(self._path)

    def _read(self) -> _Setting:
        status = os.stat(self._path)
        identity = (status.st_ino, status.st_mtime_ns)
        if self._setting is None or identity != self._seen:
            data = json.loads(self._path.read_text())
            self._setting = _Setting(
                origin=datetime.fromisoformat(data["origin"]), mark=data["mark"], factor=data["factor"]
            )
            self._seen = identity
        return self._setting
