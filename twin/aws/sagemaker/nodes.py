"""ListClusterNodes, DescribeClusterNode and BatchAddClusterNodes."""

from __future__ import annotations

from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, validation
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.aws.sagemaker import rules
from twin.aws.sagemaker.clusters import find
from twin.aws.tokens import remembered
from twin.world import capacity, events
from twin.world.state import Cluster, Node, World

MAX_ADDED_PER_CALL = 50


def list_cluster_nodes(ctx: Context, params: Params) -> Reply:
    """Lags behind describe; nodes without an instance show only with IncludeNodeLogicalIds."""
    cluster = find(ctx.seen, params.text("ClusterName"))
    after, before = params.moment("CreationTimeAfter"), params.moment("CreationTimeBefore")
    found = [
        node
        for node in cluster.nodes.values()
        if node.listed_status
        and (node.instance_id or params.flag("IncludeNodeLogicalIds"))
        and params.text("InstanceGroupNameContains") in node.group
        and (after is None or node.created_at > after)
        and (before is None or node.created_at < before)
    ]
    by_name = params.text("SortBy") == "NAME"
    found.sort(key=lambda node: ctx.sim.order(node.logical_id))
    found.sort(key=lambda node: (node.instance_id or "") if by_name else node.created_at.isoformat())
    if params.text("SortOrder") == "Descending":
        found.reverse()
    chosen, token = page(found, params)
    return {"ClusterNodeSummaries": [_summary(cluster, node) for node in chosen], "NextToken": token}


def describe_cluster_node(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.seen, params.text("ClusterName"))
    if ("NodeId" in params) == ("NodeLogicalId" in params):
        raise validation("Specify exactly one of NodeId and NodeLogicalId.")
    wanted = params.text("NodeId") or params.text("NodeLogicalId")
    for node in cluster.nodes.values():
        if wanted in {node.instance_id, node.logical_id}:
            return {"NodeDetails": _details(ctx.seen, cluster, node)}
    raise AwsError("ResourceNotFound", f"Node {wanted} not found in cluster {cluster.name}.")


def batch_add_cluster_nodes(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.sim.world, params.text("ClusterName"))
    rules.require_continuous(cluster, "BatchAddClusterNodes")
    return remembered(
        ctx,
        "BatchAddClusterNodes",
        params,
        lambda: _add(ctx, cluster, params),
        lambda made: _replay(cluster, made),
    )


OPERATIONS: dict[str, Handler] = {
    "ListClusterNodes": list_cluster_nodes,
    "DescribeClusterNode": describe_cluster_node,
    "BatchAddClusterNodes": batch_add_cluster_nodes,
}


def _add(ctx: Context, cluster: Cluster, params: Params) -> tuple[Reply, list[str]]:
    wanted = params.structures("NodesToAdd")
    if sum(spec.integer("IncrementTargetCountBy") for spec in wanted) > MAX_ADDED_PER_CALL:
        raise validation(f"At most {MAX_ADDED_PER_CALL} nodes can be added per call.")
    failed = [failure for spec in wanted if (failure := _refusal(ctx, cluster, spec)) is not None]
    refused = {id(spec) for spec in wanted if _refusal(ctx, cluster, spec) is not None}
    accepted = [spec for spec in wanted if id(spec) not in refused]
    growth: dict[str, int] = {}
    for spec in accepted:
        name = spec.text("InstanceGroupName")
        growth[name] = growth.get(name, 0) + spec.integer("IncrementTargetCountBy")
    rules.check_quota(ctx, {name: (cluster.groups[name], more) for name, more in growth.items()})
    old = {name: cluster.groups[name].target for name in growth}
    for name, more in growth.items():
        cluster.groups[name].target += more
    if growth:
        events.begin_scaling(ctx.sim, cluster, old)
    added = [
        ctx.provisioning.add_node(
            ctx.sim,
            cluster,
            cluster.groups[spec.text("InstanceGroupName")],
            zones=spec.texts("AvailabilityZones"),
            types=spec.texts("InstanceTypes"),
        )
        for spec in accepted
        for _ in range(spec.integer("IncrementTargetCountBy"))
    ]
    ctx.outcome.took_effect = bool(added)
    return {"Successful": [_addition(node) for node in added], "Failed": failed}, [node.logical_id for node in added]


def _replay(cluster: Cluster, made: list[str]) -> Reply:
    nodes = {node.logical_id: node for node in cluster.nodes.values()}
    return {"Successful": [_addition(nodes[name]) for name in nodes if name in made], "Failed": []}


def _refusal(ctx: Context, cluster: Cluster, spec: Params) -> Reply | None:
    name, world = spec.text("InstanceGroupName"), ctx.sim.world
    group = cluster.groups.get(name)
    code = ""
    if group is None:
        code = "InstanceGroupNotFound"
    elif group.status not in {"InService", "Degraded"}:
        code = "InvalidInstanceGroupStatus"
    elif not set(spec.texts("InstanceTypes")) <= set(capacity.group_types(group)):
        code = "IncompatibleInstanceTypes"
    elif not set(spec.texts("AvailabilityZones")) <= {
        world.zones[zone].name for zone in ctx.provisioning.zones_of(cluster, group)
    }:
        code = "IncompatibleAvailabilityZones"
    if not code:
        return None
    return {
        "InstanceGroupName": name,
        "ErrorCode": code,
        "FailedCount": spec.integer("IncrementTargetCountBy"),
        "AvailabilityZones": spec.texts("AvailabilityZones") or None,
        "InstanceTypes": spec.texts("InstanceTypes") or None,
        "Message": f"Instance group {name}: {code}.",
    }


def _addition(node: Node) -> Reply:
    return {
        "NodeLogicalId": node.logical_id,
        "InstanceGroupName": node.group,
        "Status": node.status,
        "AvailabilityZones": node.only_zones or None,
        "InstanceTypes": node.only_types or None,
    }


def _summary(cluster: Cluster, node: Node) -> Reply:
    return {
        "InstanceGroupName": node.group,
        "InstanceId": node.instance_id or "",
        "NodeLogicalId": node.logical_id if cluster.is_continuous else None,
        "InstanceType": _type(cluster, node),
        "LaunchTime": node.launched_at or node.created_at,
        "InstanceStatus": {"Status": node.listed_status, "Message": node.message or None},
        "PrivateDnsHostname": _hostname(node),
        "CurrentImageReleaseVersion": node.image_release,
        "ImageVersionStatus": "UpToDate",
    }


def _details(world: World, cluster: Cluster, node: Node) -> Reply:
    spec = cluster.groups[node.group].spec
    zone = world.zones[node.zone] if node.zone is not None else None
    spot = "Spot" in spec.get("CapacityRequirements", {})
    return {
        "InstanceGroupName": node.group,
        "InstanceId": node.instance_id,
        "NodeLogicalId": node.logical_id if cluster.is_continuous else None,
        "InstanceStatus": {"Status": node.status, "Message": node.message or None},
        "InstanceType": _type(cluster, node),
        "LaunchTime": node.launched_at,
        "ThreadsPerCore": spec.get("ThreadsPerCore", 1),
        **{key: spec.get(key) for key in ("LifeCycleConfig", "OverrideVpcConfig", "InstanceStorageConfigs")},
        "PrivatePrimaryIp": node.ip or None,
        "PrivateDnsHostname": _hostname(node),
        "Placement": {"AvailabilityZone": zone.name, "AvailabilityZoneId": zone.zone_id} if zone is not None else None,
        "CurrentImageReleaseVersion": node.image_release,
        "ImageVersionStatus": "UpToDate",
        "CapacityType": "Spot" if spot else "OnDemand",
    }


def _type(cluster: Cluster, node: Node) -> str:
    return node.instance_type or capacity.group_types(cluster.groups[node.group])[0]


def _hostname(node: Node) -> str | None:
    return f"ip-{node.ip.replace('.', '-')}.ec2.internal" if node.ip else None
