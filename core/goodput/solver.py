"""Answers backwards: what must detection, recovery, checkpoints and spares be for a wanted goodput?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from core.goodput.closed_form import (
    PER_THOUSAND,
    SECONDS_PER_DAY,
    best_goodput,
    best_interval,
    exact_goodput,
    in_process_goodput,
)
from core.goodput.simulator import TrainingPlan

SPARES_CONFIDENCE = 0.99
_DOUBLINGS = 60
_HALVINGS = 100


def longest_recovery(target: float, m: float, w: float) -> float | None:
    """The largest D in seconds with which `target` is reached at the best interval; None where D = 0 is not enough."""
    return _largest(lambda d: best_goodput(m, w, d) >= target, scale=m)


def longest_checkpoint(target: float, m: float, d: float) -> float | None:
    """The largest blocking checkpoint time in seconds with which `target` is reached; None where none is."""
    return _largest(lambda w: best_goodput(m, w, d) >= target, scale=m)


def spares_needed(
    nodes: int, failures_per_1000_node_days: float, repair_hours: float, confidence: float = SPARES_CONFIDENCE
) -> int:
    """The smallest number of spares that covers the nodes in repair at once with `confidence` (binomial)."""
    chance = min(1.0, failures_per_1000_node_days / PER_THOUSAND * repair_hours * 3600 / SECONDS_PER_DAY)
    if chance <= 0 or nodes <= 0:
        return 0
    if chance >= 1:
        return nodes
    probability = math.exp(nodes * math.log1p(-chance))
    cumulative, spares = probability, 0
    while cumulative < confidence and spares < nodes:
        probability *= (nodes - spares) / (spares + 1) * chance / (1 - chance)
        spares += 1
        cumulative += probability
    return spares


class Assumption(StrEnum):
    """The terms of a plan, in words of the report."""

    CHECKPOINT_COST = "checkpoint_cost"
    LOST_WORK = "lost_work"
    DETECTION = "detection"
    RESTART = "restart"
    WAITING_FOR_CAPACITY = "waiting_for_capacity"
    FAILURE_RATE = "failure_rate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """How far goodput falls, in points of a share, when one assumption is twice as bad."""

    assumption: Assumption
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodputPlan:
    """The answer about one plan."""

    goodput: float
    interval_seconds: float
    mean_hours_between_failures: float
    longest_recovery_seconds: float | None
    longest_checkpoint_seconds: float | None
    spares: int
    sensitivities: tuple[Sensitivity, ...]
    """Worst first: the first one is what carries the figure."""


def plan_goodput(plan: TrainingPlan, *, target: float, repair_hours: float) -> GoodputPlan:
    """What the plan reaches, what it would need for `target`, and which assumption carries it."""
    m, w, d = plan.m, plan.checkpoint_seconds, plan.mean_recovery_seconds
    return GoodputPlan(
        goodput=predicted(plan),
        interval_seconds=_interval(plan),
        mean_hours_between_failures=m / 3600,
        longest_recovery_seconds=longest_recovery(target, m, w),
        longest_checkpoint_seconds=longest_checkpoint(target, m, d),
        spares=spares_needed(plan.nodes, plan.failures_per_1000_node_days, repair_hours),
        sensitivities=sensitivities(plan),
    )


def predicted(plan: TrainingPlan) -> float:
    """The closed form that fits the plan. A wait for capacity adds p T per failure, and no failure interrupts it."""
    waiting = 1 + plan.mean_wait_seconds / plan.m
    if not plan.loses_work:
        saving = plan.checkpoint_seconds / plan.interval_seconds if plan.interval_seconds else 0.0
        return in_process_goodput(plan.m, plan.mean_recovery_seconds) / (1 + saving)
    d = plan.active_recovery_seconds
    return exact_goodput(plan.m, plan.checkpoint_seconds, d, _interval(plan)) / waiting


def sensitivities(plan: TrainingPlan) -> tuple[Sensitivity, ...]:
    """Each assumption made twice as bad by itself, with the interval chosen anew where it is free."""
    base = predicted(plan)
    worse = {
        Assumption.CHECKPOINT_COST: replace(plan, checkpoint_seconds=2 * plan.checkpoint_seconds),
        Assumption.DETECTION: replace(
            plan,
            recovery=replace(plan.recovery, detection_seconds=2 * plan.recovery.detection_seconds),
            hang_detection_seconds=2 * plan.hang_detection_seconds,
        ),
        Assumption.RESTART: replace(
            plan, recovery=replace(plan.recovery, restart_seconds=2 * plan.recovery.restart_seconds)
        ),
        Assumption.WAITING_FOR_CAPACITY: replace(
            plan, recovery=replace(plan.recovery, wait_seconds=2 * plan.recovery.wait_seconds)
        ),
        Assumption.FAILURE_RATE: replace(plan, failures_per_1000_node_days=2 * plan.failures_per_1000_node_days),
        Assumption.LOST_WORK: replace(plan, interval_seconds=2 * _interval(plan)),
    }
    found = [Sensitivity(assumption=name, loss=base - predicted(changed)) for name, changed in worse.items()]
    return tuple(sorted(found, key=lambda one: (-one.loss, one.assumption)))


def _interval(plan: TrainingPlan) -> float:
    return plan.interval_seconds or best_interval(plan.m, plan.checkpoint_seconds, plan.active_recovery_seconds)


def _largest(is_enough: Callable[[float], bool], *, scale: float) -> float | None:
    """The largest value for which a falling property still holds; None where it does not hold near zero."""
    low, high = 0.0, scale
    if not is_enough(low):
        return None
    for _ in range(_DOUBLINGS):
        if not is_enough(high):
            break
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_enough(middle) else (low, middle)
    return low
