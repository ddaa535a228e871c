"""remove_capacity: the approved nodes go, no other, and not when other work has begun on them since."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from core.ids import StepName
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER
from tools.node_batches import DELETE_NODES, MAX_PER_CALL, NodeRef, NodesOfClusterArgs, RefusedNode, refused_nodes
from tools.nodes import CLUSTER_NODES, NodesArgs
from tools.reading import children, number, text
from workflows.catalogue.chosen_nodes import read_inventory
from workflows.catalogue.failures import fail
from workflows.catalogue.pace import DELETION_BUDGET, next_look
from workflows.catalogue.remove_capacity.params import RemoveCapacityParams
from workflows.definition import Done, Next, Outcome, Step, StepContext, StepKind, Wait, Workflow

_BUSY: Final = "NodeIdInUse"
"""The node is being changed by HyperPod: later it can go."""
_BUSY_BUDGET: Final = timedelta(minutes=100)
"""A deep health check, the longest of such changes, takes up to 90 minutes."""


def survey(ctx: StepContext, params: RemoveCapacityParams) -> Outcome:
    """Nodes that have gone meanwhile are done already; work that nobody approved to lose stops everything."""
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.cluster))
    if details is None:
        return fail(FailureClass.CONFIG, message("targets.cluster_unknown", name=params.cluster))
    inventory = read_inventory(ctx, params.cluster, details.eks_name)
    there = inventory.refs(params.nodes)
    new = sorted(set(inventory.work_on_all(there)) - set(params.lost_jobs))
    if new:
        return fail(FailureClass.CONFIG, message("nodes.new_jobs", jobs=", ".join(new)))
    lines = (f"{node.group} {node.logical_id} {node.instance_id} {node.status}" for node in there)
    ctx.keep_evidence("nodes", "\n".join(lines) or "none of the nodes is there any more")
    wanted = [{"logical_id": str(n.logical_id), "instance_id": str(n.instance_id or "")} for n in there]
    return Next(data={"eks_name": details.eks_name, "left": wanted, "round": 0})


def remove(ctx: StepContext, params: RemoveCapacityParams) -> Outcome:
    """Nodes that AWS does not take now are tried again; one that it never takes ends the run with its name."""
    left, round_number = _left(ctx), number(ctx.run.data, "round")
    refused: list[RefusedNode] = []
    for start in range(0, len(left), MAX_PER_CALL):
        args = NodesOfClusterArgs(
            cluster=params.cluster,
            eks_name=text(ctx.run.data, "eks_name"),
            nodes=left[start : start + MAX_PER_CALL],
            round=round_number,
        )
        refused += refused_nodes(ctx.perform(DELETE_NODES, args))
    if not refused:
        return Next()
    listed = ", ".join(f"{item.node} ({item.code})" for item in refused)
    names = {item.node for item in refused}
    if any(item.code != _BUSY for item in refused) or ctx.now - ctx.step_started_at > _BUSY_BUDGET:
        gone = len(params.nodes) - len(names)
        return fail(FailureClass.CONFIG, message("nodes.not_taken", nodes=listed, done=gone, total=len(params.nodes)))
    again: list[JsonObject] = [
        {"logical_id": ref.logical_id, "instance_id": ref.instance_id}
        for ref in left
        if names & {ref.logical_id, ref.instance_id}
    ]
    return Wait(
        delay=next_look(ctx.step_started_at, ctx.now),
        why=message("nodes.busy", nodes=listed),
        data={"left": again, "round": round_number + 1},
    )


def wait_until_gone(ctx: StepContext, params: RemoveCapacityParams) -> Outcome:
    ids = {ref.instance_id or ref.logical_id for ref in params.nodes}
    found = ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.cluster)).nodes
    there = [node for node in found if ids & {str(node.instance_id), str(node.logical_id)}]
    gone = len(params.nodes) - len(there)
    ctx.report(
        message("remove_capacity.progress", gone=gone, total=len(params.nodes)), done=gone, total=len(params.nodes)
    )
    if not there:
        return Done(data={"nodes_removed": gone})
    if ctx.now - ctx.step_started_at > DELETION_BUDGET:
        listed = "\n".join(f"{node.logical_id} {node.instance_id} {node.status} {node.message}" for node in there)
        evidence = ctx.keep_evidence("nodes", listed)
        return fail(FailureClass.UNKNOWN, message("remove_capacity.stuck", count=len(there)), evidence)
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=message("remove_capacity.waiting", count=len(there)))


def _left(ctx: StepContext) -> tuple[NodeRef, ...]:
    return tuple(NodeRef.model_validate(item) for item in children(ctx.run.data, "left"))


WORKFLOW: Final[Workflow[RemoveCapacityParams]] = Workflow(
    name="remove_capacity",
    version=1,
    params=RemoveCapacityParams,
    title=message("remove_capacity.title"),
    steps=(
        Step(
            name=StepName("survey"),
            kind=StepKind.PREFLIGHT,
            title=message("remove_capacity.step_survey"),
            function=survey,
        ),
        Step(
            name=StepName("remove"),
            kind=StepKind.EFFECT,
            title=message("remove_capacity.step_remove"),
            function=remove,
        ),
        Step(
            name=StepName("wait_gone"),
            kind=StepKind.WAIT,
            title=message("remove_capacity.step_wait_gone"),
            function=wait_until_gone,
        ),
    ),
)
