"""`muster eval diagnose`: does the health core name whose problem a log shows, and never condemn a healthy node?

Reads cases in the layout of tests/data/health (JSON lines). The log excerpt is the only evidence: `truth` and
`remedy` are prose for people, `tags` and `source` are hints, and none of them is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.health.diagnosis.diagnose import diagnose_report
from core.health.faults import Fault, FaultClass, Outcome, Remediation
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from evals.reporting import JsonOption, finish

ACCURACY_GOAL = 0.9
_CONDEMNS = frozenset({Remediation.REPLACE, Remediation.ISOLATE})
_SPARES_NODES = frozenset({Outcome.SOFTWARE_OR_CONFIGURATION, Outcome.NONE})


class LogCase(BaseModel):
    """One line of a case file. Other fields are allowed and ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    log_excerpt: str
    fault_class: FaultClass
    truth_basis: Annotated[str, Field(min_length=1)]
    """`stated_in_source` is scored. Any other word is a weaker basis, counted under `unscored`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A case and what the core said about it."""

    case: LogCase
    fault: Fault

    @property
    def is_right(self) -> bool:
        return self.fault.outcome is self.case.fault_class.outcome

    @property
    def is_scored(self) -> bool:
        return self.case.truth_basis == "stated_in_source"

    @property
    def is_false_replacement(self) -> bool:
        return self.fault.first_remediation in _CONDEMNS and self.case.fault_class.outcome in _SPARES_NODES


def diagnose(
    cases: Annotated[Path, typer.Option("--cases", help="File of cases, one JSON object a line.")],
    as_json: JsonOption = False,
) -> None:
    """Score the diagnosis of log excerpts against their known causes."""
    judged = judge(read_cases(cases))
    if not any(one.is_scored for one in judged):
        raise _refused("health.cases_unscored", path=str(cases))
    result = score(judged)
    accuracy, false_replacements = _figures(judged)
    finish(
        result,
        lines=[_line(one) for one in judged if not one.is_right or one.is_false_replacement],
        figure=(
            f"diagnose: accuracy {accuracy:.3f}, false replacements {false_replacements}, "
            f"abstentions {_abstentions(judged)}, cases {len(judged)}"
        ),
        holds=accuracy >= ACCURACY_GOAL and false_replacements == 0,
        as_json=as_json,
    )


def read_cases(path: Path) -> tuple[LogCase, ...]:
    """The cases of a file. Raises `InputRefused` naming line and field of the first that is malformed."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _refused("health.cases_unreadable", path=str(path), why=str(error)) from error
    cases: dict[str, LogCase] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        case = _read_case(path, number, line)
        if case.id in cases:
            raise _refused("health.case_doubled", path=str(path), line=number, id=case.id)
        cases[case.id] = case
    if not cases:
        raise _refused("health.cases_empty", path=str(path))
    return tuple(cases.values())


def judge(cases: Sequence[LogCase]) -> tuple[Judged, ...]:
    return tuple(Judged(case=case, fault=diagnose_report(case.log_excerpt)) for case in cases)


def score(judged: Sequence[Judged]) -> JsonObject:
    """The figures under the names that the evals and the release use."""
    accuracy, false_replacements = _figures(judged)
    return {
        "cases": len(judged),
        "accuracy": accuracy,
        "false_replacements": false_replacements,
        "abstentions": _abstentions(judged),
        "wrong": [one.case.id for one in judged if one.is_scored and not one.is_right],
        "scored": sum(one.is_scored for one in judged),
        "unscored": dict(Counter(one.case.truth_basis for one in judged if not one.is_scored)),
        "false_replacement_ids": [one.case.id for one in judged if one.is_false_replacement],
    }


def _figures(judged: Sequence[Judged]) -> tuple[float, int]:
    scored = [one for one in judged if one.is_scored]
    accuracy = sum(one.is_right for one in scored) / len(scored) if scored else 0.0
    return accuracy, sum(one.is_false_replacement for one in judged)


def _abstentions(judged: Sequence[Judged]) -> int:
    return sum(one.fault.outcome is Outcome.NOT_ESTABLISHED for one in judged)


def _line(one: Judged) -> str:
    basis = "" if one.is_scored else " (not scored)"
    said = f"{one.fault.outcome} by {one.fault.rule}, first {one.fault.first_remediation}"
    return f"{one.case.id}: {one.case.fault_class.outcome} wanted, {said}{basis}"


def _read_case(path: Path, number: int, line: str) -> LogCase:
    try:
        return LogCase.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "line"
        raise _refused("health.case_malformed", path=str(path), line=number, field=field, why=first["msg"]) from error


def _refused(key: str, **params: str | int) -> InputRefused:
    return InputRefused(RefusalReason.PARAMETER_INVALID, message(key, **params))
