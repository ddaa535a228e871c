"""Answers that are ready and do not leave: the moment between an effect and its record, held still.

Arm a call; its next answer that took effect waits here, after the world's lock was given up, until it is
released or its patience ends. Whoever asked may die meanwhile: the effect stands, its answer is nobody's.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import dataclass

LONGEST_SECONDS = 60.0
"""A forgotten hold lets go by itself."""


@dataclass(frozen=True, slots=True)
class _Held:
    call: str
    is_free: threading.Event


class Holds:
    """Safe to use from any thread; `pass_on` runs in the server's loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._armed: Counter[str] = Counter()
        self._held: list[_Held] = []

    def arm(self, call: str) -> None:
        with self._lock:
            self._armed[call] += 1

    def release(self) -> int:
        """Lets every held answer go and disarms the rest. Returns how many were held."""
        with self._lock:
            held = list(self._held)
            self._armed.clear()
        for answer in held:
            answer.is_free.set()
        return len(held)

    def shown(self) -> dict[str, list[str]]:
        with self._lock:
            return {"armed": sorted(self._armed.elements()), "held": [answer.call for answer in self._held]}

    async def pass_on(self, call: str) -> None:
        """Returns at once unless `call` is armed."""
        with self._lock:
            if self._armed[call] <= 0:
                return
            self._armed[call] -= 1
            held = _Held(call, threading.Event())
            self._held.append(held)
        try:
            await asyncio.to_thread(held.is_free.wait, LONGEST_SECONDS)
        finally:
            with self._lock:
                self._held.remove(held)
