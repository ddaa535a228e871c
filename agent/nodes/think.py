"""One call of the model: with the rules, the facts, the recent transcript and the tools of this moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime
from langgraph.types import StreamWriter

from agent.conversation import Turn, TurnState
from agent.events import EndReason, TextPiece, TextVoid, TextWhole
from agent.history import call_ids, wire_messages
from agent.models.wire import ModelError, Reply, ToolCall
from agent.nodes.common import open_question, resting, say, show
from agent.prompts import system_messages
from agent.provenance.extract import extract_candidates
from agent.provenance.mentions import Candidate
from agent.toolbox.catalogue import tools_of_the_moment
from core.messages.message import message
from state.records import Plan, PlanStatus, Speaker, TranscriptEntry


def think(state: TurnState, runtime: Runtime[Turn]) -> TurnState:
    """An answer of an earlier attempt that was recorded and not acted upon is taken up instead of asking again."""
    turn, write = runtime.context, runtime.stream_writer
    if unanswered_calls(turn.transcript(after=state["turn"])):
        return TurnState(next="act")
    if (stopped := _out_of_budget(turn, state)) is not None:
        say(turn, state, write, message(stopped))
        return resting(EndReason.STOPPED)
    began = turn.desk.clock.now()
    try:
        reply = _ask_model(turn, state, write)
    except ModelError as error:
        say(turn, state, write, error.message)
        return resting(EndReason.STOPPED)
    spent = (turn.desk.clock.now() - began).total_seconds()
    counted = TurnState(
        model_calls=state["model_calls"] + 1,
        tokens=state["tokens"] + reply.tokens,
        spent_seconds=state["spent_seconds"] + spent,
    )
    return counted | _record(turn, state, write, reply)


def candidates_of(turn: Turn, state: TurnState) -> tuple[Candidate, ...]:
    """Only the message of this turn is read: what an earlier goal said is stale, what this plan has is in its nodes."""
    entry = turn.entry(state["turn"])
    return extract_candidates(entry.text, sequence=entry.sequence, region=turn.desk.profile.region)


def unanswered_calls(entries: Sequence[TranscriptEntry]) -> list[TranscriptEntry]:
    """Assistant entries with at least one call that has no result yet."""
    answered = {entry.tool_call_id for entry in entries if entry.speaker is Speaker.TOOL}
    return [entry for entry in entries if any(call not in answered for call in call_ids(entry.tool_calls))]


def _out_of_budget(turn: Turn, state: TurnState) -> str | None:
    budgets = turn.desk.budgets
    if state["model_calls"] >= budgets.model_calls:
        return "agent.out_of_steps"
    if state["tokens"] >= budgets.tokens:
        return "agent.out_of_tokens"
    return "agent.out_of_time" if state["spent_seconds"] >= budgets.seconds else None


def _ask_model(turn: Turn, state: TurnState, write: StreamWriter) -> Reply:
    desk, plan = turn.desk, turn.open_plan()
    candidates = candidates_of(turn, state)
    system = system_messages(
        profile=desk.profile,
        language=turn.language,
        candidates=candidates,
        plan=plan,
        question=open_question(turn, plan),
        earlier=_earlier_plans(turn),
    )
    history = wire_messages(turn.transcript(), language=turn.language, limit=desk.budgets.history_entries)
    tools = tools_of_the_moment(desk.operations, desk.look_tools, candidates, plan)
    return desk.model.reply([*system, *history], tools, _Sink(write), seconds=_seconds_left(turn, state))


def _earlier_plans(turn: Turn) -> list[Plan]:
    """The last few that came to a run: rejected and withdrawn ones are nothing that a person would refer to."""
    return turn.repository.list_plans(status=PlanStatus.APPROVED, conversation_id=turn.conversation_id, limit=3)


def _seconds_left(turn: Turn, state: TurnState) -> float:
    budgets = turn.desk.budgets
    return max(1.0, min(budgets.seconds_per_call, budgets.seconds - state["spent_seconds"]))


def _record(turn: Turn, state: TurnState, write: StreamWriter, reply: Reply) -> TurnState:
    if reply.is_cut_short or not (reply.text.strip() or reply.tool_calls):
        return _repair_torso(turn, state, write)
    calls = [call.to_wire() for call in _with_own_ids(turn, state, reply.tool_calls)]
    turn.repository.append_transcript(
        turn.conversation_id, speaker=Speaker.ASSISTANT, text=reply.text, tool_calls=calls or None
    )
    if reply.text.strip():
        show(write, TextWhole(text=reply.text))
    return TurnState(next="act" if calls else "prepare")


def _with_own_ids(turn: Turn, state: TurnState, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Some servers count their calls anew in every answer. Results and plan nodes go by the id, so it must be unique
    in the conversation; it follows from the transcript, not from a counter that a crash could set back.
    """
    answers = [entry for entry in turn.transcript(after=state["turn"]) if entry.tool_calls is not None]
    prefix = f"call-{state['turn']}-{len(answers)}"
    return [replace(call, id=f"{prefix}-{index}") for index, call in enumerate(calls)]


def _repair_torso(turn: Turn, state: TurnState, write: StreamWriter) -> TurnState:
    """Cut at its length or empty: asked again, at most as often as a bad call."""
    show(write, TextVoid())
    if state["repairs"] >= turn.desk.budgets.repairs:
        say(turn, state, write, message("agent.model_confused"))
        return resting(EndReason.STOPPED)
    return TurnState(repairs=state["repairs"] + 1, next="think")


class _Sink:
    def __init__(self, write: StreamWriter) -> None:
        self._write = write

    def piece(self, text: str) -> None:
        self._write(TextPiece(text=text))

    def restart(self) -> None:
        self._write(TextVoid())
