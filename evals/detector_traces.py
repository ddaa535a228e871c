"""Simulated training runs with injected faults: what the detectors are measured on.

A run has a start with data preparation and compilation, steps with noise, a daily swing, garbage-collector pauses,
checkpoints, evaluations, short disturbances that pass, and at most one fault. Strengths are drawn across the rules'
thresholds, so that weak faults exist that a rule may miss, and healthy runs exist that look odd.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final


class InjectedFault(StrEnum):
    NONE = "none"
    HANG = "hang"
    STRAGGLER = "straggler"
    SLOW = "slow"
    LOSS_NOT_FINITE = "loss_not_finite"
    LOSS_SPIKE = "loss_spike"


class Visibility(StrEnum):
    """What can be seen of a hang."""

    FLIGHT_RECORDER = "flight_recorder"
    METRICS = "metrics"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """One step: when it ended on the job's clock, how long it took, and what each rank computed (seconds)."""

    number: int
    ended_at: float
    seconds: float
    compute_seconds: tuple[float, ...]
    loss: float
    pause_before: float
    """Checkpoint or evaluation between this step and the one before, in seconds."""
    pause_is_checkpoint: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    name: str
    ranks: int
    start_seconds: float
    """Data preparation and compilation, before the first step."""
    steps: tuple[TraceStep, ...]
    fault: InjectedFault
    fault_step: int
    """Index of the first step that the fault touches; for a hang the first that never comes."""
    fault_rank: int | None
    strength: float
    visibility: Visibility


STEPS: Final = 420
_RANKS: Final = 24
_SHARES: Final = {
    InjectedFault.NONE: 0.35,
    InjectedFault.HANG: 0.15,
    InjectedFault.STRAGGLER: 0.20,
    InjectedFault.SLOW: 0.16,
    InjectedFault.LOSS_NOT_FINITE: 0.06,
    InjectedFault.LOSS_SPIKE: 0.08,
}
_STRENGTHS: Final = {
    InjectedFault.STRAGGLER: (1.08, 2.4),
    InjectedFault.SLOW: (1.04, 1.7),
    InjectedFault.LOSS_SPIKE: (1.5, 8.0),
}
"""Factors: of a rank's compute time, of the step time, of the loss."""


def make_trace(number: int, random: Random) -> Trace:
    """One run; the same number and generator state give the same run."""
    fault = random.choices(list(_SHARES), weights=list(_SHARES.values()))[0]
    low, high = _STRENGTHS.get(fault, (1.0, 1.0))
    strength = random.uniform(low, high)
    fault_step = random.randrange(180, 280)
    rank = random.randrange(_RANKS) if fault in {InjectedFault.STRAGGLER, InjectedFault.HANG} else None
    start_seconds = random.uniform(30, 1500)
    steps = _steps(random, fault, fault_step, rank, strength, start_seconds)
    return Trace(
        name=f"{fault}-{number}",
        ranks=_RANKS,
        start_seconds=start_seconds,
        steps=steps,
        fault=fault,
        fault_step=fault_step,
        fault_rank=rank,
        strength=strength,
        visibility=random.choice(list(Visibility)),
    )


def _steps(
    random: Random, fault: InjectedFault, fault_step: int, rank: int | None, strength: float, start: float
) -> tuple[TraceStep, ...]:
    base = random.uniform(1.5, 12.0)
    noise, swing = random.uniform(0.005, 0.03), random.uniform(0.0, 0.02)
    communication = random.uniform(0.1, 0.4)
    save_every, evaluate_every = random.choice((50, 100, 150)), random.choice((0, 120))
    personal = [random.gauss(1, 0.01) for _ in range(_RANKS)]
    loss_level, loss_noise = random.uniform(2, 12), random.uniform(0.01, 0.05)
    hiccup = _Hiccup.drawn(random)
    at = start
    steps: list[TraceStep] = []
    last = fault_step if fault is InjectedFault.HANG else STEPS
    for number in range(last):
        is_hit = number >= fault_step
        pause, is_checkpoint = _pause(random, number, save_every, evaluate_every, base)
        daily = 1 + swing * math.sin(2 * math.pi * at / 86_400)
        compute = [
            base
            * (1 - communication)
            * daily
            * factor
            * random.lognormvariate(0, noise)
            * (strength if is_hit and fault is InjectedFault.STRAGGLER and index == rank else 1)
            for index, factor in enumerate(personal)
        ]
        if hiccup.covers(number) and hiccup.rank is not None:
            compute[hiccup.rank] *= hiccup.strength
        exchange = base * communication * random.lognormvariate(0, noise)
        seconds = max(compute) + exchange
        if is_hit and fault is InjectedFault.SLOW:
            seconds *= strength
        if hiccup.covers(number) and hiccup.rank is None:
            seconds *= hiccup.strength
        if random.random() < 0.01:
            seconds += random.uniform(0.5, 4) * base  # garbage collector, a slow read
        at += pause + seconds
        steps.append(
            TraceStep(
                number=number,
                ended_at=at,
                seconds=seconds,
                compute_seconds=tuple(compute),
                loss=_loss(random, number, loss_level, loss_noise, fault if is_hit else InjectedFault.NONE, strength),
                pause_before=pause,
                pause_is_checkpoint=is_checkpoint,
            )
        )
    return tuple(steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hiccup:
    """A short disturbance that passes: a busy file server, a neighbour's backup. Ordinary, not a fault."""

    first: int
    steps: int
    rank: int | None
    strength: float

    @staticmethod
    def drawn(random: Random) -> _Hiccup:
        return _Hiccup(
            first=random.randrange(20, STEPS),
            steps=random.choice((0, 0, random.randrange(4, 28))),
            rank=random.choice((None, random.randrange(_RANKS))),
            strength=random.uniform(1.1, 1.8),
        )

    def covers(self, number: int) -> bool:
        return self.first <= number < self.first + self.steps


def _pause(random: Random, number: int, save_every: int, evaluate_every: int, base: float) -> tuple[float, bool]:
    if number and number % save_every == 0:
        return random.uniform(2, 400), True
    if evaluate_every and number and number % evaluate_every == 0:
        return random.uniform(20, 120) * base, False
    return 0.0, False


def _loss(random: Random, number: int, level: float, noise: float, fault: InjectedFault, strength: float) -> float:
    usual = level * (0.35 + 0.65 * math.exp(-number / 120)) * random.lognormvariate(0, noise)
    if random.random() < 0.004:
        usual *= random.uniform(1.5, 4)  # a hard batch
    if fault is InjectedFault.LOSS_NOT_FINITE:
        return math.nan
    return usual * strength if fault is InjectedFault.LOSS_SPIKE else usual
