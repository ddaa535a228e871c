"""Hang: no step for far too long, while the job is in a phase in which steps are due.

The limit is a multiple of the job's own step, and a hang needs a second witness: a rank that lags behind the others
in the flight recorder, GPUs that spin (full utilisation at low power), or a network that has been silent. Without any
witness it takes longer. Start-up, compilation, evaluation and checkpoints are never hangs. Sources: PyTorch NCCL
watchdog (10 min), ByteRobust (RDMA silent 10 min), ai-on-sagemaker-hyperpod hang rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.health.detectors.findings import Advice, Finding, FindingKind
from core.health.detectors.robust import median


class JobPhase(StrEnum):
    STARTUP = "startup"
    COMPILATION = "compilation"
    TRAINING = "training"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class HangLimits:
    """Seconds, and multiples of the median step."""

    step_multiple: float = 5.0
    recorder_step_multiple: float = 3.0
    with_recorder_seconds: float = 45.0
    """A rank that lags in the flight recorder is proof enough for an early verdict."""
    with_witness_seconds: float = 300.0
    alone_seconds: float = 540.0
    """Below the ten minutes of NCCL's own watchdog."""
    start_cut_off_seconds: float = 1800.0
    network_silent_seconds: float = 600.0
    spinning_util_percent: float = 95.0
    spinning_power_share: float = 0.4
    """Of the board's limit: NCCL kernels spin at full utilisation and low power."""
    remembered_steps: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What else is known at the moment of judgement. None = not visible, which is not health."""

    gpu_util_percent: float | None = None
    power_share: float | None = None
    network_silent_seconds: float | None = None
    lagging_rank: int | None = None
    """From the flight recorder: the rank with the lowest sequence number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HangWatch:
    """Seconds on the job's clock. `durations` are the last steps'."""

    started_at: float
    limits: HangLimits = field(default_factory=HangLimits)
    phase: JobPhase = JobPhase.STARTUP
    progress_at: float | None = None
    """When the last sign of progress came: a step, or the return to training."""
    step_at: float | None = None
    durations: tuple[float, ...] = ()


def see_step(watch: HangWatch, at: float) -> HangWatch:
    """A step ended. Steps that come twice or from a clock that went back change nothing."""
    if watch.step_at is not None and at <= watch.step_at:
        return watch
    durations = watch.durations
    if watch.phase is JobPhase.TRAINING and watch.progress_at is not None:
        durations = (*durations, at - watch.progress_at)[-watch.limits.remembered_steps :]
    return replace(watch, phase=JobPhase.TRAINING, step_at=at, progress_at=at, durations=durations)


def enter_phase(watch: HangWatch, phase: JobPhase, at: float) -> HangWatch:
    """A marker of the job: checkpoint begins, compilation ends and so on. The clock of steps starts anew."""
    progress = max(at, watch.progress_at if watch.progress_at is not None else at)
    return replace(watch, phase=phase, progress_at=progress)


def judge_hang(watch: HangWatch, now: float, witness: Witness | None = None) -> Finding | None:
    """A hang, a start that is late, or None."""
    if watch.phase is JobPhase.STARTUP:
        late = now - watch.started_at
        if late > watch.limits.start_cut_off_seconds:
            return Finding(kind=FindingKind.LATE_START, advice=Advice.NOTIFY, at_seconds=now, figure=late)
        return None
    if watch.phase is not JobPhase.TRAINING or watch.progress_at is None:
        return None
    seen = witness or Witness()
    silent = now - watch.progress_at
    if silent <= _limit(watch, seen):
        return None
    return Finding(kind=FindingKind.HANG, advice=Advice.ACT, at_seconds=now, rank=seen.lagging_rank, figure=silent)


def _limit(watch: HangWatch, witness: Witness) -> float:
    limits = watch.limits
    typical = median(watch.durations) if watch.durations else 0.0
    if witness.lagging_rank is not None:
        return max(limits.recorder_step_multiple * typical, limits.with_recorder_seconds)
    steps = limits.step_multiple * typical
    if _is_spinning(witness, limits) or _is_silent(witness, limits):
        return max(steps, limits.with_witness_seconds)
    return max(steps, limits.alone_seconds)


def _is_spinning(witness: Witness, limits: HangLimits) -> bool:
    return (
        witness.gpu_util_percent is not None
        and witness.power_share is not None
        and witness.gpu_util_percent >= limits.spinning_util_percent
        and witness.power_share <= limits.spinning_power_share
    )


def _is_silent(witness: Witness, limits: HangLimits) -> bool:
    return (
        witness.network_silent_seconds is not None and witness.network_silent_seconds >= limits.network_silent_seconds
    )
