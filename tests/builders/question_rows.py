"""Questions as rows, without a repository."""

from __future__ import annotations

from datetime import UTC, datetime

from core.ids import QuestionId
from core.json_value import JsonValue
from core.messages.message import message
from core.questions import Option, QuestionKind
from state.records import Question, QuestionStatus


def an_option(option_id: str, value: JsonValue, label: str) -> Option:
    return Option(id=option_id, value=value, label=message("general.text", text=label))


def a_question(*, kind: QuestionKind, options: tuple[Option, ...], takes_other: bool = False) -> Question:
    return Question(
        id=QuestionId("question-1"),
        name=kind.value,
        kind=kind,
        prompt=message("general.text", text="Which?"),
        options=options,
        options_version=1,
        status=QuestionStatus.OPEN,
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
        takes_other=takes_other,
    )
