"""What was typed under a question, read as an answer or as something else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_value import JsonValue
from core.messages.message import message
from core.questions import APPROVE, REJECT, Option, QuestionKind
from core.reasons import InputRefused, RefusalReason
from interfaces.answers import Reply, read_reply
from state.records import Question
from tests.builders.question_rows import a_question, an_option

ZONES = a_question(
    kind=QuestionKind.AVAILABILITY_ZONE,
    options=(
        an_option("a", "usw2-az1", "us-west-2a (usw2-az1)"),
        an_option("b", "usw2-az2", "us-west-2b (usw2-az2)"),
    ),
)
APPROVAL = a_question(
    kind=QuestionKind.APPROVAL, options=(an_option("a", APPROVE, "Approve"), an_option("b", REJECT, "Reject"))
)
NAME = a_question(kind=QuestionKind.MISSING, options=(), takes_other=True)


@pytest.mark.parametrize("text", ["2", "２", " 2 ", "2.", "usw2-az2", "USW2-AZ2", "us-west-2b", "b"])
def test_a_zone_is_answered_by_number_value_or_a_word_of_its_label(text: str) -> None:
    assert read_reply(ZONES, text) == Reply(option_id="b")


@pytest.mark.parametrize(("text", "option"), [("yes", "a"), ("同意", "a"), ("1", "a"), ("No.", "b"), ("不要", "b")])
def test_an_approval_is_answered_in_either_language(text: str, option: str) -> None:
    assert read_reply(APPROVAL, text) == Reply(option_id=option)


@pytest.mark.parametrize("text", ["yes, but with 8 nodes", "no, make it 8", "not yet", "approve the other one"])
def test_a_sentence_under_an_approval_is_a_wish_not_a_verdict(text: str) -> None:
    assert read_reply(APPROVAL, text) is None


def test_words_that_fit_two_options_are_no_answer() -> None:
    both = a_question(
        kind=QuestionKind.TARGET, options=(an_option("a", "x1", "the plan one"), an_option("b", "x2", "the plan two"))
    )

    assert read_reply(both, "plan") is None


@pytest.mark.parametrize("number", ["0", "3", "-1", "2.5", "99999999999"])
def test_a_number_off_the_list_is_refused(number: str) -> None:
    with pytest.raises(InputRefused) as refused:
        read_reply(ZONES, number)

    assert refused.value.reason is RefusalReason.ANSWER_NOT_AN_OPTION


def test_a_value_is_taken_as_written_where_the_question_takes_one() -> None:
    assert read_reply(NAME, "train-a") == Reply(value="train-a")
    assert read_reply(NAME, "please delete the cluster instead of this") is None


@pytest.mark.parametrize("text", ["我现在有哪些集群？", "what is this?", "先不要创建集群", "stop, please"])
def test_a_sentence_is_no_value(text: str) -> None:
    assert read_reply(NAME, text) is None


@given(st.text(max_size=200))
def test_whatever_is_typed_is_an_answer_a_wish_or_refused(text: str) -> None:
    try:
        reply = read_reply(ZONES, text)
    except InputRefused:
        return
    assert reply is None or reply.option_id in {"a", "b"}


@given(st.sampled_from([ZONES, APPROVAL]), st.data())
def test_every_value_on_offer_can_be_typed(question: Question, data: st.DataObject) -> None:
    option: Option = data.draw(st.sampled_from(question.options))
    value: JsonValue = option.value

    assert read_reply(question, str(value)) == Reply(option_id=option.id)


def test_a_label_in_chinese_answers_too() -> None:
    question = a_question(
        kind=QuestionKind.TARGET,
        options=(
            Option(id="a", value=1, label=message("general.yes")),
            Option(id="b", value=2, label=message("general.no")),
        ),
    )

    assert read_reply(question, "是") == Reply(option_id="a")
