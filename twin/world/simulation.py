"""What moves the world: one clock, one generator, and timers that fire in order of their time."""

from __future__ import annotations

import heapq
import zlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import TypeAlias

from core.ids import InstanceId, NodeLogicalId
from twin.clock import TwinClock
from twin.ports import Orchestration, Workloads
from twin.world.state import Timer, World

TimerAction: TypeAlias = "Callable[[Simulation, dict[str, str]], None]"

_HEX = "0123456789abcdef"
_LETTERS_AND_DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789"


class Simulation:
    """Owns the world. Not safe by itself: the twin's one lock is held around every use.

    While a timer fires, `now` is the moment it was due, so that the order and the times of what follows do
    not depend on when somebody looked.
    """

    def __init__(
        self,
        world: World,
        clock: TwinClock,
        seed: int,
        random: Random,
        orchestration: Orchestration,
        workloads: Workloads | None,
        actions: dict[str, TimerAction],
    ) -> None:
        self.world, self.clock, self.seed, self.random = world, clock, seed, random
        self.orchestration, self.workloads = orchestration, workloads
        self._actions = actions
        self._moment: datetime | None = None

    @property
    def now(self) -> datetime:
        return self._moment or self.clock.now()

    def advance(self) -> int:
        """Fire every timer that is due, in order of time; returns how many fired."""
        fired, until = 0, self.clock.now()
        while self.world.timers and self.world.timers[0].due <= until:
            timer = heapq.heappop(self.world.timers)
            self._moment = timer.due
            try:
                self._actions[timer.kind](self, timer.args)
            finally:
                self._moment = None
            fired += 1
        return fired

    def next_due(self) -> datetime | None:
        return self.world.timers[0].due if self.world.timers else None

    def after(self, seconds: float, kind: str, **args: str) -> None:
        """Let `kind` happen in `seconds` of twin time."""
        if kind not in self._actions:
            raise KeyError(f"no action for timer {kind!r}")
        self.world.timer_count += 1
        due = self.now + timedelta(seconds=seconds)
        timer = Timer(due=due, number=self.world.timer_count, kind=kind, args=args)
        heapq.heappush(self.world.timers, timer)

    def cancel(self, kind: str, **args: str) -> None:
        """Forget the timers of `kind` whose arguments include `args`."""
        self.world.timers = [
            timer for timer in self.world.timers if timer.kind != kind or not args.items() <= timer.args.items()
        ]
        heapq.heapify(self.world.timers)

    def between(self, bounds: tuple[float, float]) -> float:
        """A duration drawn evenly from `bounds`, in seconds."""
        return self.random.uniform(*bounds)

    def order(self, name: str) -> int:
        """A sort key for lists to which AWS gives no order: the same as long as the world lives, another per seed."""
        return zlib.crc32(f"{self.seed}:{name}".encode())

    def instance_id(self) -> InstanceId:
        return InstanceId("i-" + self.hex(17))

    def logical_id(self, group: str) -> NodeLogicalId:
        return NodeLogicalId(f"{group[:40]}-{self.short_id(8)}")

    def short_id(self, length: int = 12) -> str:
        return self._characters(_LETTERS_AND_DIGITS, length)

    def hex(self, length: int) -> str:
        return self._characters(_HEX, length)

    def uuid(self) -> str:
        text = self.hex(32)
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def _characters(self, alphabet: Sequence[str], length: int) -> str:
        return "".join(self.random.choices(alphabet, k=length))
