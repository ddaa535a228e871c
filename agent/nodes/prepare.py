"""Asks every operation of the plan whether it can go: the first thing missing becomes a question, a refusal is said,
and once all are ready the whole plan is put up for approval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from langgraph.runtime import Runtime
from langgraph.types import StreamWriter

from agent.cards import APPROVAL, approval_draft, envelope
from agent.conversation import Turn, TurnState
from agent.events import EndReason, QuestionAsked, Refusal
from agent.nodes.common import open_question, record_once, resting, say, show
from agent.plans import question_name, read_choices
from core.governance.principals import Principal
from core.governance.roles import deny
from core.ids import ClusterName
from core.json_value import JsonObject
from core.messages.message import message
from core.questions import QuestionDraft
from core.reasons import OpsError, RefusalReason
from state.records import Plan, PlanNode, PlanStatus, Question, QuestionStatus
from workflows.operations import Draft, Missing, Operation, PlannedCluster, Preparation, Ready, Refused


@dataclass(slots=True)
class _Prepared:
    ready: list[tuple[PlanNode, Ready]] = field(default_factory=list)
    missing: tuple[PlanNode, QuestionDraft] | None = None
    refused: Refused | None = None


def prepare(state: TurnState, runtime: Runtime[Turn]) -> TurnState:
    turn, write = runtime.context, runtime.stream_writer
    plan = turn.open_plan()
    if plan is None or plan.id == state.get("refused_plan_id"):
        return resting(EndReason.ANSWERED)
    if plan.status is PlanStatus.PROPOSED and (asked := open_question(turn, plan)) is not None:
        return _present(turn, state, write, asked)
    try:
        prepared = _prepare_all(turn, plan)
    except OpsError as error:
        say(turn, state, write, error.message)
        return resting(EndReason.STOPPED)
    if prepared.refused is not None:
        return _refuse(turn, state, write, plan, prepared.refused)
    if prepared.missing is not None:
        node, draft = prepared.missing
        named = replace(draft, name=question_name(node, draft.name))
        asked = turn.repository.ask(named, conversation_id=turn.conversation_id, plan_id=plan.id)
        _withdraw_others(turn, plan, asked.name)
        return _present(turn, state, write, asked)
    return _propose(turn, state, write, plan, prepared)


def _prepare_all(turn: Turn, plan: Plan) -> _Prepared:
    """In the plan's order; a cluster that one node creates may be the target of another.

    A node that names something unknown is tried once more behind the others: models do not always write what
    is made before what uses it.
    """
    prepared = _Prepared(refused=_first_denied(plan))
    if prepared.refused is not None:
        return prepared
    planned: dict[ClusterName, PlannedCluster] = {}
    waiting, postponed = list(plan.nodes), set[str]()
    while waiting:
        node = waiting.pop(0)
        match _prepare_one(turn, plan, node, planned):
            case Refused(reason=RefusalReason.NAME_UNKNOWN) if waiting and node.id not in postponed:
                postponed.add(node.id)
                waiting.append(node)
            case Refused() as refused:
                prepared.refused = refused
                return prepared
            case Missing(question=question):
                prepared.missing = (node, question)
                return prepared
            case Ready() as ready:
                prepared.ready.append((node, ready))
                if ready.planned_cluster is not None:
                    planned[ready.planned_cluster.name] = ready.planned_cluster
            case unreachable:
                assert_never(unreachable)
    return prepared


def _prepare_one(turn: Turn, plan: Plan, node: PlanNode, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    operation = turn.desk.operations[node.operation]
    draft = Draft(
        node_id=node.id,
        params=_with_planned_target(node, operation, planned),
        choices=read_choices(node),
        requested_by=plan.requested_by,
    )
    preparation = operation.prepare(draft, turn.desk.reads, planned)
    if isinstance(preparation, Ready):
        # Only now is it known whose job it is.
        return _denied(plan.requested_by, node.operation, preparation.run_params) or preparation
    return preparation


def _first_denied(plan: Plan) -> Refused | None:
    """Before anything is asked: nobody answers questions for what they may not do."""
    denied = (_denied(plan.requested_by, node.operation, node.params) for node in plan.nodes)
    return next((refused for refused in denied if refused is not None), None)


def _denied(principal: Principal, operation: str, params: JsonObject) -> Refused | None:
    if (denial := deny(principal, operation, params)) is None:
        return None
    return Refused(reason=RefusalReason.ROLE_MISSING, message=denial.message, remedies=(denial.remedy,))


def _with_planned_target(
    node: PlanNode, operation: Operation, planned: Mapping[ClusterName, PlannedCluster]
) -> JsonObject:
    """`create a cluster and run a job`: without another word the job is meant for the cluster of the same plan."""
    is_open = "cluster" in operation.params.model_fields and node.params.get("cluster") is None
    if is_open and len(planned) == 1:
        return {**node.params, "cluster": next(iter(planned))}
    return node.params


def _propose(turn: Turn, state: TurnState, write: StreamWriter, plan: Plan, prepared: _Prepared) -> TurnState:
    desk = turn.desk
    nodes = tuple(replace(node, depends_on=ready.depends_on) for node, ready in prepared.ready)
    if nodes != plan.nodes:
        turn.repository.update_plan(plan.id, nodes=nodes)
    _withdraw_others(turn, plan, APPROVAL)
    asked = turn.repository.propose_plan(
        plan.id,
        envelope=envelope(prepared.ready, desk.workflow_versions, desk.profile),
        approval=approval_draft(prepared.ready, desk.profile),
        expires_at=desk.clock.now() + desk.budgets.approval_lasts,
    )
    return _present(turn, state, write, asked)


def _refuse(turn: Turn, state: TurnState, write: StreamWriter, plan: Plan, refused: Refused) -> TurnState:
    _withdraw_others(turn, plan, keep=None)
    record_once(turn, state, refused.message)
    for remedy in refused.remedies:
        record_once(turn, state, remedy)
    show(write, Refusal(reason=refused.reason, message=refused.message, remedies=refused.remedies))
    return resting(EndReason.REFUSED) | TurnState(
        refused_plan_id=plan.id, refused_turn=state.get("turn", 0), question_id=None
    )


def _present(turn: Turn, state: TurnState, write: StreamWriter, asked: Question) -> TurnState:
    record_once(turn, state, asked.prompt)
    show(write, QuestionAsked(question=asked))
    return TurnState(question_id=asked.id, options_version=asked.options_version, next="wait")


def _withdraw_others(turn: Turn, plan: Plan, keep: str | None) -> None:
    """Questions of the plan that a correction has made needless."""
    for question in turn.repository.list_questions(status=QuestionStatus.OPEN, plan_id=plan.id):
        if question.name != keep:
            turn.repository.withdraw_question(
                question.id, actor=turn.principal, reason=message("agent.question_needless")
            )
