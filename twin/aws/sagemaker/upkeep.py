"""UpdateClusterSoftware, StartClusterHealthCheck and MoveClusterNodes."""

from __future__ import annotations

from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, validation
from twin.aws.params import Params, Reply
from twin.aws.sagemaker import rules
from twin.aws.sagemaker.clusters import find
from twin.aws.tokens import remembered
from twin.world import capacity, events
from twin.world.state import LATEST_RELEASE, Cluster, Group, Node, Operation


def update_cluster_software(ctx: Context, params: Params) -> Reply:
    """Root volumes are wiped and lifecycle scripts run again, batch after batch; a failure rolls the group back."""
    cluster = find(ctx.sim.world, params.text("ClusterName"))
    if cluster.status != "InService":
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in status {cluster.status}.")
    wanted = {
        item.text("InstanceGroupName"): item.text("ImageReleaseVersion", LATEST_RELEASE)
        for item in params.structures("InstanceGroups")
    }
    for name in wanted:
        _group(cluster, name)
    releases = wanted or dict.fromkeys(cluster.groups, LATEST_RELEASE)
    policy = params.structure("DeploymentConfig").structure("RollingUpdatePolicy").structure("MaximumBatchSize")
    cluster.status = "SystemUpdating"
    for name, release in releases.items():
        group = cluster.groups[name]
        group.wanted_release = release
        ctx.upkeep.begin_update(ctx.sim, cluster, group, _batch_size(policy, group))
    return {"ClusterArn": cluster.arn}


def start_cluster_health_check(ctx: Context, params: Params) -> Reply:
    """Nodes that fail are replaced by HyperPod itself, so this changes a cluster."""
    cluster = find(ctx.sim.world, params.text("ClusterName"))
    if cluster.status != "InService":
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in status {cluster.status}.")
    configurations = params.structures("DeepHealthCheckConfigurations")
    chosen: list[Node] = []
    for item in configurations:
        group = _group(cluster, item.text("InstanceGroupName"))
        ids = item.texts("InstanceIds")
        nodes = [node for node in cluster.nodes_of(group.name) if not ids or node.instance_id in ids]
        if ids and len(nodes) < len(set(ids)):
            raise validation(f"Not every instance id belongs to instance group {group.name}.")
        chosen += [node for node in nodes if node.status == "Running"]
    if not chosen:
        raise validation("No running instance matches the deep health check configuration.")
    cluster.operations.append(
        Operation(
            operation_id=ctx.sim.uuid(),
            kind="DeepHealthCheck",
            status="InProgress",
            created_at=ctx.sim.now,
            health_checks=[item.to_json() for item in configurations],
        )
    )
    for node in chosen:
        ctx.provisioning.deep_check(ctx.sim, cluster, node)
    return {"ClusterArn": cluster.arn}


def move_cluster_nodes(ctx: Context, params: Params) -> Reply:
    """Instances keep their id, addresses and capacity; root and secondary volumes are new."""
    return remembered(ctx, "MoveClusterNodes", params, lambda: _move(ctx, params), _moved_before)


OPERATIONS: dict[str, Handler] = {
    "UpdateClusterSoftware": update_cluster_software,
    "StartClusterHealthCheck": start_cluster_health_check,
    "MoveClusterNodes": move_cluster_nodes,
}


def _group(cluster: Cluster, name: str) -> Group:
    group = cluster.groups.get(name)
    if group is None:
        raise validation(f"Instance group {name} does not exist in cluster {cluster.name}.")
    return group


def _batch_size(policy: Params, group: Group) -> int:
    """Without a rolling policy the whole group goes at once."""
    value = policy.integer("Value", max(group.target, 1))
    if policy.text("Type") == "CAPACITY_PERCENTAGE":
        return max(1, group.target * value // 100)
    return value


def _move(ctx: Context, params: Params) -> tuple[Reply, list[str]]:
    world = ctx.sim.world
    source = find(world, params.text("SourceClusterArn"))
    target = find(world, params.text("TargetClusterArn"))
    chosen = [key for key in ("NodeIds", "NodeLogicalIds", "InstanceCount") if key in params]
    if len(chosen) != 1:
        raise validation("Specify exactly one of NodeIds, NodeLogicalIds and InstanceCount.")
    for cluster in (source, target):
        rules.require_continuous(cluster, "MoveClusterNodes")
        if cluster.status != "InService" or cluster.eks_name is None:
            raise validation(f"Cluster {cluster.name} must be InService and orchestrated by EKS.")
    from_group = _group(source, params.text("SourceInstanceGroupName"))
    to_group = _group(target, params.text("TargetInstanceGroupName"))
    nodes = source.nodes_of(from_group.name)
    if chosen == ["InstanceCount"]:
        running = [node for node in nodes if node.status == "Running"]
        wanted = [str(node.instance_id) for node in running[: params.integer("InstanceCount")]]
        if len(wanted) < params.integer("InstanceCount"):
            raise validation(f"Instance group {from_group.name} has {len(running)} running instances.")
    else:
        wanted = params.texts(chosen[0])
    key = "NodeLogicalId" if chosen == ["NodeLogicalIds"] else "NodeId"
    known = {str(node.logical_id if key == "NodeLogicalId" else node.instance_id): node for node in nodes}
    moved, failed = [], []
    for name in dict.fromkeys(wanted):
        code = _move_refusal(known.get(name), to_group)
        if code:
            failed.append({key: name, "Code": code, "Message": f"Node {name}: {code}."})
        else:
            ctx.upkeep.begin_move(ctx.sim, source, target, to_group, known[name])
            moved.append(name)
    if moved:
        events.begin_scaling(ctx.sim, source, {from_group.name: from_group.target + len(moved)})
        events.begin_scaling(ctx.sim, target, {to_group.name: to_group.target - len(moved)})
    ctx.outcome.took_effect = bool(moved)
    return _move_reply(key, moved, failed), [key, *moved]


def _moved_before(made: list[str]) -> Reply:
    return _move_reply(made[0], made[1:], [])


def _move_reply(key: str, moved: list[str], failed: list[dict[str, str]]) -> Reply:
    if key == "NodeLogicalId":
        return {"SuccessfulNodeLogicalIds": moved or None, "FailedNodeLogicalIds": failed or None}
    return {"Successful": moved or None, "Failed": failed or None}


def _move_refusal(node: Node | None, to_group: Group) -> str:
    if node is None:
        return "NodeIdNotFound"
    if node.status != "Running":
        return "InvalidNodeStatus"
    return "" if node.instance_type in capacity.group_types(to_group) else "NodeInstanceTypeMismatch"
