"""Muster's own rows: what it is doing, and what waits for a person."""

from __future__ import annotations

from typing import Final

from agent.looks.clusters import ClusterParams, NoParams
from agent.toolbox.reads import Looking, LookTool, look_tool
from core.ids import ClusterName
from core.json_value import JsonObject
from core.messages.message import Message
from state.records import Question, QuestionStatus, Run

_MOST_RUNS: Final = 12


def _list_runs(looking: Looking, params: ClusterParams) -> JsonObject:
    cluster = ClusterName(params.cluster) if params.cluster is not None else None
    runs = looking.repository.list_runs(cluster=cluster, limit=_MOST_RUNS)
    return {"runs": [_run(looking, run) for run in runs]}


def _list_questions(looking: Looking, params: NoParams) -> JsonObject:
    return {
        "questions": [_question(looking, row) for row in looking.repository.list_questions(status=QuestionStatus.OPEN)]
    }


def _run(looking: Looking, run: Run) -> JsonObject:
    return {
        "name": run.id,
        "workflow": run.workflow,
        "cluster": run.cluster,
        "status": run.status.value,
        "step": run.step,
        "reason": _text(looking, run.reason),
        "message": _text(looking, run.failure.message if run.failure else None),
        "at": run.updated_at.isoformat(timespec="seconds"),
    }


def _question(looking: Looking, question: Question) -> JsonObject:
    return {
        "name": question.id,
        "kind": question.kind.value,
        "message": question.prompt.render(looking.language),
        "run": question.run_id,
        "plan": question.plan_id,
    }


def _text(looking: Looking, text: Message | None) -> str:
    return text.render(looking.language) if text is not None else ""


LIST_RUNS: Final[LookTool] = look_tool(
    "list_runs", "What Muster has done and is doing: runs with status, step and reason.", ClusterParams, _list_runs
)
LIST_QUESTIONS: Final[LookTool] = look_tool(
    "list_questions", "Questions that wait for a person.", NoParams, _list_questions
)
