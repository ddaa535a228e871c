"""add_capacity: more nodes for a cluster, counted until they are Running and Ready."""

from __future__ import annotations

from typing import Final

from core.cluster.clusters import CapacityMode
from core.ids import StepName
from core.messages.message import message
from tools.node_batches import DELETE_NODES, NodeRef, NodesOfClusterArgs
from tools.reading import number, text
from workflows.catalogue.add_capacity import nodes, shortage
from workflows.catalogue.add_capacity.params import AddCapacityParams, Change, Goal
from workflows.catalogue.market import Market
from workflows.catalogue.pace import DELETION_BUDGET, next_look
from workflows.definition import Next, Outcome, Step, StepContext, StepKind, Wait, Workflow


def change_capacity(ctx: StepContext, params: AddCapacityParams) -> Outcome:
    """Give back what never came, then make the group that comes instead."""
    change, goal = Change.model_validate(ctx.run.data["change"]), Goal.read(ctx.run.data, params)
    handled = number(ctx.run.data, "shortages_handled")
    if change.give_back:
        ctx.perform(
            DELETE_NODES,
            NodesOfClusterArgs(
                cluster=params.cluster,
                eks_name=text(ctx.run.data, "eks_name"),
                nodes=tuple(NodeRef(logical_id=name) for name in change.give_back),
                round=handled,
            ),
        )
    if change.more:
        is_plan, kind = change.source.mode is CapacityMode.TRAINING_PLAN, change.source.instance_type
        is_free = is_plan or Market(ctx).quota_left(kind) >= change.more
        if not is_free and ctx.now - ctx.step_started_at < DELETION_BUDGET:
            why = message("create_cluster.waiting_for_quota", group=goal.source.group, type=kind)
            return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)
        nodes.make_group(ctx, params.cluster, change.source, change.more, change.subnet_id, round_number=handled)
    kept = tuple(name for name in goal.nodes if name not in change.give_back)
    groups = (*goal.groups, change.source.group) if change.more else goal.groups
    after = Goal(wanted=change.wanted, nodes=kept, groups=groups, source=change.source)
    patient_until = (ctx.now + shortage.PATIENCE).isoformat() if change.waits else None
    return Next(to=shortage.WAIT_NODES, data={"goal": after.to_json(), "patient_until": patient_until})


WORKFLOW: Final[Workflow[AddCapacityParams]] = Workflow(
    name="add_capacity",
    version=1,
    params=AddCapacityParams,
    title=message("add_capacity.title"),
    steps=(
        Step(
            name=StepName("check"),
            kind=StepKind.PREFLIGHT,
            title=message("add_capacity.step_check"),
            function=nodes.check,
        ),
        Step(name=StepName("add"), kind=StepKind.EFFECT, title=message("add_capacity.step_add"), function=nodes.add),
        Step(
            name=shortage.WAIT_NODES,
            kind=StepKind.WAIT,
            title=message("create_cluster.step_wait_nodes"),
            function=nodes.wait_for_nodes,
            phase="nodes",
        ),
        Step(
            name=shortage.DECIDE,
            kind=StepKind.QUESTION,
            title=message("add_capacity.step_decide"),
            function=shortage.decide,
            phase="nodes",
        ),
        Step(
            name=StepName("change_capacity"),
            kind=StepKind.EFFECT,
            title=message("create_cluster.step_change_capacity"),
            function=change_capacity,
            phase="nodes",
        ),
        Step(
            name=nodes.VERIFY,
            kind=StepKind.VERIFY,
            title=message("add_capacity.step_verify"),
            function=nodes.verify,
        ),
    ),
)
