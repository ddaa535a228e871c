"""reboot_node and replace_node: one batch, then each node followed until it is usable again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final

from core.ids import StepName
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER
from tools.contract import EffectTool
from tools.node_batches import (
    NODE_MARKS,
    REBOOT_NODES,
    REPLACE_NODES,
    NodesOfClusterArgs,
    refused_nodes,
)
from tools.nodes import CLUSTER_NODES, NodesArgs
from tools.reading import child, text
from workflows.catalogue.chosen_nodes import read_inventory
from workflows.catalogue.failures import fail
from workflows.catalogue.node_repair.params import NodeRepairParams
from workflows.catalogue.pace import REPLACEMENT_BUDGET, next_look
from workflows.catalogue.trouble import errors_of, keep_events
from workflows.definition import Done, Next, Outcome, Step, StepContext, StepKind, Wait, Workflow

_REBOOT_BUDGET: Final = timedelta(minutes=15)
"""A reboot takes one to three minutes (an AWS specialist's operating notes)."""


def check(ctx: StepContext, params: NodeRepairParams) -> Outcome:
    """The very instances are still there, and no work that nobody approved to interrupt has begun on them."""
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.cluster))
    if details is None:
        return fail(FailureClass.CONFIG, message("targets.cluster_unknown", name=params.cluster))
    inventory = read_inventory(ctx, params.cluster, details.eks_name)
    there = inventory.refs(params.nodes)
    gone = [ref.instance_id for ref in params.nodes if ref.logical_id not in {str(n.logical_id) for n in there}]
    if gone:
        return fail(FailureClass.CONFIG, message("nodes.not_the_same", nodes=", ".join(gone)))
    new = sorted(set(inventory.work_on_all(there)) - set(params.lost_jobs))
    if new:
        return fail(FailureClass.CONFIG, message("nodes.new_jobs", jobs=", ".join(new)))
    args = NodesOfClusterArgs(cluster=params.cluster, eks_name=details.eks_name, nodes=params.nodes)
    return Next(data={"eks_name": details.eks_name, "marks": ctx.read(NODE_MARKS, args)})


def act(tool: EffectTool[NodesOfClusterArgs], ctx: StepContext, params: NodeRepairParams) -> Outcome:
    """Nodes that AWS did not take are told at the end: the others are followed all the same."""
    args = NodesOfClusterArgs(cluster=params.cluster, eks_name=text(ctx.run.data, "eks_name"), nodes=params.nodes)
    refused: list[JsonObject] = [
        {"node": item.node, "code": item.code} for item in refused_nodes(ctx.perform(tool, args))
    ]
    return Next(data={"refused": refused})


def follow(budget: timedelta, ctx: StepContext, params: NodeRepairParams) -> Outcome:
    """A node is done once it is usable *and* shows that it went: the old readiness is not the new one."""
    eks_name = text(ctx.run.data, "eks_name")
    nodes = {
        str(n.logical_id): n
        for n in ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.cluster, eks_name=eks_name)).nodes
    }
    refused = refused_nodes(ctx.run.data)
    left_out = {item.node for item in refused}
    taken = [ref for ref in params.nodes if not left_out & {ref.logical_id, ref.instance_id}]
    args = NodesOfClusterArgs(cluster=params.cluster, eks_name=eks_name, nodes=params.nodes)
    before, now = child(ctx.run.data, "marks"), ctx.read(NODE_MARKS, args)
    done = [
        ref
        for ref in taken
        if ref.logical_id in nodes
        and nodes[ref.logical_id].is_usable
        and list(_items(before, ref.logical_id)) != list(_items(now, ref.logical_id))
    ]
    ctx.report(message("nodes.back", done=len(done), total=len(taken)), done=len(done), total=len(taken))
    if len(done) == len(taken):
        if refused:
            listed = ", ".join(f"{item.node} ({item.code})" for item in refused)
            text_ = message("nodes.not_taken", nodes=listed, done=len(done), total=len(params.nodes))
            return fail(FailureClass.CONFIG, text_)
        return Done(data={"instances": {ref.logical_id: str(nodes[ref.logical_id].instance_id) for ref in done}})
    if ctx.now - ctx.step_started_at > budget:
        groups = sorted({nodes[ref.logical_id].group for ref in taken if ref.logical_id in nodes})
        since = ctx.step_started_at
        errors = [event for group in groups for event in errors_of(ctx, params.cluster, group, since)]
        kind = errors[-1].failure_class if errors else FailureClass.UNKNOWN
        why = message("nodes.not_back", done=len(done), total=len(taken))
        return fail(kind, why, keep_events(ctx, errors))
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=message("nodes.waiting_back", count=len(taken)))


def _items(marks: JsonObject, key: str) -> list[object]:
    found = marks.get(key)
    return list(found) if isinstance(found, list | tuple) else []


def _workflow(name: str, tool: EffectTool[NodesOfClusterArgs], budget: timedelta) -> Workflow[NodeRepairParams]:
    steps: tuple[tuple[str, StepKind, Callable[[StepContext, NodeRepairParams], Outcome]], ...] = (
        ("check", StepKind.PREFLIGHT, check),
        ("act", StepKind.EFFECT, partial(act, tool)),
        ("follow", StepKind.WAIT, partial(follow, budget)),
    )
    return Workflow(
        name=name,
        version=1,
        params=NodeRepairParams,
        title=message(f"{name}.title"),
        steps=tuple(
            Step(name=StepName(step), kind=kind, title=message(f"{name}.step_{step}"), function=function)
            for step, kind, function in steps
        ),
    )


REBOOT_NODE: Final = _workflow("reboot_node", REBOOT_NODES, _REBOOT_BUDGET)
REPLACE_NODE: Final = _workflow("replace_node", REPLACE_NODES, REPLACEMENT_BUDGET)
