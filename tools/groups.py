"""Instance groups: how one is specified, and a cluster update that loses nothing of the groups it touches.

UpdateCluster replaces the specification of every group that it lists, in full. So an update reads what is
there, turns the description back into a specification member by member, changes what is meant to change, and
sends that. Groups that are not listed stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import Field

from core.cluster.clusters import CapacityMode
from core.json_value import JsonObject, JsonValue
from core.messages.message import message
from core.risk import Risk
from tools.arguments import ByName, ToolArgs
from tools.clients.base import Clients
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool
from tools.reading import child, children, number, text, texts

_SAME_IN_BOTH: Final = (
    "InstanceGroupName",
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "NetworkInterface",
    "SlurmConfig",
)
"""Members that ClusterInstanceGroupDetails and ClusterInstanceGroupSpecification share (botocore 1.44.8)."""


class GroupArgs(ToolArgs):
    """One new group. `instance_types` in order of preference; capacity `training_plan` needs the plan's ARN."""

    name: str
    instance_types: tuple[str, ...]
    count: int
    execution_role: str
    lifecycle_uri: str
    on_create: str
    capacity: CapacityMode = CapacityMode.ON_DEMAND
    training_plan_arn: str = ""
    subnet_ids: tuple[str, ...] = ()
    """Its own subnets; empty = the cluster's."""
    security_group_ids: tuple[str, ...] = ()
    threads_per_core: int = 2
    """AWS takes 1 when nothing is said, which hides half of the vCPUs."""


class UpdateGroupsArgs(ToolArgs):
    """One UpdateCluster: new targets, new groups, groups that go."""

    cluster: str
    counts: dict[str, int] = Field(default_factory=dict)
    added: tuple[GroupArgs, ...] = ()
    removed: tuple[str, ...] = ()
    round: int = 0
    """Tells equal updates of one run apart: 8 to 5, back to 8, to 5 again are three."""


class GroupModel(ToolArgs):
    """What a new group takes over from one that is there."""

    name: str
    execution_role: str
    lifecycle_uri: str
    on_create: str
    threads_per_core: int
    subnet_ids: tuple[str, ...]
    """The group's own, or the cluster's."""
    security_group_ids: tuple[str, ...]


def group_specification(group: GroupArgs) -> JsonObject:
    """ClusterInstanceGroupSpecification of a new group."""
    types: JsonObject = (
        {"InstanceType": group.instance_types[0]}
        if len(group.instance_types) == 1
        else {"InstanceRequirements": {"InstanceTypes": group.instance_types}}
    )
    capacity: dict[str, JsonValue] = {}
    if group.capacity is CapacityMode.TRAINING_PLAN:
        capacity["TrainingPlanArn"] = group.training_plan_arn
    elif group.capacity is CapacityMode.SPOT:
        capacity["CapacityRequirements"] = {"Spot": {}}
    if group.subnet_ids:
        capacity["OverrideVpcConfig"] = {
            "Subnets": group.subnet_ids,
            "SecurityGroupIds": group.security_group_ids,
        }
    return {
        "InstanceGroupName": group.name,
        "InstanceCount": group.count,
        **types,
        **capacity,
        "ExecutionRole": group.execution_role,
        "LifeCycleConfig": {"SourceS3Uri": group.lifecycle_uri, "OnCreate": group.on_create},
        "ThreadsPerCore": group.threads_per_core,
    }


def as_specification(details: JsonObject) -> dict[str, JsonValue]:
    """The specification that a described group was made from, with nothing left out that can be sent again."""
    spec: dict[str, JsonValue] = {key: details[key] for key in _SAME_IN_BOTH if details.get(key) is not None}
    spec["InstanceCount"] = number(details, "TargetCount")
    if minimum := number(details, "MinCount"):
        spec["MinInstanceCount"] = minimum
    if types := texts(details, "InstanceRequirements", "DesiredInstanceTypes"):
        spec["InstanceRequirements"] = {"InstanceTypes": types}
    if kubernetes := _desired(child(details, "KubernetesConfig")):
        spec["KubernetesConfig"] = kubernetes
    image = text(details, "DesiredImageId")
    if image and image != "default":
        spec["ImageId"] = image
    if release := text(details, "DesiredImageReleaseVersion"):
        spec["ImageReleaseVersion"] = release
    if patching := child(details, "AutoPatchConfig"):
        spec["AutoPatchConfig"] = _patching(patching)
    return spec


def _desired(kubernetes: JsonObject) -> JsonObject:
    found = {"Labels": kubernetes.get("DesiredLabels"), "Taints": kubernetes.get("DesiredTaints")}
    return {key: value for key, value in found.items() if value}


def _patching(details: JsonObject) -> JsonObject:
    kept = {key: value for key, value in details.items() if not key.endswith("PatchSchedule")}
    schedule = details.get("DesiredPatchSchedule")
    return {**kept, "PatchSchedule": schedule} if isinstance(schedule, Mapping) and schedule else kept


def _described(clients: Clients, cluster: str) -> dict[str, JsonObject]:
    answer = clients.aws.call("sagemaker", "DescribeCluster", {"ClusterName": cluster})
    return {text(group, "InstanceGroupName"): group for group in children(answer, "InstanceGroups")}


def _models(clients: Clients, args: ByName) -> tuple[GroupModel, ...]:
    """Of every group, in the cluster's order. Raises `TargetNotFound` without the cluster."""
    answer = clients.aws.call("sagemaker", "DescribeCluster", {"ClusterName": args.name})
    of_cluster = child(answer, "VpcConfig")
    return tuple(_model(group, of_cluster) for group in children(answer, "InstanceGroups"))


def _model(group: JsonObject, of_cluster: JsonObject) -> GroupModel:
    network = child(group, "OverrideVpcConfig") or of_cluster
    return GroupModel(
        name=text(group, "InstanceGroupName"),
        execution_role=text(group, "ExecutionRole"),
        lifecycle_uri=text(group, "LifeCycleConfig", "SourceS3Uri"),
        on_create=text(group, "LifeCycleConfig", "OnCreate"),
        threads_per_core=number(group, "ThreadsPerCore") or 2,
        subnet_ids=tuple(texts(network, "Subnets")),
        security_group_ids=tuple(texts(network, "SecurityGroupIds")),
    )


def _targets(clients: Clients, args: UpdateGroupsArgs) -> JsonObject:
    """What was there before the first call: group name -> target count."""
    return {
        "targets": {name: number(group, "TargetCount") for name, group in _described(clients, args.cluster).items()}
    }


def _update(clients: Clients, args: UpdateGroupsArgs, token: str) -> JsonObject:
    there = _described(clients, args.cluster)
    changed = [{**as_specification(there[name]), "InstanceCount": count} for name, count in args.counts.items()]
    added = [group_specification(group) for group in args.added]
    params: dict[str, JsonValue] = {"ClusterName": args.cluster}
    if changed or added:
        params["InstanceGroups"] = [*changed, *added]
    if args.removed:
        params["InstanceGroupsToDelete"] = args.removed
    clients.aws.call("sagemaker", "UpdateCluster", params)
    return {}


def _is_updated(clients: Clients, args: UpdateGroupsArgs, intent: Intent) -> Observation:
    """All of it is there, or nothing of it is; anything between is somebody else's doing."""
    there = _described(clients, args.cluster)
    targets = {name: number(group, "TargetCount") for name, group in there.items()}
    wanted = dict(args.counts) | {group.name: group.count for group in args.added}
    gone = {name for name in args.removed if name not in there or text(there[name], "Status") == "Deleting"}
    if all(targets.get(name) == count for name, count in wanted.items()) and gone == set(args.removed):
        return Found({})
    before = child(intent.before, "targets")
    for name in {*wanted, *args.removed}:
        if targets.get(name) != before.get(name):
            return CannotTell(message("tools.group_changed_since", group=name, cluster=args.cluster))
    return Absent()


GROUP_MODELS: Final[ReadTool[ByName, tuple[GroupModel, ...]]] = ReadTool(name="group_models", read=_models)

UPDATE_GROUPS: Final[EffectTool[UpdateGroupsArgs]] = EffectTool(
    name="update_groups",
    call="sagemaker:UpdateCluster",
    risk=Risk.SPENDING,
    act=_update,
    observe=_is_updated,
    before=_targets,
)
