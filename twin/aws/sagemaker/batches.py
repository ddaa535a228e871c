"""BatchDelete, BatchReboot and BatchReplaceClusterNodes: HTTP 200 with what succeeded and what did not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.ids import NodeLogicalId
from twin.aws.context import Context, Handler
from twin.aws.errors import validation
from twin.aws.params import Params, Reply
from twin.aws.sagemaker import rules
from twin.aws.sagemaker.clusters import find
from twin.world import events
from twin.world.state import Cluster, Node

MAX_DELETED_IDS = 99
"""More need AWS Support (documentation of BatchDeleteClusterNodes)."""
MAX_DELETED_WITH_LOGICAL_IDS = 50
BUSY = frozenset({"SystemUpdating", "DeepHealthCheckInProgress", "DetachInProgress", "AttachInProgress"})


@dataclass(frozen=True, slots=True)
class Verb:
    """How one of the three names its refusals, and on which nodes it works."""

    operation: str
    code_key: str
    not_found: str
    wrong_status: str
    in_use: str
    statuses: frozenset[str]
    act: Callable[[Context, Cluster, Node], None]


def _delete(ctx: Context, cluster: Cluster, node: Node) -> None:
    cluster.groups[node.group].target -= 1
    ctx.provisioning.terminate(ctx.sim, cluster, node)


DELETE = Verb(
    "BatchDeleteClusterNodes",
    "Code",
    "NodeIdNotFound",
    "InvalidNodeStatus",
    "NodeIdInUse",
    frozenset({"Running", "Failure", "Pending"}),
    _delete,
)
REBOOT = Verb(
    "BatchRebootClusterNodes",
    "ErrorCode",
    "InstanceIdNotFound",
    "InvalidInstanceStatus",
    "InstanceIdInUse",
    frozenset({"Running"}),
    lambda ctx, cluster, node: ctx.provisioning.reboot(ctx.sim, cluster, node),
)
REPLACE = Verb(
    "BatchReplaceClusterNodes",
    "ErrorCode",
    "InstanceIdNotFound",
    "InvalidInstanceStatus",
    "InstanceIdInUse",
    frozenset({"Running", "Failure"}),
    lambda ctx, cluster, node: ctx.provisioning.replace(ctx.sim, cluster, node),
)


def batch_delete_cluster_nodes(ctx: Context, params: Params) -> Reply:
    ids, logical_ids = params.texts("NodeIds"), params.texts("NodeLogicalIds")
    if len(ids) > MAX_DELETED_IDS or (logical_ids and len(ids) + len(logical_ids) > MAX_DELETED_WITH_LOGICAL_IDS):
        raise validation(
            f"At most {MAX_DELETED_IDS} node ids can be deleted at once,"
            f" and {MAX_DELETED_WITH_LOGICAL_IDS} ids when logical ids are among them."
        )
    cluster = find(ctx.sim.world, params.text("ClusterName"))
    old = {name: group.target for name, group in cluster.groups.items()}
    reply = _batch(ctx, params, DELETE)
    changed = {name: target for name, target in old.items() if cluster.groups[name].target != target}
    if changed:
        events.begin_scaling(ctx.sim, cluster, changed)
        events.settle_operations(cluster)
    return reply


OPERATIONS: dict[str, Handler] = {
    "BatchDeleteClusterNodes": batch_delete_cluster_nodes,
    "BatchRebootClusterNodes": lambda ctx, params: _batch(ctx, params, REBOOT),
    "BatchReplaceClusterNodes": lambda ctx, params: _batch(ctx, params, REPLACE),
}


def _batch(ctx: Context, params: Params, verb: Verb) -> Reply:
    cluster = find(ctx.sim.world, params.text("ClusterName"))
    ids, logical_ids = params.texts("NodeIds"), params.texts("NodeLogicalIds")
    if not ids and not logical_ids:
        raise validation("At least one of NodeIds and NodeLogicalIds must be specified.")
    if logical_ids:
        rules.require_continuous(cluster, f"{verb.operation} with NodeLogicalIds")
    by_instance = {node.instance_id: node for node in cluster.nodes.values() if node.instance_id}
    done, failed = _each(ctx, cluster, verb, "NodeId", ids, {str(key): node for key, node in by_instance.items()})
    by_logical = {str(key): node for key, node in cluster.nodes.items()}
    done_logical, failed_logical = _each(ctx, cluster, verb, "NodeLogicalId", logical_ids, by_logical)
    ctx.outcome.took_effect = bool(done or done_logical)
    return {
        "Successful": done or None,  # the model allows no empty list in any of the four
        "Failed": failed or None,
        "SuccessfulNodeLogicalIds": done_logical or None,
        "FailedNodeLogicalIds": failed_logical or None,
    }


def _each(
    ctx: Context, cluster: Cluster, verb: Verb, key: str, wanted: list[str], nodes: dict[str, Node]
) -> tuple[list[str], list[Reply]]:
    done: list[str] = []
    failed: list[Reply] = []
    for name in dict.fromkeys(wanted):
        node = nodes.get(name)
        code = _refusal(cluster, verb, node)
        if node is None or code:
            failed.append({key: name, verb.code_key: code, "Message": f"Node {name}: {code}."})
        else:
            verb.act(ctx, cluster, node)
            done.append(name)
    return done, failed


def _refusal(cluster: Cluster, verb: Verb, node: Node | None) -> str:
    if node is None or NodeLogicalId(node.logical_id) not in cluster.nodes:
        return verb.not_found
    if node.status in BUSY:
        return verb.in_use
    slurm = cluster.groups[node.group].spec.get("SlurmConfig", {})
    is_controller = slurm.get("NodeType") == "Controller"
    if node.status not in verb.statuses or (verb is not REBOOT and is_controller):
        return verb.wrong_status
    return ""
