"""Time as an argument: everything that needs the hour takes a `Clock`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The present moment, always with its zone (UTC)."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock: the only place in the tree that reads it."""

    def now(self) -> datetime:
        return datetime.now(UTC)
