"""Finds workloads that keep evicting each other, and the setting that lets them.

Two kinds: A evicts B and B evicts A (ping-pong), and A evicts B again and again because B is back before A runs.
Kueue itself neither detects nor ends them (kubernetes-sigs/kueue issues 2821, 3779, 6861).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from core.messages.message import Message, message
from core.scheduling.decisions import Eviction
from core.scheduling.victims import PreemptionReason

WINDOW_S: Final = 3600.0
TURNS: Final = 2
"""A evicts B, then B evicts A: the second turn makes a loop."""
REPEATS: Final = 3
"""A evicts B for the third time in the window: what it gains is lost to B before it can start."""


class LoopSetting(StrEnum):
    """What to change; Kueue's own names of settings, by which its documentation finds them."""

    WITHIN_CLUSTER_QUEUE = "preemption.withinClusterQueue"
    RECLAIM_WITHIN_COHORT = "preemption.reclaimWithinCohort"
    BORROW_WITHIN_COHORT = "preemption.borrowWithinCohort"
    PREEMPTION_STRATEGIES = "fairSharing.preemptionStrategies"
    PRIORITIZE_PREEMPTORS = "PrioritizePreemptorWorkloads"


@dataclass(frozen=True, slots=True, kw_only=True)
class PingPong:
    """Two workloads that evict each other in turn."""

    first: str
    second: str
    queues: tuple[str, str]
    turns: int
    over_s: float
    setting: LoopSetting

    def message(self) -> Message:
        return message(
            f"scheduling.loop_{self.setting.name.lower()}",
            first=self.first,
            second=self.second,
            first_queue=self.queues[0],
            second_queue=self.queues[1],
            turns=self.turns,
            over_s=round(self.over_s),
            setting=self.setting.value,
        )


@dataclass(frozen=True, slots=True)
class _Turn:
    at_s: float
    eviction: Eviction


class LoopDetector:
    """Feed it every eviction; it reports a pair each time it goes around once more."""

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._turns: dict[frozenset[str], deque[_Turn]] = {}

    def observe(self, now_s: float, evictions: Iterable[Eviction]) -> list[PingPong]:
        """Loops that these evictions complete."""
        found = []
        for eviction in evictions:
            if eviction.is_repeated:
                continue
            turns = self._turns.setdefault(frozenset((eviction.uid, eviction.preemptor)), deque())
            while turns and turns[0].at_s < now_s - self._window_s:
                turns.popleft()
            if len(turns) > 1 and (turns[-1].eviction.uid == eviction.uid) != _is_one_sided(turns):
                while len(turns) > 1:
                    turns.popleft()  # it has become the other kind: start counting from the last turn
            turns.append(_Turn(now_s, eviction))
            if len(turns) >= (REPEATS if _is_one_sided(turns) else TURNS):
                found.append(_loop(list(turns)))
        return found

    def forget(self, uid: str) -> None:
        """The workload is done."""
        for pair in [pair for pair in self._turns if uid in pair]:
            del self._turns[pair]


def _is_one_sided(turns: Sequence[_Turn]) -> bool:
    """Always the same victim; a single turn may become either kind."""
    return len(turns) > 1 and turns[-1].eviction.uid == turns[-2].eviction.uid


def _loop(turns: list[_Turn]) -> PingPong:
    first, last = turns[0].eviction, turns[-1].eviction
    reasons = {turn.eviction.reason for turn in turns}
    setting = _setting(_telling(reasons, last.reason))
    return PingPong(
        first=first.preemptor,
        second=first.uid,
        queues=(first.preemptor_queue, first.queue),
        turns=len(turns),
        over_s=turns[-1].at_s - turns[0].at_s,
        setting=LoopSetting.PRIORITIZE_PREEMPTORS if _is_one_sided(turns) else setting,
    )


def _telling(reasons: set[PreemptionReason], last: PreemptionReason) -> PreemptionReason:
    """Taking back what is owed is never what is wrong when the other side took it while borrowing."""
    for reason in (PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING, PreemptionReason.IN_COHORT_FAIR_SHARING):
        if reason in reasons:
            return reason
    return last


def _setting(reason: PreemptionReason) -> LoopSetting:
    match reason:
        case PreemptionReason.IN_CLUSTER_QUEUE:
            return LoopSetting.WITHIN_CLUSTER_QUEUE
        case PreemptionReason.IN_COHORT_RECLAMATION:
            return LoopSetting.RECLAIM_WITHIN_COHORT
        case PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING:
            return LoopSetting.BORROW_WITHIN_COHORT
        case PreemptionReason.IN_COHORT_FAIR_SHARING:
            return LoopSetting.PREEMPTION_STRATEGIES
        case _:
            assert_never(reason)
