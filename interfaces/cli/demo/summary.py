"""The table at the end of the demo, in 80 columns, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.json_value import JsonValue
from core.messages.message import Language, MessageParam, message
from interfaces.cli.demo.proof import Proof, answered
from interfaces.cli.screen import Screen, rows_of_cells
from state.questions import shown_answer, shown_principal
from state.records import Run, StepRecord
from workflows.catalogue import WORKFLOWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """`phases` are the demo's own, in seconds by the name of their text."""

    proof: Proof
    phases: Mapping[str, float]
    peak_mib: float


def show_summary(played: Played, *, screen: Screen, language: Language) -> None:
    proof = played.proof

    def say(key: str, /, **params: MessageParam) -> str:
        return message(key, **params).render(language)

    def block(title: str, rows: Sequence[Sequence[str]]) -> None:
        screen.line()
        screen.line(say(title), style="bold")
        for line in rows_of_cells(rows):
            screen.line(line, indent=2)

    times = [[say(f"demo.phase_{name}"), f"{seconds:6.1f} s"] for name, seconds in played.phases.items()]
    block("demo.title_phases", times)
    for run in proof.runs:
        screen.line()
        screen.line(say("demo.title_steps", workflow=run.workflow, run=run.id), style="bold")
        for line in rows_of_cells(_phase_rows(run, proof.steps[run.id], language)):
            screen.line(line, indent=2)
    counts = [[count.call, f"{count.in_log}x", f"{count.in_ledger}x"] for count in proof.calls]
    block("demo.title_calls", [[say("demo.column_call"), say("demo.column_log"), say("demo.column_ledger")], *counts])
    block("demo.title_choices", _choices(proof))
    block("demo.title_questions", _answers(proof, language))
    block(
        "demo.title_checks",
        [[say("demo.yes" if item.holds else "demo.no"), item.text.render(language)] for item in proof.checks],
    )
    screen.line()
    screen.line(say("demo.memory", mib=round(played.peak_mib)))
    screen.line(
        say("demo.holds" if proof.holds else "demo.does_not_hold"), style="bold green" if proof.holds else "bold red"
    )


def summary_json(played: Played, language: Language) -> dict[str, JsonValue]:
    """`holds` decides the exit code; counts are numbers, times seconds, memory MiB."""
    proof = played.proof
    return {
        "holds": proof.holds,
        "seconds": round(sum(played.phases.values()), 1),
        "peak_memory_mib": round(played.peak_mib),
        "kills": int(proof.kill is not None),
        "steps": sum(len(steps) for steps in proof.steps.values()),
        "effects": sum(count.in_log for count in proof.calls),
        "phases": [{"name": name, "seconds": round(seconds, 1)} for name, seconds in played.phases.items()],
        "calls": [{"call": count.call, "in_log": count.in_log, "in_ledger": count.in_ledger} for count in proof.calls],
        "choices": [
            {"kind": kind, "value": value, "origin": origin, "quote": quote}
            for kind, value, origin, quote in _choices(proof)
        ],
        "questions": [
            {"kind": kind, "answer": answer, "answered_by": who} for kind, answer, who in _answers(proof, language)
        ],
        "checks": [{"holds": check.holds, "text": check.text.render(language)} for check in proof.checks],
    }


def _phase_rows(run: Run, steps: Sequence[StepRecord], language: Language) -> list[list[str]]:
    """One row per phase: how many steps, how often they began, how long they took."""
    phases: dict[str, list[StepRecord]] = {}
    for step in steps:
        phases.setdefault(_phase_of(run, step), []).append(step)
    return [
        [
            name,
            message("demo.steps_count", count=len(members)).render(language),
            message("demo.attempts_count", count=sum(step.attempts for step in members)).render(language),
            f"{sum((_duration(step) for step in members), timedelta()).total_seconds():6.1f} s",
        ]
        for name, members in phases.items()
    ]


def _phase_of(run: Run, step: StepRecord) -> str:
    for workflow in WORKFLOWS:
        if (workflow.name, workflow.version) == (run.workflow, run.workflow_version):
            return workflow.step(step.name).phase or step.name
    return step.name


def _duration(step: StepRecord) -> timedelta:
    return step.ended_at - step.started_at if step.ended_at is not None else timedelta()


def _choices(proof: Proof) -> list[list[str]]:
    rows = []
    for plan in proof.plans:
        for node in plan.nodes:
            for kind, choice in node.choices.items():
                if isinstance(choice, Mapping):
                    rows.append(
                        [kind, _shown(choice.get("value")), _shown(choice.get("origin")), _shown(choice.get("quote"))]
                    )
    return rows


def _shown(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return " ".join(str(item) for item in value.values() if item is not None)
    return str(value)


def _answers(proof: Proof, language: Language) -> list[list[str]]:
    return [
        [
            question.kind.value,
            shown_answer(question, question.answer).render(language),
            shown_principal(question.answered_by).render(language) if question.answered_by else "",
        ]
        for question in answered(proof)
    ]
