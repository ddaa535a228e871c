"""A turn of the assistant, drawn as it happens."""

from __future__ import annotations

from typing import assert_never

from agent.events import (
    AgentEvent,
    AnswerTaken,
    Looked,
    QuestionAsked,
    Refusal,
    RunsCreated,
    Said,
    TextPiece,
    TextVoid,
    TextWhole,
    TurnBegan,
    TurnEnded,
)
from core.messages.message import Language, MessageParam, message
from interfaces.cli.screen import Screen


def show_event(event: AgentEvent, screen: Screen, language: Language) -> None:
    def say(key: str, /, *, style: str = "", **params: MessageParam) -> None:
        screen.line(message(key, **params).render(language), style=style)

    match event:
        case TextPiece():
            screen.piece(event.text)
        case TextVoid():
            say("chat.text_void", style="dim")
        case TextWhole():
            screen.end_stream()
        case Looked():
            say("chat.looked", style="dim", tool=event.tool)
        case Said():
            screen.line(event.message.render(language))
        case Refusal():
            screen.line(event.message.render(language), style="red")
            for remedy in event.remedies:
                screen.line(f"- {remedy.render(language)}", indent=2)
        case TurnBegan() | QuestionAsked() | AnswerTaken() | RunsCreated() | TurnEnded():
            pass  # the rows tell: the question is shown whole, and the answer stands in the feed
        case _:
            assert_never(event)
