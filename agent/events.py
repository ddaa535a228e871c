"""What a turn shows, as it happens. A channel draws these; it needs nothing else of the agent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from core.ids import PlanId, RunId
from core.messages.message import Language, Message
from core.reasons import RefusalReason
from state.records import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnBegan:
    """`language` is the one in which everything of this turn is meant to be shown."""

    language: Language


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """A piece of the model's own words, to be appended. Untrusted: shown escaped."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextVoid:
    """The pieces since the last whole text are void: the model's answer broke off and begins anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWhole:
    """The model's text is complete; `text` is all of it."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A read tool was used; shown as a small line while the answer is not there yet."""

    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence written by code."""

    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The request cannot be carried out as it stands; nothing was changed."""

    reason: RefusalReason
    message: Message
    remedies: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """A question of this conversation is open. For an approval, `question.details` are the lines of the card."""

    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTaken:
    """The person's words were taken as the answer to the open question."""

    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsCreated:
    """The plan was approved; these runs are queued, in the order of the plan."""

    plan_id: PlanId
    run_ids: tuple[RunId, ...]


class EndReason(StrEnum):
    ANSWERED = "answered"
    WAITING = "waiting"
    """For the answer to the question that was just shown."""
    APPROVED = "approved"
    REJECTED = "rejected"
    REFUSED = "refused"
    STOPPED = "stopped"
    """A budget ran out, the model failed, or the input could not be taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded:
    """Always the last event of a turn."""

    reason: EndReason


AgentEvent: TypeAlias = (
    TurnBegan
    | TextPiece
    | TextVoid
    | TextWhole
    | Looked
    | Said
    | Refusal
    | QuestionAsked
    | AnswerTaken
    | RunsCreated
    | TurnEnded
)
