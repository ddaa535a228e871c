"""Waits for a person. Nothing else happens here: an interrupted node runs again from its first line."""

from __future__ import annotations

from langgraph.types import interrupt

from agent.conversation import TurnState


def wait(state: TurnState) -> TurnState:
    """The interrupt carries the question's id alone; the answer is read from the row by the next node."""
    interrupt({"question_id": state.get("question_id")})
    return TurnState(next="settle")
