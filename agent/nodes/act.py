"""Carries out what the model called: looks are answered, proposals go into the plan's draft, the rest is a bad call.

The plan is written before the results are recorded, and a node's id comes from its call: read twice after a
crash, the same calls make the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langgraph.runtime import Runtime
from langgraph.types import StreamWriter

from agent.conversation import Turn, TurnState
from agent.events import EndReason, Looked
from agent.models.wire import ToolCall
from agent.nodes.common import resting, say, show
from agent.nodes.think import candidates_of, unanswered_calls
from agent.planner.grammar import states_goal
from agent.plans import new_node, node_id, revised_node
from agent.provenance.grounding import Grounding
from agent.provenance.mentions import Candidate
from agent.provenance.text import normalise
from agent.toolbox.catalogue import WITHDRAW
from agent.toolbox.envelope import enveloped, problem
from agent.toolbox.proposals import PREFIX, BadCall, Proposal, free_fields, read_arguments, read_proposal
from agent.toolbox.reads import Looking, use_look_tool
from core.json_value import JsonValue
from core.messages.message import message
from core.reasons import OpsError
from state.records import Plan, PlanNode, PlanStatus, Speaker, TranscriptEntry

_RECORDED = '{"status": "recorded", "note": "Muster checks it now, asks the person what is missing and for approval."}'
_WITHDRAWN = '{"status": "withdrawn"}'


@dataclass(slots=True)
class _Batch:
    """The calls of one answer, sorted; `results` by call id."""

    proposals: list[tuple[ToolCall, Proposal]] = field(default_factory=list)
    results: dict[str, str] = field(default_factory=dict)
    is_drafted: bool = False
    """At least one proposal is in the plan, or was put there by this answer before a crash."""
    withdraws: bool = False
    bad: int = 0


def act(state: TurnState, runtime: Runtime[Turn]) -> TurnState:
    turn, write = runtime.context, runtime.stream_writer
    entries = turn.transcript(after=state["turn"])
    calls = [call for entry in unanswered_calls(entries) for call in _calls(entry, entries)]
    batch = _sort(turn, state, write, calls)
    if (batch.withdraws or batch.proposals) and (owner := _other_owner(turn)) is not None:
        return _leave_to_owner(turn, state, write, calls, owner)
    if batch.withdraws:
        _withdraw(turn, calls)
    if batch.proposals:
        _draft(turn, state, batch.proposals)
    for call in calls:
        turn.repository.append_transcript(
            turn.conversation_id, speaker=Speaker.TOOL, text=batch.results[call.id], tool_call_id=call.id
        )
    return _follow(turn, state, write, batch)


def _other_owner(turn: Turn) -> str | None:
    """Whose plan is open, if not this person's: only the requester's own words may fill it in."""
    plan = turn.open_plan()
    return plan.requested_by.id if plan is not None and plan.requested_by.id != turn.principal.id else None


def _leave_to_owner(
    turn: Turn, state: TurnState, write: StreamWriter, calls: Sequence[ToolCall], owner: str
) -> TurnState:
    text = message("agent.plan_of_other", who=owner)
    for call in calls:
        turn.repository.append_transcript(
            turn.conversation_id, speaker=Speaker.TOOL, text=problem(call.name, text.english()), tool_call_id=call.id
        )
    say(turn, state, write, text)
    return resting(EndReason.STOPPED)


def _follow(turn: Turn, state: TurnState, write: StreamWriter, batch: _Batch) -> TurnState:
    """Bad calls go back for repair, twice at most; looks go back to be told; proposals are enough."""
    if batch.bad and state["repairs"] >= turn.desk.budgets.repairs:
        say(turn, state, write, message("agent.model_confused"))
        return resting(EndReason.STOPPED) | _half_drafted(turn, state)
    if batch.bad:
        return TurnState(repairs=state["repairs"] + 1, next="think")
    if batch.is_drafted:
        return TurnState(refused_plan_id=None, next="prepare")
    if batch.withdraws:
        say(turn, state, write, message("agent.plan_withdrawn"))
        return resting(EndReason.ANSWERED)
    return TurnState(next="think")


def _half_drafted(turn: Turn, state: TurnState) -> TurnState:
    """What the model got into the plan before it was given up counts as refused: the next goal does not join it."""
    plan = turn.open_plan()
    if plan is None or plan.status is not PlanStatus.DRAFT:
        return TurnState()
    return TurnState(refused_plan_id=plan.id, refused_turn=state["turn"])


def _sort(turn: Turn, state: TurnState, write: StreamWriter, calls: Sequence[ToolCall]) -> _Batch:
    batch, plan = _Batch(), turn.open_plan()
    candidates = candidates_of(turn, state)
    grounding = _grounding(turn)
    for call in calls:
        try:
            if call.name == WITHDRAW:
                read_arguments(call.arguments)
                batch.withdraws, batch.results[call.id] = True, _WITHDRAWN
            elif call.name in turn.desk.look_tools:
                show(write, Looked(tool=call.name))
                batch.results[call.id] = _look(turn, call)
            else:
                if not (plan is not None and _is_there(plan, call)):
                    batch.proposals.append((call, _proposal(turn, call, candidates, plan, grounding)))
                batch.is_drafted, batch.results[call.id] = True, _RECORDED
        except BadCall as bad:
            batch.bad += 1
            batch.results[call.id] = problem(call.name, str(bad))
    return batch


def _look(turn: Turn, call: ToolCall) -> str:
    try:
        looking = Looking(reads=turn.desk.reads, repository=turn.repository, language=turn.language)
        output = use_look_tool(turn.desk.look_tools[call.name], looking, call.arguments)
    except OpsError as error:
        return problem(call.name, error.message.render(turn.language))
    return enveloped(call.name, output)


def _proposal(
    turn: Turn, call: ToolCall, candidates: Sequence[Candidate], plan: Plan | None, grounding: Grounding
) -> Proposal:
    operation = turn.desk.operations.get(call.name.removeprefix(PREFIX))
    if operation is None or not call.name.startswith(PREFIX):
        raise BadCall(f"there is no tool {call.name!r}")
    proposal = read_proposal(operation, call.arguments, candidates, plan.nodes if plan else ())
    params = grounding.keep(proposal.params, free_fields(operation.params))
    return Proposal(operation=proposal.operation, params=params, cited=proposal.cited, replaces=proposal.replaces)


def _grounding(turn: Turn) -> Grounding:
    """Everything that the person wrote in this conversation, and the names that earlier plans already had approved."""
    said = [entry.text for entry in turn.transcript() if entry.speaker is Speaker.USER]
    plans = turn.repository.list_plans(conversation_id=turn.conversation_id)
    names = [str(value) for plan in plans for node in plan.nodes for value in node.params.values()]
    return Grounding([*said, *names])


def _withdraw(turn: Turn, calls: Sequence[ToolCall]) -> None:
    """The plan that was open before this answer, not the one that the same answer has begun in its place."""
    plan = turn.open_plan()
    if plan is not None and not any(_is_there(plan, call) for call in calls):
        turn.repository.withdraw_plan(plan.id, actor=turn.principal, reason=message("agent.plan_withdrawn"))


def _draft(turn: Turn, state: TurnState, proposals: Sequence[tuple[ToolCall, Proposal]]) -> None:
    """Writes the plan's nodes. A refused draft is given up for a goal that does not correct it."""
    plan, said = turn.open_plan(), candidates_of(turn, state)
    text = normalise(turn.entry(state["turn"]).text)
    corrects = any(proposal.replaces and not states_goal(text, proposal.operation) for _, proposal in proposals)
    if plan is not None and plan.id == state.get("refused_plan_id") and not corrects:
        turn.repository.withdraw_plan(plan.id, actor=turn.principal, reason=message("agent.plan_replaced"))
        plan = None
    nodes = _nodes(plan.nodes if plan else (), proposals, said, text)
    if plan is None:
        turn.repository.create_plan(conversation_id=turn.conversation_id, requested_by=turn.principal, nodes=nodes)
    elif plan.status is PlanStatus.PROPOSED or tuple(nodes) != plan.nodes:
        turn.repository.update_plan(plan.id, nodes=nodes)


def _nodes(
    before: Sequence[PlanNode], proposals: Sequence[tuple[ToolCall, Proposal]], said: Sequence[Candidate], text: str
) -> list[PlanNode]:
    """The plan's nodes after these proposals. A step whose goal the person stated anew, not as a correction and not
    under the same name, takes nothing over: what was said for the earlier goal is stale.
    """
    nodes = {node.id: node for node in before}
    rivals = max(1, sum(1 for _, proposal in proposals if proposal.cited))
    for call, proposal in proposals:
        old = nodes.get(proposal.replaces) if proposal.replaces is not None else None
        if old is not None and not _starts_anew(text, proposal, old):
            nodes[old.id] = revised_node(old, proposal, said)
            continue
        if old is not None:
            del nodes[old.id]
        fresh = new_node(proposal, call.id, said, rivals)
        nodes[fresh.id] = fresh
    return list(nodes.values())


def _starts_anew(text: str, proposal: Proposal, old: PlanNode) -> bool:
    name = proposal.params.get("name")
    return states_goal(text, proposal.operation) and (name is None or name != old.params.get("name"))


def _is_there(plan: Plan, call: ToolCall) -> bool:
    return any(node.id == node_id(call.id) for node in plan.nodes)


def _calls(entry: TranscriptEntry, entries: Sequence[TranscriptEntry]) -> list[ToolCall]:
    """The entry's calls that have no result yet, as values."""
    answered = {other.tool_call_id for other in entries if other.speaker is Speaker.TOOL}
    return [call for call in map(_call, _list(entry.tool_calls)) if call.id not in answered]


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _call(value: JsonValue) -> ToolCall:
    if not isinstance(value, Mapping) or not isinstance(function := value.get("function"), Mapping):
        raise ValueError(f"not a tool call: {value!r}")
    return ToolCall(id=str(value["id"]), name=str(function["name"]), arguments=str(function["arguments"]))
