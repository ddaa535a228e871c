"""The figures of a whole evaluation, as a table for people and as one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.json_value import JsonObject
from evals.scenario_scoring import Verdict

_WIDEST_REASON = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    scenarios: int
    success: float
    """Share of runs that pass, over all seeds."""
    pass_k: float
    """Share of scenarios that pass every seed."""
    invented: int
    missed: int
    needless: int


def figures(verdicts: Sequence[Verdict]) -> Figures:
    """Raises `ValueError` without any verdict: nothing measured is no success."""
    if not verdicts:
        raise ValueError("no scenario was played")
    groups = by_scenario(verdicts)
    return Figures(
        scenarios=len(groups),
        success=sum(verdict.passes for verdict in verdicts) / len(verdicts),
        pass_k=sum(all(verdict.passes for verdict in group) for group in groups.values()) / len(groups),
        invented=sum(verdict.invented for verdict in verdicts),
        missed=sum(verdict.missed for verdict in verdicts),
        needless=sum(verdict.needless for verdict in verdicts),
    )


def by_scenario(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.played.scenario.id, []).append(verdict)
    return groups


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """One line per scenario; below a failed one, its first reason."""
    lines = []
    for name, group in by_scenario(verdicts).items():
        passed, seconds = sum(verdict.passes for verdict in group), sum(verdict.played.seconds for verdict in group)
        mark = "pass" if passed == len(group) else "FAIL"
        asked = sum(len(verdict.played.questions) for verdict in group)
        lines.append(
            f"{mark}  {passed}/{len(group)}  {seconds / len(group):5.1f} s  {asked / len(group):4.1f} questions  {name}"
        )
        first = next((verdict for verdict in group if not verdict.passes), None)
        if first is not None:
            lines.append(f"        seed {first.played.seed}: {first.reasons[0][:_WIDEST_REASON]}")
        unfired = sorted({fault for verdict in group for fault in verdict.played.faults_unfired})
        lines += [f"        a fault whose moment never came: {fault}" for fault in unfired]
    return lines


def figure_line(found: Figures, seeds: int) -> str:
    return (
        f"scenarios {found.scenarios}  success {found.success:.1%}  pass^{seeds} {found.pass_k:.1%}"
        f"  invented {found.invented}  missed {found.missed}  needless {found.needless}"
    )


def as_json(verdicts: Sequence[Verdict], seeds: int) -> JsonObject:
    found = figures(verdicts)
    return {
        "scenarios": found.scenarios,
        "success": found.success,
        "pass_k": found.pass_k,
        "invented_choices": found.invented,
        "missed_questions": found.missed,
        "needless_questions": found.needless,
        "k": seeds,
        "tokens": sum(verdict.played.tokens for verdict in verdicts),
        "seconds": round(sum(verdict.played.seconds for verdict in verdicts), 1),
        "runs": [details(verdict) for verdict in verdicts],
    }


def details(verdict: Verdict) -> JsonObject:
    """Everything that helps to understand one run."""
    played = verdict.played
    return {
        "id": played.scenario.id,
        "seed": played.seed,
        "passes": verdict.passes,
        "reasons": list(verdict.reasons),
        "seconds": round(played.seconds, 2),
        "twin_seconds": round(played.twin_seconds),
        "tokens": played.tokens,
        "questions": [
            {
                "kind": question.kind.value,
                "name": question.name,
                "status": question.status.value,
                "answer": question.answer,
            }
            for question in played.questions
        ],
        "runs": [
            {
                "workflow": run.workflow,
                "status": run.status.value,
                "step": run.step,
                "reason": run.reason.english() if run.reason is not None else None,
            }
            for run in played.runs
        ],
        "effects": dict(played.effects),
        "heard": [{"turn": heard.turn, "kind": heard.kind, "text": heard.text} for heard in played.heard],
        "live": played.live,
        "faults_unfired": list(played.faults_unfired),
    }
