"""Gang admission: quota for all pods or none, and a deadline until all of them run.

Quota is all or nothing by itself (`Scheduler`); this module watches what follows. Source: Kueue v0.20
`waitForPodsReady` and, for HyperPod's values (5 minutes), the gang scheduling page of the HyperPod guide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from core.messages.message import Message, message
from core.scheduling.order import queue_time_s
from core.scheduling.policies import RequeueTimestamp
from core.scheduling.world import PendingWorkload

HYPERPOD_TIMEOUT_S: Final = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsReadyPolicy:
    """Kueue's `waitForPodsReady`, at the values of HyperPod's gang scheduling. Durations in seconds."""

    timeout_s: float = HYPERPOD_TIMEOUT_S
    """From the admission until every pod is ready."""
    recovery_timeout_s: float | None = HYPERPOD_TIMEOUT_S
    """From the loss of readiness until it is back; absent = `timeout_s`, 0 = wait without end."""
    base_s: float = 60.0
    max_s: float = 3600.0
    limit: int | None = None
    """Requeues before the workload is given up; absent = never."""
    blocks_admission: bool = False
    """Nobody is admitted while an admitted gang is not ready yet: no deadlock, but one at a time."""
    timestamp: RequeueTimestamp = RequeueTimestamp.EVICTION

    def backoff_s(self, requeues: int) -> float:
        """Wait before the n-th requeue, n from 1. (Kueue adds up to 0.01 % at random: left to the caller.)"""
        return min(self.base_s * 2.0 ** (requeues - 1), self.max_s)


class GangPhase(StrEnum):
    STARTING = "starting"
    READY = "ready"
    RECOVERING = "recovering"
    """Was ready; a pod or its node failed."""


class GangVerdict(StrEnum):
    REQUEUE = "requeue"
    GIVE_UP = "give_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class GangTimeout:
    """An admitted workload whose pods did not all become ready in time: it gives back all its quota."""

    uid: str
    verdict: GangVerdict
    requeues: int
    """This one included."""
    phase: GangPhase
    waited_s: float
    not_before_s: float
    """When it may be tried again."""

    def message(self) -> Message:
        return message(
            f"scheduling.gang_{self.verdict.value}",
            workload=self.uid,
            waited_s=round(self.waited_s),
            requeues=self.requeues,
            until_s=round(self.not_before_s),
        )


@dataclass(slots=True)
class _Gang:
    phase: GangPhase
    since_s: float
    requeues: int


class PodsReadyWatch:
    """Follows admitted gangs. The caller reports readiness and calls `expired` as time goes on."""

    def __init__(self, policy: PodsReadyPolicy) -> None:
        self._policy = policy
        self._gangs: dict[str, _Gang] = {}
        self._requeues: dict[str, int] = {}

    @property
    def allows_admission(self) -> bool:
        """False while `blocks_admission` holds everybody back for a gang that is not ready."""
        return not self._policy.blocks_admission or all(g.phase is GangPhase.READY for g in self._gangs.values())

    def admitted(self, uid: str, now_s: float) -> None:
        self._gangs[uid] = _Gang(GangPhase.STARTING, now_s, self._requeues.get(uid, 0))

    def ready(self, uid: str) -> None:
        """All pods run: earlier failures no longer count."""
        gang = self._gangs.get(uid)
        if gang is not None:
            gang.phase = GangPhase.READY
            self._requeues.pop(uid, None)
            gang.requeues = 0

    def lost(self, uid: str, now_s: float) -> None:
        """A pod is not ready any more. While starting that changes nothing: the first deadline still runs."""
        gang = self._gangs.get(uid)
        if gang is not None and gang.phase is GangPhase.READY:
            gang.phase, gang.since_s = GangPhase.RECOVERING, now_s

    def forget(self, uid: str) -> None:
        """It finished, was deleted or was evicted for another reason."""
        self._gangs.pop(uid, None)

    def next_deadline_s(self) -> float | None:
        deadlines = [d for gang in self._gangs.values() if (d := self._deadline_s(gang)) is not None]
        return min(deadlines, default=None)

    def expired(self, now_s: float) -> list[GangTimeout]:
        """Gangs whose time is up, by uid; they are no longer followed."""
        found = []
        for uid in sorted(self._gangs):
            gang = self._gangs[uid]
            deadline = self._deadline_s(gang)
            if deadline is None or deadline > now_s:
                continue
            del self._gangs[uid]
            requeues = self._requeues[uid] = gang.requeues + 1
            gives_up = self._policy.limit is not None and requeues > self._policy.limit
            found.append(
                GangTimeout(
                    uid=uid,
                    verdict=GangVerdict.GIVE_UP if gives_up else GangVerdict.REQUEUE,
                    requeues=requeues,
                    phase=gang.phase,
                    waited_s=now_s - gang.since_s,
                    not_before_s=now_s + self._policy.backoff_s(requeues),
                )
            )
        return found

    def _deadline_s(self, gang: _Gang) -> float | None:
        match gang.phase:
            case GangPhase.READY:
                return None
            case GangPhase.STARTING:
                return gang.since_s + self._policy.timeout_s
            case GangPhase.RECOVERING:
                recovery = self._policy.recovery_timeout_s
                wait_s = self._policy.timeout_s if recovery is None else recovery
                return gang.since_s + wait_s if wait_s > 0 else None


def requeued(
    workload: PendingWorkload, timeout: GangTimeout, policy: PodsReadyPolicy, evicted_at_s: float
) -> PendingWorkload:
    """The workload as it waits again: behind the others or in its place, and not before its backoff ends.

    A later time that was already set is never moved forward.
    """
    earlier = workload.not_before_s
    return replace(
        workload,
        queued_at_s=queue_time_s(workload.queued_at_s, evicted_at_s, policy.timestamp),
        not_before_s=timeout.not_before_s if earlier is None else max(earlier, timeout.not_before_s),
    )
