"""`muster eval effects`: every workflow on its happy path, with each answer lost in turn, and killed at each effect.

The table of what "exactly once" rests on. An entry is exact when twin, ledger, run and questions are as in the play
that nothing disturbed, and that play itself has as many effects at the twin as its ledger has applied.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from core.json_value import JsonObject
from evals.crash import Verdict, cases_of, compare
from evals.crash_cases import Case
from evals.crash_play import Disturbance, Ending, Stage
from evals.crash_twin import running_twin
from evals.reporting import JsonOption, finish
from state.records import EffectStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How many of the plays of one kind were exact, and what was wrong in the others."""

    name: str
    plays: int
    faults: tuple[str, ...]

    def cell(self) -> str:
        return f"{self.plays - len(self.faults)}/{self.plays}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRow:
    title: str
    effects: int
    """Changing calls that took effect in the undisturbed play."""
    columns: tuple[Column, ...]

    @property
    def is_exact(self) -> bool:
        return all(column.plays > 0 and not column.faults for column in self.columns)

    def to_json(self) -> JsonObject:
        cells: JsonObject = {
            column.name: {"plays": column.plays, "faults": list(column.faults)} for column in self.columns
        }
        return {"case": self.title, "effects": self.effects, **cells}


def effects(
    workflow: Annotated[str | None, typer.Option("--workflow", help="Only this one.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the twin.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Lose the answer of each effect, kill at each effect, and show which ends are exact."""
    began = time.monotonic()
    rows = measure(cases_of(workflow), seed=seed)
    exact, seconds = sum(row.is_exact for row in rows), round(time.monotonic() - began, 1)
    plays = sum(column.plays for row in rows for column in row.columns)
    faults = [fault for row in rows for column in row.columns for fault in column.faults]
    finish(
        {"rows": [row.to_json() for row in rows], "exact": exact, "plays": plays, "seconds": seconds, "seed": seed},
        lines=[*table(rows), *faults],
        figure=f"effects: {exact} of {len(rows)} cases exact in {plays} plays, {seconds} s",
        holds=exact == len(rows),
        as_json=as_json,
    )


def measure(cases: Sequence[Case], *, seed: int) -> list[CaseRow]:
    with running_twin() as (control, folder):
        stage = Stage(control, folder, seed=seed)
        return [_row(stage, case) for case in cases]


def table(rows: Sequence[CaseRow]) -> list[str]:
    """Aligned lines; the first names the columns."""
    head = ["workflow", "effects", *(column.name.replace("_", " ") for column in rows[0].columns)]
    cells = [head, *([row.title, str(row.effects), *(column.cell() for column in row.columns)] for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def happy_faults(case: Case, ending: Ending) -> tuple[str, ...]:
    """What the undisturbed play has to show for itself: as many effects as the ledger applied, and no other entry."""
    unsettled = [entry for entry in ending.ledger if not entry.endswith(EffectStatus.APPLIED)]
    applied, made = ending.ledger.total(), ending.effects.total()
    if unsettled or applied != made:
        return (f"{case.title}: {made} effects at the twin, {applied} in the ledger, {unsettled} not applied",)
    return ()


def _row(stage: Stage, case: Case) -> CaseRow:
    ending, events = stage.undisturbed(case)
    happy = Column(name="happy_path", plays=1, faults=happy_faults(case, ending))
    verdicts = list(_disturbed(stage, case, ending, events))
    names = ("lost_response", "killed_before", "killed_after")
    columns = (
        Column(
            name=name,
            plays=sum(kind == name for kind, _ in verdicts),
            faults=tuple(verdict.line() for kind, verdict in verdicts if kind == name and not verdict.is_clean),
        )
        for name in names
    )
    return CaseRow(title=case.title, effects=ending.effects.total(), columns=(happy, *columns))


def _disturbed(stage: Stage, case: Case, ending: Ending, events: Sequence[str]) -> Iterator[tuple[str, Verdict]]:
    seen: Counter[str] = Counter()
    for number, event in enumerate(events, start=1):
        when, call = event.split(" ", 1)
        if call == "commit":
            continue
        seen[when] += 1
        yield f"killed_{when}", _verdict(stage, case, ending, Disturbance(dies_at=number), event)
        if when == "after":
            lost = Disturbance(loses=seen[when])
            yield "lost_response", _verdict(stage, case, ending, lost, f"answer of {call} lost")


def _verdict(stage: Stage, case: Case, undisturbed: Ending, disturbance: Disturbance, what: str) -> Verdict:
    return compare(f"{case.title}, {what}", undisturbed, stage.play(case, [disturbance]))
