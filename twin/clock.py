"""The twin's time: real time multiplied by a settable factor, never running backwards."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta


class TwinClock:
    """`now()` advances `factor` seconds per real second, and by `advance()` at once.

    Real progress is measured with the monotonic clock, so a change of the machine's date changes nothing.
    """

    def __init__(self, start: datetime, factor: float) -> None:
        if factor <= 0:
            raise ValueError(f"the time factor must be positive, not {factor!r}")
        self._lock = threading.Lock()
        self._origin = start.astimezone(UTC)
        self._mark = time.monotonic()
        self._factor = factor

    @property
    def factor(self) -> float:
        return self._factor

    def now(self) -> datetime:
        with self._lock:
            return self._now()

    def set_factor(self, factor: float) -> None:
        if factor <= 0:
            raise ValueError(f"the time factor must be positive, not {factor!r}")
        with self._lock:
            self._origin, self._mark = self._now(), time.monotonic()
            self._factor = factor

    def advance(self, seconds: float) -> None:
        """Jump ahead by `seconds` of twin time."""
        if seconds < 0:
            raise ValueError(f"time only goes forward, not by {seconds!r} s")
        with self._lock:
            self._origin += timedelta(seconds=seconds)

    def real_seconds(self, twin_seconds: float) -> float:
        """How long a person waits for `twin_seconds` to pass at the present factor."""
        return twin_seconds / self._factor

    def _now(self) -> datetime:
        return self._origin + timedelta(seconds=(time.monotonic() - self._mark) * self._factor)
