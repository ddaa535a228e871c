from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.ids import QuestionId
from core.json_value import JsonValue
from core.messages.message import message
from core.questions import Option, QuestionKind
from evals.scenario_human import MOST_TIMES, Given, Human
from state.records import Question, QuestionStatus


def question(kind: QuestionKind, *values: JsonValue, name: str = "q", field: str | None = None) -> Question:
    label = message("general.text", text="-")
    return Question(
        id=QuestionId("question-1"),
        name=name,
        kind=kind,
        prompt=label,
        options=tuple(Option(id=f"o{place}", value=value, label=label) for place, value in enumerate(values)),
        options_version=1,
        status=QuestionStatus.OPEN,
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
        takes_other=True,
        field=field,
    )


SHORT: list[JsonValue] = [
    {"mode": "on_demand", "count": 5, "zone": "usw2-az1"},
    {"mode": "on_demand", "count": 3, "plan": None},
    {"mode": "training_plan", "count": 3, "plan": "plan-a"},
]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param({"mode": "on_demand", "count": 3}, Given(option_id="o1"), id="all keys given agree"),
        pytest.param({"mode": "on_demand"}, Given(option_id="o0"), id="the first that agrees"),
        pytest.param({"plan": "plan-a"}, Given(option_id="o2"), id="one key is enough"),
        pytest.param({"mode": "spot", "count": 1}, Given(value={"mode": "spot", "count": 1}), id="else as written"),
    ],
)
def test_a_capacity_answer(answer: JsonValue, expected: Given) -> None:
    assert Human({QuestionKind.CAPACITY: answer}).answer(question(QuestionKind.CAPACITY, *SHORT)) == expected


def test_a_zone_that_is_no_option_is_no_answer() -> None:
    human = Human({QuestionKind.AVAILABILITY_ZONE: "usw2-az9"})

    assert human.answer(question(QuestionKind.AVAILABILITY_ZONE, "usw2-az1")) is None


def test_a_list_is_used_in_order_and_then_ends() -> None:
    human = Human({QuestionKind.AVAILABILITY_ZONE: ["usw2-az2", "usw2-az1"]})
    asked = question(QuestionKind.AVAILABILITY_ZONE, "usw2-az1", "usw2-az2")

    assert [human.answer(asked) for _ in range(3)] == [Given(option_id="o1"), Given(option_id="o0"), None]


def test_a_standing_answer_serves_every_question_of_its_kind() -> None:
    human = Human({QuestionKind.APPROVAL: "approve"})

    given = [human.answer(question(QuestionKind.APPROVAL, "reject", "approve", name=name)) for name in "abcdef"]

    assert given == [Given(option_id="o1")] * 6


def test_a_standing_answer_to_one_question_is_not_given_for_ever() -> None:
    human = Human({QuestionKind.CAPACITY: {"mode": "spot", "count": 999}})

    given = [human.answer(question(QuestionKind.CAPACITY)) for _ in range(MOST_TIMES + 1)]

    assert given[-1] is None and given[-2] is not None


def test_who_has_no_answer_of_the_kind_stays_silent() -> None:
    assert Human({}).answer(question(QuestionKind.APPROVAL, "approve")) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("llama", Given(value="llama"), id="for every field"),
        pytest.param({"name": "llama", "image": "x"}, Given(value="llama"), id="by field"),
        pytest.param(True, Given(value=True), id="true is not one"),
    ],
)
def test_a_missing_value(answer: JsonValue, expected: Given) -> None:
    asked = question(QuestionKind.MISSING, 1, field="name")

    assert Human({QuestionKind.MISSING: answer}).answer(asked) == expected
