"""`muster eval detectors`: precision, recall and delay of the hang, straggler, slow-down and loss rules.

Measured on simulated runs (`evals.detector_traces`), not on production: the published figures beside it are those of
other detectors on other data, and say what class of result is usual (Minder, NSDI 2025; GREYHOUND; PyTorch's own
watchdog needs 600 s for a hang).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Final

import typer

from core.health.detectors.findings import Finding, FindingKind, leading_finding
from core.health.detectors.hang import HangWatch, JobPhase, Witness, enter_phase, judge_hang, see_step
from core.health.detectors.loss import LossWatch, see_loss
from core.health.detectors.robust import median
from core.health.detectors.slow import SlowWatch, see_step_time
from core.health.detectors.straggler import StragglerWatch, see_window
from core.json_value import JsonObject
from evals.detector_traces import InjectedFault, Trace, Visibility, make_trace
from evals.reporting import JsonOption, finish

PUBLISHED: Final[JsonObject] = {
    "minder": {"precision": 0.904, "recall": 0.883, "f1": 0.893},
    "mahalanobis_baseline_of_minder": {"precision": 0.788, "recall": 0.767, "f1": 0.777},
    "greyhound": {"accuracy": 0.998, "false_negative_rate": 0.023, "delay_seconds": 5},
}
PRECISION_GOAL, RECALL_GOAL = 0.90, 0.88
HANG_DELAY_WITH_RECORDER, HANG_DELAY_AT_MOST = 60.0, 600.0
POLL_SECONDS: Final = 10.0
WINDOW_STEPS: Final = 20
EXPLANATION_STEPS: Final = 160
"""Findings within that many steps are findings of one moment."""
_NOT_EXPECTED_SECONDS: Final = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One run and what was said about it."""

    trace: Trace
    finding: Finding | None
    delay_seconds: float | None

    @property
    def is_hit(self) -> bool:
        wanted = FindingKind(self.trace.fault) if self.trace.fault is not InjectedFault.NONE else None
        if self.finding is None or self.delay_seconds is None or self.delay_seconds < 0:
            return False
        is_named = self.trace.fault is not InjectedFault.STRAGGLER or self.finding.rank == self.trace.fault_rank
        return self.finding.kind is wanted and is_named


def detectors(
    traces: Annotated[int, typer.Option(min=100, help="Runs to simulate.")] = 240,
    seed: Annotated[int, typer.Option(help="Seed of the runs.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure the detectors on simulated runs with injected faults."""
    random = Random(seed)
    measured = [measure(make_trace(number, Random(random.getrandbits(64)))) for number in range(traces)]
    result = score(measured)
    precision, recall, f1 = (float(str(result[name])) for name in ("precision", "recall", "f1"))
    false_kills = int(str(result["false_hangs"]))
    recorder, slowest = _hang_delays(measured)
    holds = (
        precision >= PRECISION_GOAL
        and recall >= RECALL_GOAL
        and false_kills == 0
        and recorder <= HANG_DELAY_WITH_RECORDER
        and slowest <= HANG_DELAY_AT_MOST
    )
    finish(
        result | {"published": PUBLISHED, "seed": seed},
        lines=_lines(measured),
        figure=f"detectors: precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f} on {traces} simulated runs",
        holds=holds,
        as_json=as_json,
    )


def measure(trace: Trace) -> Measured:
    """Lets every detector follow one run, in the order of its events."""
    findings = sorted(_findings(trace), key=lambda finding: finding.at_seconds)
    if not findings:
        return Measured(trace=trace, finding=None, delay_seconds=None)
    step = median([one.seconds for one in trace.steps])
    together = [one for one in findings if one.at_seconds <= findings[0].at_seconds + EXPLANATION_STEPS * step]
    leading = leading_finding(together)
    first_of_kind = next(one for one in findings if leading is not None and one.kind is leading.kind)
    return Measured(trace=trace, finding=first_of_kind, delay_seconds=first_of_kind.at_seconds - _onset(trace))


def score(measured: Sequence[Measured]) -> dict[str, JsonObject | float | int]:
    """Figures over all runs, and recall and delay by fault."""
    hits = sum(one.is_hit for one in measured)
    said = sum(one.finding is not None for one in measured)
    faulty = sum(one.trace.fault is not InjectedFault.NONE for one in measured)
    precision, recall = (hits / said if said else 0.0), (hits / faulty if faulty else 0.0)
    return {
        "runs": len(measured),
        "faulty": faulty,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if hits else 0.0,
        "false_hangs": sum(
            one.finding is not None
            and one.finding.kind is FindingKind.HANG
            and one.trace.fault is not InjectedFault.HANG
            for one in measured
        ),
        "by_fault": {fault.value: _of_fault(measured, fault) for fault in InjectedFault},
    }


def _of_fault(measured: Sequence[Measured], fault: InjectedFault) -> JsonObject:
    of_kind = [one for one in measured if one.trace.fault is fault]
    delays = [one.delay_seconds for one in of_kind if one.is_hit and one.delay_seconds is not None]
    typical = median(delays)
    return {
        "runs": len(of_kind),
        "found": sum(one.is_hit for one in of_kind),
        "said_otherwise": sum(one.finding is not None and not one.is_hit for one in of_kind),
        "median_delay_seconds": None if math.isnan(typical) else typical,
        "longest_delay_seconds": max(delays, default=None),
    }


def _hang_delays(measured: Sequence[Measured]) -> tuple[float, float]:
    """The longest delay with a flight recorder, and of all hangs; infinite where a hang was missed."""
    with_recorder, every = 0.0, 0.0
    for one in measured:
        if one.trace.fault is InjectedFault.HANG:
            delay = one.delay_seconds if one.is_hit and one.delay_seconds is not None else math.inf
            every = max(every, delay)
            if one.trace.visibility is Visibility.FLIGHT_RECORDER:
                with_recorder = max(with_recorder, delay)
    return with_recorder, every


def _lines(measured: Sequence[Measured]) -> list[str]:
    lines = []
    for fault in InjectedFault:
        row = _of_fault(measured, fault)
        lines.append(f"{fault:<16} " + "  ".join(f"{key} {value}" for key, value in row.items()))
    return lines


def _findings(trace: Trace) -> Iterator[Finding]:
    yield from _hang_findings(trace)
    yield from _straggler_findings(trace)
    yield from _step_findings(trace)


def _hang_findings(trace: Trace) -> Iterator[Finding]:
    """Polls as a monitor does, through start-up, steps and pauses."""
    watch = HangWatch(started_at=0.0)
    last = 0.0
    for step in trace.steps:
        pause_from = last
        if step.pause_before:
            phase = JobPhase.CHECKPOINT if step.pause_is_checkpoint else JobPhase.EVALUATION
            watch = enter_phase(watch, phase, pause_from)
            yield from _polled(watch, trace, pause_from, pause_from + step.pause_before)
            watch = enter_phase(watch, JobPhase.TRAINING, pause_from + step.pause_before)
        yield from _polled(watch, trace, pause_from + step.pause_before, step.ended_at)
        watch = see_step(watch, step.ended_at)
        last = step.ended_at
    if trace.fault is InjectedFault.HANG:
        yield from _polled(watch, trace, last, last + _NOT_EXPECTED_SECONDS, hung_since=last)


def _polled(
    watch: HangWatch, trace: Trace, since: float, until: float, *, hung_since: float | None = None
) -> Iterator[Finding]:
    at = math.ceil(since / POLL_SECONDS) * POLL_SECONDS
    while at < until:
        if finding := judge_hang(watch, at, _witness(trace, at, hung_since)):
            yield finding
            return
        at += POLL_SECONDS


def _witness(trace: Trace, at: float, hung_since: float | None) -> Witness:
    """A healthy job is seen busy; a hung one as its visibility allows."""
    if trace.visibility is Visibility.NOTHING:
        return Witness()
    if hung_since is None:
        return Witness(gpu_util_percent=99, power_share=0.85, network_silent_seconds=0)
    lagging = trace.fault_rank if trace.visibility is Visibility.FLIGHT_RECORDER else None
    return Witness(gpu_util_percent=100, power_share=0.25, network_silent_seconds=at - hung_since, lagging_rank=lagging)


def _straggler_findings(trace: Trace) -> Iterator[Finding]:
    watch = StragglerWatch()
    for start in range(0, len(trace.steps) - WINDOW_STEPS + 1, WINDOW_STEPS):
        window = trace.steps[start : start + WINDOW_STEPS]
        typical = {rank: median([step.compute_seconds[rank] for step in window]) for rank in range(trace.ranks)}
        watch, findings = see_window(watch, typical, at_seconds=window[-1].ended_at)
        yield from findings


def _step_findings(trace: Trace) -> Iterator[Finding]:
    slow, loss = SlowWatch(), LossWatch()
    for step in trace.steps:
        slow, found = see_step_time(slow, step.seconds, at_seconds=step.ended_at)
        if found is not None:
            yield found
        loss, found = see_loss(loss, step.loss, at_seconds=step.ended_at)
        if found is not None:
            yield found


def _onset(trace: Trace) -> float:
    """When the fault began: the end of the last step before it."""
    return trace.steps[trace.fault_step - 1].ended_at if trace.fault is not InjectedFault.NONE else math.inf
