"""Looks at the question that was waited for, and takes its answer into the plan."""

from __future__ import annotations

from typing import assert_never

from langgraph.runtime import Runtime
from langgraph.types import StreamWriter

from agent.conversation import Turn, TurnState
from agent.events import EndReason, QuestionAsked, RunsCreated
from agent.nodes.common import open_question, resting, say, show
from agent.plans import answered_nodes
from core.ids import QuestionId
from core.messages.message import message
from core.questions import APPROVE, QuestionKind
from state.records import PlanStatus, Question, QuestionStatus


def settle(state: TurnState, runtime: Runtime[Turn]) -> TurnState:
    turn, write = runtime.context, runtime.stream_writer
    question_id = state.get("question_id")
    if question_id is None:
        return TurnState(next="prepare")
    turn.repository.expire_questions()
    question = turn.repository.get_question(QuestionId(question_id))
    match question.status:
        case QuestionStatus.OPEN:
            show(write, QuestionAsked(question=question))
            return TurnState(options_version=question.options_version, next="wait")
        case QuestionStatus.ANSWERED if question.kind is QuestionKind.APPROVAL:
            return _decided(turn, state, write, question)
        case QuestionStatus.ANSWERED:
            merge_answer(turn, question_id)
            return TurnState(question_id=None, next="prepare")
        case QuestionStatus.EXPIRED:
            say(turn, state, write, message("agent.question_expired", prompt=question.prompt))
            return _over(EndReason.REJECTED)
        case QuestionStatus.WITHDRAWN:
            return _after_withdrawal(turn, state, write)
        case unreachable:
            assert_never(unreachable)


def merge_answer(turn: Turn, question_id: str) -> None:
    """Puts an answered plan-level question into its plan's node; for any other question, or again, nothing."""
    question = turn.repository.get_question(QuestionId(question_id))
    if question.status is not QuestionStatus.ANSWERED or question.kind is QuestionKind.APPROVAL:
        return
    if question.plan_id is None:
        return
    plan = turn.repository.get_plan(question.plan_id)
    nodes = answered_nodes(plan.nodes, question, turn.language)
    if plan.status is PlanStatus.DRAFT and nodes != plan.nodes:
        turn.repository.update_plan(plan.id, nodes=nodes)


def _decided(turn: Turn, state: TurnState, write: StreamWriter, question: Question) -> TurnState:
    """The runs were created in the transaction that approved; here they are only told."""
    if question.answer != APPROVE or question.plan_id is None:
        say(turn, state, write, message("agent.rejected"))
        return _over(EndReason.REJECTED)
    runs = turn.repository.list_runs(plan_id=question.plan_id)
    order = [node.id for node in turn.repository.get_plan(question.plan_id).nodes]
    ids = tuple(run.id for run in sorted(runs, key=lambda run: order.index(run.plan_node or order[0])))
    say(turn, state, write, message("agent.runs_created", runs=", ".join(ids)))
    show(write, RunsCreated(plan_id=question.plan_id, run_ids=ids))
    return _over(EndReason.APPROVED)


def _after_withdrawal(turn: Turn, state: TurnState, write: StreamWriter) -> TurnState:
    """Withdrawn by a correction: the plan asks anew. Withdrawn with its plan: nothing is left to do."""
    plan = turn.open_plan()
    if plan is None or plan.id == state.get("refused_plan_id"):
        return _over(EndReason.ANSWERED)
    if open_question(turn, plan) is None and plan.status is PlanStatus.PROPOSED:
        return _over(EndReason.ANSWERED)
    return TurnState(question_id=None, next="prepare")


def _over(reason: EndReason) -> TurnState:
    return resting(reason) | TurnState(question_id=None)
