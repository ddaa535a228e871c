"""Two screens on one conversation, with the real assistant and rows and a scripted model."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from core.governance.principals import Principal
from core.messages.message import Language
from core.reasons import InputRefused, RefusalReason
from interfaces.bootstrap.home import Home
from interfaces.cli.conversation import MAX_MESSAGE_BYTES, OpenConversation, Person
from interfaces.cli.screen import Screen
from tests.agent.talk import ANA, Talk, begin_talk
from tests.builders.people import person
from tests.fakes.model import calls, cite_all, text

NO_ZONE = "Create an EKS cluster called llama with 8 on-demand p5.48xlarge"


class Seat:
    """A person in front of a screen of 80 columns."""

    def __init__(
        self, talk: Talk, home: Home, principal: Principal = ANA, language: Language = Language.ENGLISH
    ) -> None:
        self.output = io.StringIO()
        screen = Screen(Console(file=self.output, width=80, force_terminal=False))
        self.conversation = OpenConversation(
            rows=talk.repository,
            assistant=talk.assistant,
            home=home,
            conversation=talk.repository.get_conversation(talk.conversation_id),
            person=Person(principal=principal, language=language, is_language_fixed=language is not Language.ENGLISH),
            screen=screen,
        )

    def look(self) -> str:
        """What is printed by looking for news."""
        before = self.output.tell()
        self.conversation.show_news()
        return self.output.getvalue()[before:]

    def say(self, words: str) -> str:
        before = self.output.tell()
        self.conversation.take(words)
        self.conversation.show_news()
        return self.output.getvalue()[before:]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    return home


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    found = begin_talk(tmp_path)
    yield found
    found.assistant.close()
    found.repository.close()


@pytest.fixture
def ana(talk: Talk, home: Home) -> Seat:
    return Seat(talk, home)


@pytest.fixture
def bob(talk: Talk, home: Home) -> Seat:
    return Seat(talk, home, person("bob"))


def ask_for_zone(talk: Talk, seat: Seat) -> str:
    talk.model.script.append(cite_all("propose_create_cluster", name="llama"))
    return seat.say(NO_ZONE)


def test_a_wish_shows_its_question_with_numbered_options(talk: Talk, ana: Seat) -> None:
    shown = ask_for_zone(talk, ana)

    assert "  1) " in shown
    assert "  2) " in shown
    assert shown.count("  1) ") == 1


def test_a_number_answers_and_the_card_follows(talk: Talk, ana: Seat) -> None:
    ask_for_zone(talk, ana)

    shown = ana.say("2")

    assert "ana answered: usw2-az2" in shown
    assert "usw2-az2" in shown
    assert [question.kind.value for question in talk.open_questions] == ["approval"]


def test_two_seats_see_the_same_question_and_the_loser_is_told_who_answered(talk: Talk, ana: Seat, bob: Seat) -> None:
    ask_for_zone(talk, ana)
    at_bobs = bob.look()
    ana.say("1")

    with pytest.raises(InputRefused) as late:
        bob.conversation.take("2")

    assert "  2) " in at_bobs
    assert late.value.reason is RefusalReason.ANSWER_LATE
    assert "ana" in str(late.value)
    assert "ana answered: usw2-az1" in bob.look()


def test_what_one_seat_said_the_other_reads(talk: Talk, ana: Seat, bob: Seat) -> None:
    talk.model.script.append(text("Hello, Ana."))
    ana.say("hello")

    assert bob.look().splitlines()[:2] == ["ana: hello", "Muster: Hello, Ana."]


def test_an_answer_given_elsewhere_lets_the_plan_go_on(talk: Talk, ana: Seat) -> None:
    ask_for_zone(talk, ana)
    [question] = talk.open_questions
    talk.repository.answer_question(
        question.id, options_version=1, principal=person("bob"), option_id=question.options[0].id
    )

    assert "bob answered" in ana.look()
    assert [question.kind.value for question in talk.open_questions] == ["approval"]


def test_what_is_said_after_a_withdrawn_question_is_a_new_wish(talk: Talk, ana: Seat) -> None:
    talk.model.script += [cite_all("propose_create_cluster"), calls(("withdraw_plan", {})), text("There are none.")]
    ana.say("Create an EKS cluster with 8 on-demand p5.48xlarge in usw2-az2")
    ana.say("forget it")

    assert "There are none." in ana.say("list clusters")


def test_an_open_question_is_called_to_mind_after_other_talk(talk: Talk, ana: Seat) -> None:
    asked = ask_for_zone(talk, ana)
    talk.model.script.append(text("Hello, Ana."))

    shown = ana.say("hello")

    assert "Still open: " in shown
    assert "1) " in shown
    assert "Still open: " not in asked


def test_an_own_verdict_is_not_told_back(talk: Talk, ana: Seat) -> None:
    ask_for_zone(talk, ana)
    ana.say("2")

    assert "ana answered" not in ana.say("no")


def test_nothing_is_shown_twice(talk: Talk, ana: Seat) -> None:
    ask_for_zone(talk, ana)

    assert ana.look() == ""


def test_every_line_fits_80_columns(talk: Talk, home: Home) -> None:
    seat = Seat(talk, home, language=Language.CHINESE)
    talk.model.script.append(text("word " * 60))
    ask_for_zone(talk, seat)

    assert max(map(len, seat.output.getvalue().splitlines())) <= 80


def test_a_message_too_long_is_refused_before_anything_is_stored(talk: Talk, ana: Seat) -> None:
    with pytest.raises(InputRefused) as refused:
        ana.conversation.take("x" * (MAX_MESSAGE_BYTES + 1))

    assert refused.value.reason is RefusalReason.INPUT_TOO_LARGE
    assert talk.repository.list_transcript(talk.conversation_id) == []


def test_an_opened_conversation_shows_its_last_lines_and_its_open_question(talk: Talk, ana: Seat, home: Home) -> None:
    ask_for_zone(talk, ana)
    again = Seat(talk, home)

    again.conversation.catch_up()
    again.conversation.show_news()

    assert f"ana: {NO_ZONE}" in again.output.getvalue()
    assert "  1) " in again.output.getvalue()


def test_untrusted_text_cannot_repaint_the_terminal(talk: Talk, ana: Seat) -> None:
    talk.model.script.append(text("\x1b[2Jgone\x07"))

    assert "\x1b" not in ana.say("hello")


def test_who_speaks_chinese_is_answered_in_chinese(talk: Talk, ana: Seat) -> None:
    talk.model.script.append(cite_all("propose_create_cluster", name="llama"))

    ana.say("创建一个名为 llama 的 EKS 集群，8 个按需 ml.p5.48xlarge 节点")

    assert "ana 已回答" in ana.say("第二个")
