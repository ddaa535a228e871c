"""CreateCluster, DescribeCluster, ListClusters, UpdateCluster, DeleteCluster and tags."""

from __future__ import annotations

from datetime import timedelta

from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, validation
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.aws.sagemaker import rules
from twin.world import capacity, durations, events
from twin.world.state import Cluster, Group, Spec, World

NOT_SPEC = ("ClusterName", "InstanceGroups", "InstanceGroupsToDelete", "Tags")
STABLE = frozenset({"InService", "Failed"})
MAX_CLUSTER_NODES = 6758
KEPT_IN_UPDATE = ("InstanceType",)
COPIED_TO_DESCRIPTION = (
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "NetworkInterface",
    "SlurmConfig",
)


def find(world: World, name_or_arn: str) -> Cluster:
    """Raises ResourceNotFound as the service words it."""
    for cluster in world.clusters.values():
        if name_or_arn in {cluster.name, cluster.arn}:
            return cluster
    raise AwsError("ResourceNotFound", f"Cluster with name {name_or_arn} not found.")


def create_cluster(ctx: Context, params: Params) -> Reply:
    sim, name = ctx.sim, params.text("ClusterName")
    if name in sim.world.clusters:
        raise AwsError("ResourceInUse", f"Cluster with name {name} already exists.")
    specs = params.structures("InstanceGroups")
    if not specs and not params.structure("Orchestrator").structure("Eks"):
        raise validation("InstanceGroups must be specified.")
    if params.structure("Orchestrator").structure("Eks") and "VpcConfig" not in params:
        raise validation("VpcConfig must be specified for a cluster that is orchestrated by EKS.")
    cluster_id = sim.short_id()
    cluster = Cluster(
        name=name,
        cluster_id=cluster_id,
        arn=ctx.arn("sagemaker", f"cluster/{cluster_id}"),
        status="Creating",
        created_at=sim.now,
        listed_from=sim.now + timedelta(seconds=sim.between(durations.LIST_LAG)),
        spec={key: value for key, value in params.items() if key not in NOT_SPEC},
    )
    rules.check_cluster(ctx, params)
    rules.check_groups(ctx, specs, network=params.structure("VpcConfig"), is_continuous=cluster.is_continuous)
    groups = [_group(spec) for spec in specs]
    rules.check_quota(ctx, {group.name: (group, group.target) for group in groups})
    cluster.groups = {group.name: group for group in groups}
    sim.world.clusters[name] = cluster
    set_tags(ctx, cluster.arn, params)
    if groups:
        events.begin_scaling(sim, cluster, {group.name: 0 for group in groups})
    sim.after(sim.between(durations.CLUSTER_SETUP), "cluster.setup", cluster=cluster_id)
    return {"ClusterArn": cluster.arn}


def update_cluster(ctx: Context, params: Params) -> Reply:
    """Each listed group is replaced in full; groups that are not listed stay as they are."""
    cluster = find(ctx.sim.world, params.text("ClusterName"))
    if cluster.status not in STABLE:
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in status {cluster.status}.")
    rules.check_cluster(ctx, params)
    specs, doomed = params.structures("InstanceGroups"), params.texts("InstanceGroupsToDelete")
    network = Params(cluster.spec.get("VpcConfig", {}))
    continuous = cluster.is_continuous or params.text("NodeProvisioningMode") == "Continuous"
    rules.check_groups(ctx, specs, network=network, is_continuous=continuous)
    for name in doomed:
        if name not in cluster.groups:
            raise validation(f"Instance group {name} does not exist in cluster {cluster.name}.")
    groups = [_group(spec) for spec in specs]
    for group in groups:
        _check_replacement(cluster, group)
    old = {name: group.target for name, group in cluster.groups.items()}
    growth = {group.name: (group, group.target - old.get(group.name, 0)) for group in groups}
    rules.check_quota(ctx, growth)
    cluster.spec |= {key: value for key, value in params.items() if key not in NOT_SPEC}
    _apply_groups(ctx, cluster, groups, doomed, old)
    return {"ClusterArn": cluster.arn}


def delete_cluster(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.sim.world, params.text("ClusterName"))
    if cluster.status not in STABLE:
        raise AwsError("ConflictException", f"Cluster {cluster.name} is in status {cluster.status}.")
    ctx.provisioning.delete_cluster(ctx.sim, cluster)
    return {"ClusterArn": cluster.arn}


def describe_cluster(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.seen, params.text("ClusterName"))
    scaling = cluster.spec.get("AutoScaling")
    return {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ClusterStatus": cluster.status,
        "CreationTime": cluster.created_at,
        "FailureMessage": cluster.failure_message or None,
        "InstanceGroups": [_describe_group(ctx.seen, cluster, group) for group in cluster.groups.values()],
        **{
            key: cluster.spec.get(key)
            for key in ("VpcConfig", "Orchestrator", "TieredStorageConfig", "NodeProvisioningMode", "ClusterRole")
        },
        "NodeRecovery": cluster.spec.get("NodeRecovery", "Automatic"),
        "AutoScaling": scaling and {**scaling, "Status": "InService"},
    }


def list_clusters(ctx: Context, params: Params) -> Reply:
    after, before = params.moment("CreationTimeAfter"), params.moment("CreationTimeBefore")
    plan = params.text("TrainingPlanArn")
    found = [
        cluster
        for cluster in ctx.seen.clusters.values()
        if cluster.listed_from <= ctx.sim.now
        and params.text("NameContains") in cluster.name
        and (after is None or cluster.created_at > after)
        and (before is None or cluster.created_at < before)
        and (not plan or plan in _plans(cluster))
    ]
    by_name = params.text("SortBy") == "NAME"
    found.sort(key=lambda c: c.name if by_name else c.created_at.isoformat())
    if params.text("SortOrder") == "Descending":
        found.reverse()
    chosen, token = page(found, params)
    summaries = [
        {
            "ClusterArn": cluster.arn,
            "ClusterName": cluster.name,
            "CreationTime": cluster.created_at,
            "ClusterStatus": cluster.status,
            "TrainingPlanArns": _plans(cluster) or None,
        }
        for cluster in chosen
    ]
    return {"ClusterSummaries": summaries, "NextToken": token}


def set_tags(ctx: Context, arn: str, params: Params) -> dict[str, str]:
    """Add the tags of a request; all tags of the resource."""
    tags = ctx.sim.world.tags.setdefault(arn, {})
    tags |= {tag.text("Key"): tag.text("Value") for tag in params.structures("Tags")}
    return tags


def add_tags(ctx: Context, params: Params) -> Reply:
    _tags(ctx.sim.world, params)
    tags = set_tags(ctx, params.text("ResourceArn"), params)
    return {"Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}


def delete_tags(ctx: Context, params: Params) -> Reply:
    tags = _tags(ctx.sim.world, params)
    for key in params.texts("TagKeys"):
        tags.pop(key, None)
    return {}


def list_tags(ctx: Context, params: Params) -> Reply:
    chosen, token = page(list(_tags(ctx.seen, params).items()), params)
    return {"Tags": [{"Key": key, "Value": value} for key, value in chosen], "NextToken": token}


OPERATIONS: dict[str, Handler] = {
    "CreateCluster": create_cluster,
    "UpdateCluster": update_cluster,
    "DeleteCluster": delete_cluster,
    "DescribeCluster": describe_cluster,
    "ListClusters": list_clusters,
    "AddTags": add_tags,
    "DeleteTags": delete_tags,
    "ListTags": list_tags,
}


def _tags(world: World, params: Params) -> dict[str, str]:
    arn = params.text("ResourceArn")
    named = arn.rpartition("/")[2] in world.plans or arn in world.tags
    if not named and all(cluster.arn != arn for cluster in world.clusters.values()):
        raise AwsError("ResourceNotFound", f"Resource {arn} not found.")
    return world.tags.get(arn, {})


def _group(spec: Params) -> Group:
    return Group(name=spec.text("InstanceGroupName"), spec=spec.to_json(), target=spec.integer("InstanceCount"))


def _check_replacement(cluster: Cluster, group: Group) -> None:
    old = cluster.groups.get(group.name)
    if old is None:
        return
    for member in KEPT_IN_UPDATE:
        if old.spec.get(member) != group.spec.get(member):
            raise validation(f"Instance group {group.name}: {member} cannot be changed.")


def _apply_groups(ctx: Context, cluster: Cluster, groups: list[Group], doomed: list[str], old: dict[str, int]) -> None:
    sim = ctx.sim
    for group in groups:
        known = cluster.groups.get(group.name)
        if known is None:
            cluster.groups[group.name] = group
        else:
            known.spec, known.target = group.spec, group.target
    for name in doomed:
        cluster.groups[name].target, cluster.groups[name].status = 0, "Deleting"
    changed = {name: old.get(name, 0) for name, group in cluster.groups.items() if group.target != old.get(name, 0)}
    if changed:
        cluster.status = cluster.status if cluster.is_continuous else "Updating"
        events.begin_scaling(sim, cluster, changed)
    for name in [*changed, *(group.name for group in groups if group.name not in old)]:
        if name in old:
            ctx.provisioning.reconcile(sim, cluster, cluster.groups[name])
        else:
            ctx.provisioning.begin_group(sim, cluster, cluster.groups[name])
    cluster.groups = {
        name: group for name, group in cluster.groups.items() if name not in doomed or cluster.nodes_of(name)
    }
    ctx.provisioning.settle(cluster)


def _describe_group(world: World, cluster: Cluster, group: Group) -> Reply:
    spec, nodes = group.spec, cluster.nodes_of(group.name)
    types = capacity.group_types(group)
    plan = capacity.plan_of(world, group)
    flexible = "InstanceRequirements" in spec
    kubernetes = spec.get("KubernetesConfig")
    return {
        "InstanceGroupName": group.name,
        "CurrentCount": events.current_count(cluster, group.name),
        "TargetCount": group.target,
        "MinCount": spec.get("MinInstanceCount"),
        "Status": group.status,
        "ThreadsPerCore": spec.get("ThreadsPerCore", 1),
        **{key: spec.get(key) for key in COPIED_TO_DESCRIPTION},
        "TrainingPlanStatus": plan.status if plan is not None else None,
        "InstanceRequirements": {"CurrentInstanceTypes": types, "DesiredInstanceTypes": types} if flexible else None,
        "InstanceTypeDetails": [
            {
                "InstanceType": name,
                "CurrentCount": sum(n.instance_type == name and n.status in events.COUNTED for n in nodes),
                "ThreadsPerCore": spec.get("ThreadsPerCore", 1),
            }
            for name in types
        ]
        if flexible
        else None,
        "KubernetesConfig": kubernetes and _current_and_desired(kubernetes),
        "AutoPatchConfig": _patching(spec.get("AutoPatchConfig")),
        **{f"{moment}ImageReleaseVersion": spec.get("ImageReleaseVersion") for moment in ("Current", "Desired")},
        "CurrentImageId": spec.get("ImageId", "default"),
        "DesiredImageId": spec.get("ImageId", "default"),
        "ImageVersionStatus": "UpToDate",
        "SoftwareUpdateStatus": group.software_status or None,
        "ActiveOperations": {"Scaling": 1} if _is_scaling(cluster, group) else None,
    }


def _current_and_desired(config: dict[str, object]) -> Reply:
    return {f"{moment}{key}": config.get(key) for moment in ("Current", "Desired") for key in ("Labels", "Taints")}


def _patching(config: Spec | None) -> Reply | None:
    """As sent, with the schedule shown twice: as it is and as it shall be."""
    if config is None:
        return None
    schedule = config.get("PatchSchedule")
    rest = {key: value for key, value in config.items() if key != "PatchSchedule"}
    return {**rest, "CurrentPatchSchedule": schedule, "DesiredPatchSchedule": schedule}


def _is_scaling(cluster: Cluster, group: Group) -> bool:
    return events.current_count(cluster, group.name) != group.target


def _plans(cluster: Cluster) -> list[str]:
    arns = [group.spec.get("TrainingPlanArn") for group in cluster.groups.values()]
    return sorted({arn for arn in arns if arn})
