"""When the lines of a pod's log were written, as finely as the log is looked at.

The processes write their logs themselves; whoever polls them notes in a file beside each log from which byte on it
was new at that moment.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime
from pathlib import Path

from twin.kube.objects import moment_of


def note_growth(log: Path, offset: int, now: datetime) -> None:
    """From `offset` on the log was new at `now`."""
    with _beside(log).open("a", encoding="utf-8") as file:
        file.write(f"{offset} {now.isoformat()}\n")


class LogTimes:
    """The notes about one log, as they are now."""

    def __init__(self, log: Path) -> None:
        path = _beside(log)
        rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        self._offsets = [int(row[0]) for row in rows if len(row) == 2]
        self._times = [row[1] for row in rows if len(row) == 2]

    def at(self, offset: int, otherwise: datetime) -> str:
        """RFC 3339; `otherwise` for what is newer than the last note."""
        found = bisect_right(self._offsets, offset) - 1
        moment = moment_of(self._times[found]) if found >= 0 else None
        return (moment or otherwise).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def offset_since(self, since: datetime, size: int) -> int:
        """Where the part begins that was written at `since` or later; `size` when nothing was."""
        for offset, written in zip(self._offsets, self._times, strict=True):
            moment = moment_of(written)
            if moment is not None and moment >= since:
                return offset
        return size


def _beside(log: Path) -> Path:
    return log.with_suffix(".times")
