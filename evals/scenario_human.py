"""What the scenario's human answers: pure, by the kind of the question and the answers as written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.json_value import JsonObject, JsonValue
from core.questions import Option, QuestionKind
from state.records import Question

_TAKEN_AS_WRITTEN = frozenset({QuestionKind.CAPACITY, QuestionKind.STORAGE, QuestionKind.MISSING})
MOST_TIMES = 4
"""How often one standing answer is given to the same question: one that is refused again and again leads nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """One of both: an option of the list, or a value as written."""

    option_id: str | None = None
    value: JsonValue = None


class Human:
    """Keeps the place in the lists of answers. `answer` counts: it is called once per question put."""

    def __init__(self, answers: Mapping[QuestionKind, JsonValue]) -> None:
        self._answers = answers
        self._places: dict[QuestionKind, int] = {}
        self._repeated: dict[tuple[QuestionKind, str], int] = {}

    def answer(self, question: Question) -> Given | None:
        """`None`: the human stays silent."""
        if question.kind not in self._answers:
            return None
        answers = self._answers[question.kind]
        if _is_list(answers):
            return self._next_of(answers, question)
        asked = (question.kind, question.name)
        self._repeated[asked] = self._repeated.get(asked, 0) + 1
        return choose(answers, question) if self._repeated[asked] <= MOST_TIMES else None

    def _next_of(self, answers: JsonValue, question: Question) -> Given | None:
        place = self._places.get(question.kind, 0)
        if not isinstance(answers, Sequence) or place >= len(answers):
            return None
        self._places[question.kind] = place + 1
        return choose(answers[place], question)


def choose(answer: JsonValue, question: Question) -> Given | None:
    """The first option that agrees in every key that is given; else the answer as written, where the kind allows it."""
    if question.kind is QuestionKind.MISSING and isinstance(answer, Mapping) and question.field is not None:
        answer = answer.get(question.field, answer)
    for option in question.options:
        if agrees(answer, option):
            return Given(option_id=option.id)
    return Given(value=answer) if question.kind in _TAKEN_AS_WRITTEN and answer is not None else None


def agrees(answer: JsonValue, option: Option) -> bool:
    value = option.value
    if isinstance(answer, Mapping):
        return isinstance(value, Mapping) and bool(answer) and _contains(value, answer)
    if isinstance(value, Mapping):
        return any(_equal(answer, item) for item in value.values())
    return _equal(answer, value)


def _contains(value: JsonObject, wanted: JsonObject) -> bool:
    return all(key in value and _equal(item, value[key]) for key, item in wanted.items())


def _equal(one: JsonValue, other: JsonValue) -> bool:
    """`True` is not `1`: YAML tells them apart, so do we."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _is_list(value: JsonValue) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
