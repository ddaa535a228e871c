"""Plans and their envelopes."""

from __future__ import annotations

from datetime import timedelta

from core.governance.principals import Principal
from core.ids import ConversationId
from core.json_value import JsonObject
from state.records import Plan, PlanNode, Question
from state.repository import Repository
from tests.builders.people import person
from tests.builders.questions import approval_question


def plan_node(
    node_id: str = "create", *, depends_on: tuple[str, ...] = (), params: JsonObject | None = None
) -> PlanNode:
    return PlanNode(id=node_id, operation="toy", params=params or {}, depends_on=depends_on)


def envelope(*nodes: PlanNode, cluster: str | None = "c1", version: int = 1) -> JsonObject:
    return {
        "runs": [
            {
                "node_id": node.id,
                "workflow": node.operation,
                "version": version,
                "params": node.params,
                "cluster": cluster,
                "depends_on": node.depends_on,
            }
            for node in nodes
        ]
    }


def propose(
    repository: Repository,
    *nodes: PlanNode,
    requested_by: Principal | None = None,
    conversation_id: ConversationId | None = None,
    expires_in: timedelta = timedelta(hours=1),
) -> tuple[Plan, Question]:
    """A proposed plan and the question that asks for its approval."""
    wanted = nodes or (plan_node(),)
    plan = repository.create_plan(conversation_id=conversation_id, requested_by=requested_by or person(), nodes=wanted)
    question = repository.propose_plan(
        plan.id,
        envelope=envelope(*wanted),
        approval=approval_question(),
        expires_at=plan.created_at + expires_in,
    )
    return repository.get_plan(plan.id), question
