"""Begins a turn: budgets anew, and an answer that was given elsewhere is taken into the plan first."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agent.conversation import Turn, TurnState
from agent.nodes.settle import merge_answer
from core.messages.message import message
from state.records import Speaker


def intake(state: TurnState, runtime: Runtime[Turn]) -> TurnState:
    fresh = TurnState(model_calls=0, tokens=0, repairs=0, spent_seconds=0.0, next="think")
    if (question_id := state.get("question_id")) is not None:
        merge_answer(runtime.context, question_id)
    return fresh | _over(runtime.context, state)


def _over(turn: Turn, state: TurnState) -> TurnState:
    """A refused draft that the message after it did not correct is given up, and its words with it."""
    plan = turn.open_plan()
    if plan is None or plan.id != state.get("refused_plan_id"):
        return TurnState(refused_plan_id=None)
    said_since = [
        entry for entry in turn.transcript(after=state.get("refused_turn", 0)) if entry.speaker is Speaker.USER
    ]
    if len(said_since) <= 1:
        return TurnState()
    turn.repository.withdraw_plan(plan.id, actor=turn.principal, reason=message("agent.plan_replaced"))
    return TurnState(refused_plan_id=None)
