"""Answers as steps see them."""

from __future__ import annotations

from core.ids import RunId
from state.records import QuestionStatus
from state.repository import Repository
from workflows.definition import Answer


def answer_to(repository: Repository, run_id: RunId, name: str) -> Answer | None:
    """How this run's newest question of that name was answered; `None` while it is not."""
    question = repository.newest_question(run_id, name)
    if question is None or question.status is not QuestionStatus.ANSWERED:
        return None
    if question.answered_by is None or question.answered_at is None:
        raise ValueError(f"question {question.id!r} is answered by nobody")
    return Answer(value=question.answer, by=question.answered_by, at=question.answered_at, question_id=question.id)
