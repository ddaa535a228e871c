"""`muster eval crash`: whatever dies, whenever, every effect happens once and the run ends as if nothing had happened.

The worker is killed with SIGKILL at every commit and around every changing call of every workflow of the catalogue;
the one that takes over is killed at a random later event; then nobody is killed any more. What is compared with an
undisturbed play: the twin's own count of effects and its final state, the ledger, the run, the questions and answers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Annotated

import typer

from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from evals.crash_cases import CASES, Case
from evals.crash_play import Disturbance, Ending, Stage
from evals.crash_twin import running_twin
from evals.reporting import JsonOption, finish
from state.records import RunStatus
from tools.access import ToolAccess
from tools.clients.base import Clients

_OVERSHOOT = 2
"""How far beyond the last event the second kill may be aimed: the one that takes over does a little more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One play compared with the undisturbed one of its case."""

    where: str
    kills: int
    duplicated: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    wrong: tuple[str, ...] = ()
    is_stuck: bool = False

    @property
    def is_clean(self) -> bool:
        return not (self.duplicated or self.lost or self.wrong or self.is_stuck)

    def line(self) -> str:
        found = [f"duplicated {dict(self.duplicated)}"] if self.duplicated else []
        found += [f"lost {dict(self.lost)}"] if self.lost else []
        found += ["stuck"] if self.is_stuck else []
        return f"{self.where}: {'; '.join([*found, *self.wrong])}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The event of a case at which the first worker dies."""

    case: Case
    number: int
    event: str
    events: int


def crash(
    workflow: Annotated[str | None, typer.Option("--workflow", help="Only this one.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the sample and of the second kills.")] = 0,
    kills: Annotated[
        int | None, typer.Option("--kills", min=2, help="Sample the points: about so many kills. Default: every point.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Kill the worker everywhere and compare with an undisturbed run."""
    cases = cases_of(workflow)
    began = time.monotonic()
    verdicts, points = kill_everywhere(cases, seed=seed, kills=kills)
    result = score(verdicts)
    figure = ", ".join(f"{name} {result[name]}" for name in ("kills", "duplicated", "lost", "wrong_ends", "stuck"))
    dirty = [verdict.line() for verdict in verdicts if not verdict.is_clean]
    seconds = round(time.monotonic() - began, 1)
    finish(
        {**result, "plays": len(verdicts), "points": points, "seconds": seconds, "seed": seed, "faults": list(dirty)},
        lines=dirty,
        figure=f"crash: {figure} in {len(verdicts)} plays of {points} points, {seconds} s",
        holds=holds(result),
        as_json=as_json,
    )


def cases_of(workflow: str | None) -> tuple[Case, ...]:
    """Raises `InputRefused` for a workflow that is not in the catalogue."""
    cases = tuple(case for case in CASES if workflow in {None, case.workflow})
    if not cases:
        known = ", ".join(sorted({case.workflow for case in CASES}))
        raise InputRefused(
            RefusalReason.NAME_UNKNOWN, message("workflows.not_measured", name=workflow or "", known=known)
        )
    return cases


def kill_everywhere(
    cases: Sequence[Case],
    *,
    seed: int,
    kills: int | None = None,
    access: Callable[[Clients], ToolAccess] = ToolAccess,
) -> tuple[list[Verdict], int]:
    """The verdict of each play, and how many points there are. `access` makes the tools of the plays with kills: a
    planted fault is another one."""
    random = Random(seed)
    with running_twin() as (control, folder):
        stage = Stage(control, folder, seed=seed)
        undisturbed = {case.title: stage.undisturbed(case) for case in cases}
        points = [point for case in cases for point in _points(case, undisturbed[case.title][1])]
        verdicts = []
        for point in points if kills is None else _sample(points, kills, random):
            second = random.randint(1, point.events - point.number + _OVERSHOOT)
            deaths = [Disturbance(dies_at=point.number), Disturbance(dies_at=second)]
            ending = stage.play(point.case, deaths, access=access)
            where = f"{point.case.title}, {point.event} ({point.number}), then {second}"
            verdicts.append(compare(where, undisturbed[point.case.title][0], ending))
    return verdicts, len(points)


def compare(where: str, undisturbed: Ending, disturbed: Ending) -> Verdict:
    is_stuck = disturbed.status.partition(":")[0] not in {status.value for status in RunStatus if _is_end(status)}
    pairs: Mapping[str, tuple[object, object]] = {
        "status": (disturbed.status, undisturbed.status),
        "live": (disturbed.live, undisturbed.live),
        "data": (disturbed.data, undisturbed.data),
        "ledger": (disturbed.ledger, undisturbed.ledger),
        "questions": (disturbed.questions, undisturbed.questions),
        "outcome questions asked again": (disturbed.repeated_outcome_questions, 0),
        "faults": (disturbed.faults, ()),
    }
    wrong = tuple(f"{name} {mine!r} instead of {theirs!r}" for name, (mine, theirs) in pairs.items() if mine != theirs)
    return Verdict(
        where=where,
        kills=disturbed.kills,
        duplicated=disturbed.effects - undisturbed.effects,
        lost=undisturbed.effects - disturbed.effects,
        wrong=() if is_stuck else wrong,
        is_stuck=is_stuck,
    )


def score(verdicts: Sequence[Verdict]) -> JsonObject:
    return {
        "kills": sum(verdict.kills for verdict in verdicts),
        "duplicated": sum(verdict.duplicated.total() for verdict in verdicts),
        "lost": sum(verdict.lost.total() for verdict in verdicts),
        "wrong_ends": sum(bool(verdict.wrong) for verdict in verdicts),
        "stuck": sum(verdict.is_stuck for verdict in verdicts),
    }


def holds(result: JsonObject) -> bool:
    return result["kills"] != 0 and all(result[name] == 0 for name in ("duplicated", "lost", "wrong_ends", "stuck"))


def _is_end(status: RunStatus) -> bool:
    return status.is_finished or status is RunStatus.FAILED


def _points(case: Case, events: Sequence[str]) -> list[Point]:
    return [
        Point(case=case, number=number, event=event, events=len(events)) for number, event in enumerate(events, start=1)
    ]


def _sample(points: Sequence[Point], kills: int, random: Random) -> list[Point]:
    """Two kills a point, and each case in turn, so that a small sample leaves no workflow out."""
    by_case: dict[str, list[Point]] = {}
    for point in random.sample(points, len(points)):
        by_case.setdefault(point.case.title, []).append(point)
    rounds = max(len(queue) for queue in by_case.values())
    turns = [queue[turn] for turn in range(rounds) for queue in by_case.values() if turn < len(queue)]
    return turns[: max(kills // 2, 1)]
