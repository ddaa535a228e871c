"""Who answers the demo's questions: the person at the terminal, or a scripted stand-in that is shown as such."""

from __future__ import annotations

from typing import Protocol

from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId
from core.messages.message import message
from core.questions import APPROVE, QuestionKind
from core.reasons import OpsError, WhoActs
from interfaces.cli.line_reader import LineReader
from interfaces.cli.screen import Screen
from state.records import Question

SCRIPTED = Principal(id=ActorId("demo-human"), role=Role.PLATFORM_ADMIN, channel=Channel.TERMINAL, is_scripted=True)
_PROMPT = "> "


class HumanLeft(OpsError):
    """The input ended while a question was open."""

    who_acts = WhoActs.CALLER


class Human(Protocol):
    @property
    def principal(self) -> Principal: ...

    @property
    def is_echoed(self) -> bool:
        """Whether what they type has to be printed: a terminal shows it by itself."""
        ...

    def reply_to(self, question: Question) -> str | None:
        """What is typed under the question; `None` while nothing is. Raises `HumanLeft`."""
        ...


class ScriptedHuman:
    """Takes what is recommended, else what comes first, and approves. Its answers go the way of everybody's."""

    principal = SCRIPTED
    is_echoed = True

    def reply_to(self, question: Question) -> str | None:
        number = 1 + next(
            (place for place, option in enumerate(question.options) if _is_wanted(question, option.value)),
            next((place for place, option in enumerate(question.options) if option.is_recommended), 0),
        )
        return str(number)


class TerminalHuman:
    """The person in front of the screen, who has all the time they want."""

    is_echoed = False

    def __init__(self, principal: Principal, reader: LineReader, screen: Screen) -> None:
        self.principal, self._reader, self._screen = principal, reader, screen

    def reply_to(self, question: Question) -> str | None:
        if self._reader.ask(_PROMPT):
            self._screen.show_prompt(_PROMPT)
        is_there, line = self._reader.poll(0.1)
        if not is_there:
            return None
        self._screen.show_prompt(None)
        if line is None:
            raise HumanLeft(message("demo.human_left"))
        return line


def _is_wanted(question: Question, value: object) -> bool:
    return question.kind is QuestionKind.APPROVAL and value == APPROVE
