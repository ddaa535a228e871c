"""Ends a turn that waits for nobody."""

from __future__ import annotations

from agent.conversation import TurnState


def rest(state: TurnState) -> TurnState:
    return TurnState(is_settling=False)
