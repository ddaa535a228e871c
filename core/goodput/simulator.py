"""A Monte-Carlo simulator of one long training run: what the closed forms are checked against.

Time runs from failure to failure. Between failures the run works tau, saves for w, and so on; a failure throws
away what was not saved. Recovery takes detection and restart, and may itself be hit by the next failure; before it
there is, with some chance, a wait for capacity, in which nothing runs that could fail. Unlike the closed forms the
simulator takes recoveries that differ (hangs are found later than crashes) and tells where the time went.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from core.goodput.closed_form import Recovery, daly_interval, mean_time_between_failures


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """What the simulated run is like."""

    nodes: int
    failures_per_1000_node_days: float
    checkpoint_seconds: float
    """Blocking time of one checkpoint."""
    recovery: Recovery
    interval_seconds: float | None = None
    """Work between checkpoints; None = Daly's optimum."""
    hang_share: float = 0.0
    """Of failures that show no error: found after `hang_detection_seconds` instead."""
    hang_detection_seconds: float = 0.0
    loses_work: bool = True
    """False = recovery inside the process: work since the last checkpoint is kept."""

    @property
    def m(self) -> float:
        return mean_time_between_failures(self.nodes, self.failures_per_1000_node_days)

    @property
    def tau(self) -> float:
        return self.interval_seconds or daly_interval(self.m, self.checkpoint_seconds)

    @property
    def active_recovery_seconds(self) -> float:
        """Detection and restart on average, which the next failure may hit."""
        hang_delay = self.hang_detection_seconds - self.recovery.detection_seconds
        return self.recovery.detection_seconds + self.recovery.restart_seconds + self.hang_share * hang_delay

    @property
    def mean_wait_seconds(self) -> float:
        return self.recovery.wait_chance * self.recovery.wait_seconds

    @property
    def mean_recovery_seconds(self) -> float:
        """D with everything in it."""
        return self.active_recovery_seconds + self.mean_wait_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRun:
    """Seconds by what they went to; they sum to the wall time."""

    failures: int
    productive: float
    checkpoint: float
    lost_work: float
    detection: float
    restart: float
    waiting: float

    @property
    def wall(self) -> float:
        return self.productive + self.checkpoint + self.lost_work + self.detection + self.restart + self.waiting

    @property
    def goodput(self) -> float:
        return self.productive / self.wall if self.wall > 0 else 0.0


def simulate(plan: TrainingPlan, *, failures: int, random: Random) -> SimulatedRun:
    """A run that lasts until the given number of failures. The relative error falls with their square root."""
    spent = dict.fromkeys(_NAMES, 0.0)
    rate = 1 / plan.m
    kept_part = 0.0
    left = failures
    while left > 0:
        left -= 1
        kept_part = _work_until_failure(plan, random.expovariate(rate), kept_part, spent)
        left -= _recover(plan, rate, random, spent, left)
    return SimulatedRun(failures=failures, **spent)


_NAMES = ("productive", "checkpoint", "lost_work", "detection", "restart", "waiting")


def _work_until_failure(plan: TrainingPlan, until: float, kept_part: float, spent: dict[str, float]) -> float:
    """Books the time up to a failure; returns the work of an unfinished interval that an in-process recovery keeps."""
    tau, w = plan.tau, plan.checkpoint_seconds
    if not plan.loses_work and w <= 0:
        spent["productive"] += until
        return 0.0
    cycle = tau + w
    start = kept_part
    done, rest = divmod(start + until, cycle)
    worked = min(rest, tau)
    if plan.loses_work:
        spent["productive"] += done * tau
        spent["checkpoint"] += done * w
        spent["lost_work"] += rest
        return 0.0
    spent["productive"] += done * tau + worked - min(start, tau)
    spent["checkpoint"] += done * w + (rest - worked) - max(0.0, start - tau)
    return rest


def _recover(plan: TrainingPlan, rate: float, random: Random, spent: dict[str, float], left: int) -> int:
    """Recovers, starting over when the next failure comes first; returns how many did."""
    interrupted = 0
    while True:
        if random.random() < plan.recovery.wait_chance:
            spent["waiting"] += plan.recovery.wait_seconds
        is_hang = random.random() < plan.hang_share
        detection = plan.hang_detection_seconds if is_hang else plan.recovery.detection_seconds
        until = random.expovariate(rate)
        spent["detection"] += min(detection, until)
        spent["restart"] += min(plan.recovery.restart_seconds, max(0.0, until - detection))
        if until >= detection + plan.recovery.restart_seconds or interrupted >= left:
            return interrupted
        interrupted += 1


def draw_faults(mix: Mapping[str, int], *, count: int, random: Random) -> Counter[str]:
    """Faults by kind, drawn in proportion to `mix`."""
    return Counter(random.choices(list(mix), weights=list(mix.values()), k=count))


def failures_within(seconds: float, m: float, random: Random) -> int:
    """How many failures come within a time, with exponential gaps."""
    count, at = 0, random.expovariate(1 / m)
    while at < seconds:
        count += 1
        at += random.expovariate(1 / m)
    return count
