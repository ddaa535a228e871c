"""A clock that stands until a test moves it, and ids that count."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""A Monday morning."""


class FakeClock:
    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, duration: timedelta) -> None:
        self._now += duration


class CountingIds:
    """`run-1`, `run-2`, `question-1`: readable where a test fails."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    def new(self, prefix: str) -> str:
        self._made[prefix] += 1
        return f"{prefix}-{self._made[prefix]}"
