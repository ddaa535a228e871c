"""`muster bench replay`: recorded traces through the simulator, for speed, memory and the quality of policies.

Quality: Gavel's Philly trace at three offered loads under five policies. Scale: the same trace repeated with
shifted, seeded arrivals until it has 80,000 jobs, decided on in ticks of five minutes. Packing: Alibaba's openb
pods with parts of GPUs. One process, one core; what a policy is worth on one trace is no promise for another.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Annotated, Final

import typer
from pydantic import JsonValue

from core.scheduling.replay import Figures, Policy, figures, gpus_for_load, jobs_for, team_shares, world_for
from core.scheduling.simulation import SimulationSettings, simulate
from core.scheduling.traces import Trace, read_trace, repeated
from interfaces.cli.output import JsonFlag, print_json

TRACES: Final = Path(__file__).parent / "data" / "traces"
LOADS: Final = (0.8, 1.0, 1.3)
GOAL_SECONDS: Final = 60.0
GOAL_MEGABYTES: Final = 500.0
GOAL_GAIN: Final = 0.4
"""Idle sharing with elastic jobs against a static partition: less average completion time, as a share."""
SEED: Final = 20_260
SCALE_TICK_S: Final = 300.0
"""The scale run decides on events together every five minutes of its eight months; the others on each at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One trace at one load under one policy."""

    trace: str
    policy: Policy
    load: float
    gpus: int
    speed_up: float
    tick_s: float
    seconds: float
    decisions: int
    figures: Figures

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "trace": self.trace,
            "policy": self.policy.value,
            "load": self.load,
            "gpus": self.gpus,
            "speed_up": self.speed_up,
            "tick_s": self.tick_s,
            "seconds": round(self.seconds, 2),
            "decisions": self.decisions,
            **{key: round(value, 4) for key, value in asdict(self.figures).items()},
        }


def replay(
    as_json: JsonFlag = False,
    jobs: Annotated[int, typer.Option(min=1, help="Jobs of the scale run.")] = 80_000,
    skip_scale: Annotated[bool, typer.Option("--skip-scale", help="Only compare policies.")] = False,
) -> None:
    """Compare sharing policies on recorded traces, and time a replay of 80,000 jobs."""
    philly = _read("gavel_philly.csv")
    openb = _read("openb_pods.csv")
    rows: list[Measured] = []
    for measured in _quality(philly):
        rows.append(measured)
        _show(measured)
    rows.append(_measure("openb", openb, Policy.IDLE_SHARING, 1.0))
    _show(rows[-1])
    scale = [] if skip_scale else list(_scale(philly, jobs))
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    gains = {load: _gain(rows, load) for load in LOADS}
    left_out: dict[str, JsonValue] = {"gavel_philly": dict(philly.left_out), "openb": dict(openb.left_out)}
    if as_json:
        print_json(
            {
                "runs": [row.to_json() for row in rows],
                "scale": [row.to_json() for row in scale],
                "elastic_gain": {str(load): round(gain, 4) for load, gain in gains.items()},
                "peak_megabytes": round(megabytes, 1),
                "left_out": left_out,
            }
        )
    else:
        slowest = max((row.seconds for row in scale), default=0.0)
        worst = min(gains.values())
        typer.echo(f"left out: {left_out}")
        typer.echo(
            f"replay: {jobs} jobs in {slowest:.1f} s at worst, {megabytes:.0f} MB, "
            f"elastic gain over static partition {100 * worst:.1f} % at worst"
        )
    is_fast = all(row.seconds <= GOAL_SECONDS for row in scale) and megabytes <= GOAL_MEGABYTES
    if not is_fast or min(gains.values()) < GOAL_GAIN or not _never_worse(rows):
        raise typer.Exit(1)


def _quality(trace: Trace) -> Iterator[Measured]:
    for load in LOADS:
        for policy in Policy:
            yield _measure("gavel_philly", trace, policy, load)
        yield _measure("gavel_philly", trace, Policy.IDLE_SHARING_ELASTIC, load, speed_up=0.8)


def _scale(trace: Trace, jobs: int) -> Iterator[Measured]:
    large = repeated(trace, jobs, SEED)
    for load in LOADS:
        measured = _measure(f"gavel_philly x {jobs}", large, Policy.IDLE_SHARING, load, tick_s=SCALE_TICK_S)
        _show(measured)
        yield measured


def _measure(
    name: str, trace: Trace, policy: Policy, load: float, *, speed_up: float = 1.0, tick_s: float = 0.0
) -> Measured:
    gpus = gpus_for_load(trace, load)
    world = world_for(policy, team_shares(trace, gpus), gpus)
    jobs = jobs_for(policy, trace)
    started = process_time()
    result = simulate(world, jobs, SimulationSettings(speed_up=speed_up, tick_s=tick_s))
    seconds = process_time() - started
    return Measured(
        trace=name,
        policy=policy,
        load=load,
        gpus=gpus,
        speed_up=speed_up,
        tick_s=tick_s,
        seconds=seconds,
        decisions=result.decisions,
        figures=figures(trace, result, gpus),
    )


def _show(row: Measured) -> None:
    found = row.figures
    typer.echo(
        f"{row.trace:<22} load {row.load:.1f} on {row.gpus} GPUs  {row.policy.value:<22}"
        f" speed-up {row.speed_up:.1f}  completion {found.average_completion_s / 3600:9.1f} h"
        f" (p95 {found.p95_completion_s / 3600:9.1f})  wait {found.average_wait_s / 3600:9.1f} h"
        f"  used {found.utilisation:.3f}  preempted {found.preemptions}  fairness {found.fairness:.3f}"
        f"  in {row.seconds:.1f} s",
        err=True,
    )


def _average(rows: list[Measured], policy: Policy, load: float) -> float:
    return next(
        row.figures.average_completion_s
        for row in rows
        if (row.trace, row.policy, row.load, row.speed_up) == ("gavel_philly", policy, load, 1.0)
    )


def _gain(rows: list[Measured], load: float) -> float:
    elastic = _average(rows, Policy.IDLE_SHARING_ELASTIC, load)
    return 1.0 - elastic / _average(rows, Policy.STATIC_PARTITION, load)


def _never_worse(rows: list[Measured]) -> bool:
    """Idle sharing with elastic jobs against Kueue's rules without borrowing."""
    return all(
        _average(rows, Policy.IDLE_SHARING_ELASTIC, load) <= _average(rows, Policy.KUEUE_NO_BORROWING, load)
        for load in LOADS
    )


def _read(name: str) -> Trace:
    with (TRACES / name).open(encoding="utf-8") as lines:
        return read_trace(lines)
