"""Begins a turn: budgets anew, and an answer that was given elsewhere is taken into the plan first."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agent.conversation import Turn, TurnState
from agent.nodes.settle import merge_answer


def intake(state: TurnState, runtime: Runtime[Turn]) -> TurnState:
    fresh = TurnState(model_calls=0, tokens=0, repairs=0, spent_seconds=0.0, next="think")
    if (question_id := state.get("question_id")) is not None:
        merge_answer(runtime.context, question_id)
    return fresh
