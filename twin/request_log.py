"""Every call that reached the twin, as JSON lines: what effects are counted in.

Both halves write here: `sagemaker:CreateCluster`, `k8s:create:hyperpodpytorchjobs`. A dry run, a refused call
and a read have `tookEffect` false.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from twin.clock import TwinClock

MAX_ENTRIES_IN_MEMORY = 20_000


class Moments(Protocol):
    """What waits for calls: faults whose moment is one."""

    def mutation_arrived(self, call: str) -> None:
        """A mutating call is here and has not been carried out."""

    def effect_done(self, call: str) -> bool:
        """`call` took effect and its answer has not left. True: the answer is lost on its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    time: str
    """Twin time, ISO 8601."""
    call: str
    caller: str
    """Identity and client, as far as the request tells."""
    outcome: str
    """`ok`, or the error code that was answered."""
    took_effect: bool
    request_id: str

    def to_json(self) -> dict[str, str | bool]:
        return {
            "time": self.time,
            "call": self.call,
            "caller": self.caller,
            "outcome": self.outcome,
            "tookEffect": self.took_effect,
            "requestId": self.request_id,
        }


class _NoMoments:
    def mutation_arrived(self, call: str) -> None:
        del call

    def effect_done(self, call: str) -> bool:
        del call
        return False


class RequestLog:
    """Appends to `path` and counts; safe to use from any thread."""

    def __init__(self, path: Path, clock: TwinClock) -> None:
        self._path, self._clock = path, clock
        self._lock = threading.Lock()
        self._moments: Moments = _NoMoments()
        self._effects: Counter[str] = Counter()
        self._entries: list[LoggedCall] = []
        self._dropped = 0
        for line in path.read_text().splitlines() if path.exists() else ():
            self._keep(_parse(line))
        self._file = path.open("a", encoding="utf-8", buffering=1)

    def attach(self, moments: Moments) -> None:
        self._moments = moments

    def mutation_arrived(self, call: str) -> None:
        """Say so before a mutating call is carried out: faults `before_first_effect` fire here."""
        self._moments.mutation_arrived(call)

    def record(self, *, call: str, caller: str, outcome: str, took_effect: bool, request_id: str) -> bool:
        """Log an answered call. True: its answer must not reach the caller (drop the connection)."""
        entry = LoggedCall(
            time=self._clock.now().isoformat(),
            call=call,
            caller=caller,
            outcome=outcome,
            took_effect=took_effect,
            request_id=request_id,
        )
        with self._lock:
            self._keep(entry)
            self._file.write(json.dumps(entry.to_json()) + "\n")
        return took_effect and self._moments.effect_done(call)

    def effects(self) -> dict[str, int]:
        """Call -> how often it took effect since the last reset."""
        with self._lock:
            return dict(self._effects)

    def entries(self, since: int = 0) -> tuple[list[LoggedCall], int]:
        """Entries from number `since` on that are still in memory, and the number to ask from next."""
        with self._lock:
            return self._entries[max(0, since - self._dropped) :], self._dropped + len(self._entries)

    def reset(self) -> None:
        with self._lock:
            self._file.truncate(0)
            self._entries.clear()
            self._effects.clear()
            self._dropped = 0

    def close(self) -> None:
        self._file.close()

    def _keep(self, entry: LoggedCall) -> None:
        self._entries.append(entry)
        if entry.took_effect:
            self._effects[entry.call] += 1
        if len(self._entries) > MAX_ENTRIES_IN_MEMORY:
            self._dropped += len(self._entries) // 2
            del self._entries[: len(self._entries) // 2]


def _parse(line: str) -> LoggedCall:
    data = json.loads(line)
    return LoggedCall(
        time=data["time"],
        call=data["call"],
        caller=data["caller"],
        outcome=data["outcome"],
        took_effect=data["tookEffect"],
        request_id=data["requestId"],
    )
