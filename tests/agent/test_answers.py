"""Words answer the open question when they are nothing but an answer, and never more than they say."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.answers import SpokenAnswer, answer_in_words
from core.ids import QuestionId
from core.json_value import JsonValue
from core.messages.message import message
from core.questions import APPROVE, REJECT, Option, QuestionKind
from state.records import Question, QuestionStatus


def question(kind: QuestionKind, *values: JsonValue, takes_other: bool = False) -> Question:
    options = tuple(
        Option(
            id=f"o{place}",
            value=value,
            label=message("general.text", text=str(value)),
            is_recommended=place == 0,
        )
        for place, value in enumerate(values)
    )
    return Question(
        id=QuestionId("q"),
        name="n",
        kind=kind,
        prompt=message("general.text", text="?"),
        options=options,
        options_version=1,
        status=QuestionStatus.OPEN,
        asked_at=datetime(2026, 11, 30, tzinfo=UTC),
        takes_other=takes_other,
    )


ON_DEMAND: JsonValue = {"mode": "on_demand", "count": 5, "plan": None}
ELSEWHERE: JsonValue = {"mode": "on_demand", "count": 8, "zone": "usw2-az1"}
ZONES = question(QuestionKind.AVAILABILITY_ZONE, "usw2-az1", "usw2-az2", "usw2-az3")
TYPES = question(QuestionKind.INSTANCE_TYPE, "ml.p5.48xlarge", "ml.p5en.48xlarge")
CAPACITY = question(QuestionKind.CAPACITY, ON_DEMAND, ELSEWHERE, takes_other=True)
APPROVAL = question(QuestionKind.APPROVAL, APPROVE, REJECT)
TARGET = question(QuestionKind.TARGET, "base", "base-2", "llama")
NAME = question(QuestionKind.MISSING, "training-1", takes_other=True)
NODES = question(QuestionKind.MISSING, takes_other=True)


def said(asked: Question, words: str) -> SpokenAnswer | None:
    return answer_in_words(asked, words, region="us-west-2")


@pytest.mark.parametrize(
    ("asked", "words", "option"),
    [
        (ZONES, "2", "o1"),
        (ZONES, "#2", "o1"),
        (ZONES, "option 3", "o2"),
        (ZONES, "２", "o1"),
        (ZONES, "the second", "o1"),
        (ZONES, "let's take the first one", "o0"),
        (ZONES, "the last", "o2"),
        (ZONES, "第二个", "o1"),
        (ZONES, "选第 3 个", "o2"),
        (ZONES, "选 2", "o1"),
        (ZONES, "az2", "o1"),
        (ZONES, "usw2-az2 please", "o1"),
        (ZONES, "Put it in USW2-AZ3.", "o2"),
        (ZONES, "放在 usw2-az2 吧", "o1"),
        (ZONES, "the recommended one", "o0"),
        (ZONES, "推荐的那个", "o0"),
        (TYPES, "p5en", "o1"),
        (TYPES, "use ml.p5.48xlarge", "o0"),
        (CAPACITY, "5 nodes on demand", "o0"),
        (CAPACITY, "8 on-demand nodes in usw2-az1", "o1"),
        (CAPACITY, "1", "o0"),
        (APPROVAL, "yes", "o0"),
        (APPROVAL, "Yes, go ahead!", "o0"),
        (APPROVAL, "looks good, go", "o0"),
        (APPROVAL, "ok, thanks", "o0"),
        (APPROVAL, "好的，批准，谢谢", "o0"),
        (APPROVAL, "no, cancel it", "o1"),
        (APPROVAL, "算了，不用了", "o1"),
        (APPROVAL, "同意", "o0"),
        (APPROVAL, "好的。", "o0"),
        (APPROVAL, "2", "o1"),
        (APPROVAL, "no", "o1"),
        (APPROVAL, "不同意", "o1"),
        (TARGET, "base", "o0"),
        (TARGET, "base-2", "o1"),
        (TARGET, "the llama cluster", "o2"),
        (TARGET, "用 llama 集群", "o2"),
    ],
)
def test_an_option_is_named_in_words(asked: Question, words: str, option: str) -> None:
    assert said(asked, words) == SpokenAnswer(option_id=option)


@pytest.mark.parametrize(
    ("asked", "words", "value"),
    [
        (NAME, "llama", "llama"),
        (NAME, "call it llama", "llama"),
        (NAME, "就叫 llama 吧", "llama"),
        (NODES, "2", 2),
        (ZONES, "usw2-az9", "usw2-az9"),
        (CAPACITY, "6 nodes, spot", {"mode": "spot", "count": 6}),
        (CAPACITY, "三台按需", {"mode": "on_demand", "count": 3}),
    ],
)
def test_a_value_is_taken_as_written(asked: Question, words: str, value: JsonValue) -> None:
    assert said(asked, words) == SpokenAnswer(value=value)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (ZONES, "usw2-az2, and make it 6 nodes"),
        (ZONES, "usw2-az1 or usw2-az2"),
        (ZONES, "not usw2-az1"),
        (ZONES, "9"),
        (ZONES, "which one is cheaper?"),
        (ZONES, "yes"),
        (TYPES, "something with H100"),
        (APPROVAL, "no, make it 8"),
        (APPROVAL, "yes but in usw2-az2"),
        (APPROVAL, "ok, no"),
        (APPROVAL, "thanks"),
        (APPROVAL, "what does it cost?"),
        (APPROVAL, "同意，但是改成 4 台"),
        (TARGET, "delete base and llama"),
        (CAPACITY, "at least 4 nodes"),
        (NAME, "what names are allowed?"),
        (ZONES, ""),
    ],
)
def test_more_or_less_than_an_answer_is_none(asked: Question, words: str) -> None:
    assert said(asked, words) is None


@settings(max_examples=100)
@given(st.text(max_size=60))
def test_no_text_approves_by_accident(words: str) -> None:
    found = said(APPROVAL, words)

    assert found is None or found.option_id in {"o0", "o1"}
    if found == SpokenAnswer(option_id="o0"):
        assert len(words.strip()) <= 20
