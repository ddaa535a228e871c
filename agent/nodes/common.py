"""What several nodes need: showing something once, and the open question of a plan."""

from __future__ import annotations

from langgraph.types import StreamWriter

from agent.conversation import Turn, TurnState
from agent.events import AgentEvent, EndReason, Said
from core.messages.message import Message
from state.records import Plan, Question, QuestionStatus, Speaker


def say(turn: Turn, state: TurnState, write: StreamWriter, text: Message) -> None:
    """A sentence of code: into the transcript once per turn, also when the node runs again after a crash."""
    record_once(turn, state, text)
    write(Said(message=text))


def record_once(turn: Turn, state: TurnState, text: Message) -> None:
    for entry in turn.transcript(after=state.get("turn", 0)):
        if entry.speaker is Speaker.ASSISTANT and entry.message == text:
            return
    turn.repository.append_transcript(
        turn.conversation_id, speaker=Speaker.ASSISTANT, text=text.render(turn.language), message=text
    )


def show(write: StreamWriter, event: AgentEvent) -> None:
    write(event)


def open_question(turn: Turn, plan: Plan | None) -> Question | None:
    if plan is None:
        return None
    found = turn.repository.list_questions(status=QuestionStatus.OPEN, plan_id=plan.id)
    return found[-1] if found else None


def resting(reason: EndReason) -> TurnState:
    """The turn is over, for this reason."""
    return TurnState(ended=reason.value, next="rest")
