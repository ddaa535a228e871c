"""HyperPod clusters: read as they are, created, deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.cluster.clusters import (
    CapacityMode,
    Cluster,
    ClusterStatus,
    InstanceGroup,
    InstanceGroupStatus,
    NodeRecovery,
    Orchestrator,
)
from core.ids import ClusterName, InstanceTypeName
from core.json_value import JsonObject
from core.risk import Risk
from tools.arguments import ByName, NoArgs, ToolArgs
from tools.clients.base import Clients
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool
from tools.errors import TargetNotFound
from tools.groups import GroupArgs, group_specification
from tools.ownership import TOKEN_TAG, PartArgs, as_tag_list, from_tag_list, marks, name_of_others
from tools.reading import child, children, number, text, texts


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterDetails:
    """A cluster with what other tools need: where its API server is, and where it stands."""

    cluster: Cluster
    eks_arn: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]
    is_continuous: bool

    @property
    def eks_name(self) -> str:
        """Empty for a cluster without EKS."""
        return self.eks_arn.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    name: ClusterName
    arn: str
    status: ClusterStatus


class CreateClusterArgs(PartArgs):
    """`cluster` is the name."""

    eks_arn: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]
    node_recovery: NodeRecovery
    groups: tuple[GroupArgs, ...]


class DeleteClusterArgs(ToolArgs):
    name: str
    arn: str
    """Frozen before the first call: a new cluster of the same name is another one and stays."""


def find_cluster(clients: Clients, name: str) -> ClusterDetails | None:
    try:
        answer = clients.aws.call("sagemaker", "DescribeCluster", {"ClusterName": name})
    except TargetNotFound:
        return None
    return ClusterDetails(
        cluster=_cluster(answer),
        eks_arn=text(answer, "Orchestrator", "Eks", "ClusterArn"),
        subnet_ids=tuple(texts(answer, "VpcConfig", "Subnets")),
        security_group_ids=tuple(texts(answer, "VpcConfig", "SecurityGroupIds")),
        is_continuous=text(answer, "NodeProvisioningMode") == "Continuous",
    )


def _tags(clients: Clients, arn: str) -> dict[str, str]:
    try:
        return from_tag_list(clients.aws.pages("sagemaker", "ListTags", {"ResourceArn": arn}, "Tags"))
    except TargetNotFound:
        return {}  # it was deleted between the two reads


def _cluster(answer: JsonObject) -> Cluster:
    is_eks = bool(child(answer, "Orchestrator", "Eks"))
    recovery = text(answer, "NodeRecovery")
    return Cluster(
        name=ClusterName(text(answer, "ClusterName")),
        arn=text(answer, "ClusterArn"),
        orchestrator=Orchestrator.EKS if is_eks else Orchestrator.SLURM,
        status=ClusterStatus(text(answer, "ClusterStatus")),
        groups=tuple(_group(group) for group in children(answer, "InstanceGroups")),
        node_recovery=NodeRecovery.NONE if recovery == NodeRecovery.NONE.value else NodeRecovery.AUTOMATIC,
        failure_message=text(answer, "FailureMessage"),
    )


def _group(group: JsonObject) -> InstanceGroup:
    one = text(group, "InstanceType")
    several = texts(group, "InstanceRequirements", "DesiredInstanceTypes")
    plan = text(group, "TrainingPlanArn")
    is_spot = "Spot" in child(group, "CapacityRequirements")
    mode = CapacityMode.TRAINING_PLAN if plan else CapacityMode.SPOT if is_spot else CapacityMode.ON_DEMAND
    return InstanceGroup(
        name=text(group, "InstanceGroupName"),
        instance_types=tuple(InstanceTypeName(name) for name in ([one] if one else several)),
        status=InstanceGroupStatus(text(group, "Status")),
        current_count=number(group, "CurrentCount"),
        target_count=number(group, "TargetCount"),
        capacity=mode,
        training_plan=plan or None,
    )


def _describe(clients: Clients, args: ByName) -> ClusterDetails | None:
    return find_cluster(clients, args.name)


def _list(clients: Clients, args: NoArgs) -> tuple[ClusterSummary, ...]:
    found = clients.aws.pages("sagemaker", "ListClusters", {}, "ClusterSummaries")
    summaries = (
        ClusterSummary(
            name=ClusterName(text(row, "ClusterName")),
            arn=text(row, "ClusterArn"),
            status=ClusterStatus(text(row, "ClusterStatus")),
        )
        for row in found
    )
    return tuple(sorted(summaries, key=lambda summary: summary.name))


def _types_in_use(clients: Clients, args: NoArgs) -> dict[InstanceTypeName, int]:
    """Instances that existing groups are to have, by type: what counts against the quotas.

    Groups on a training plan have their instances already. A flexible group counts under its first type.
    """
    used: dict[InstanceTypeName, int] = {}
    for summary in _list(clients, args):
        for group in _groups_of(clients, summary.name):
            if group.capacity is not CapacityMode.TRAINING_PLAN and group.instance_types:
                first = group.instance_types[0]
                used[first] = used.get(first, 0) + max(group.target_count, group.current_count)
    return used


def _groups_of(clients: Clients, name: str) -> tuple[InstanceGroup, ...]:
    try:
        return _cluster(clients.aws.call("sagemaker", "DescribeCluster", {"ClusterName": name})).groups
    except TargetNotFound:
        return ()  # deleted since it was listed


def _create(clients: Clients, args: CreateClusterArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "ClusterName": args.cluster,
        "Orchestrator": {"Eks": {"ClusterArn": args.eks_arn}},
        "VpcConfig": {"Subnets": args.subnet_ids, "SecurityGroupIds": args.security_group_ids},
        "NodeRecovery": args.node_recovery.value,
        "NodeProvisioningMode": "Continuous",
        "InstanceGroups": [group_specification(group) for group in args.groups],
        "Tags": as_tag_list(marks(clients, args, token)),
    }
    return {"arn": text(clients.aws.call("sagemaker", "CreateCluster", params), "ClusterArn")}


def _is_there(clients: Clients, args: CreateClusterArgs, intent: Intent) -> Observation:
    """The name is unique in the account and region; the token in the tags says whose it is."""
    found = find_cluster(clients, args.cluster)
    if found is None:
        return Absent()
    if _tags(clients, found.cluster.arn).get(TOKEN_TAG) != intent.token:
        return CannotTell(name_of_others("HyperPod cluster", args.cluster))
    return Found({"arn": found.cluster.arn})


def _delete(clients: Clients, args: DeleteClusterArgs, token: str) -> JsonObject:
    clients.aws.call("sagemaker", "DeleteCluster", {"ClusterName": args.arn})
    return {}


def _is_going(clients: Clients, args: DeleteClusterArgs, intent: Intent) -> Observation:
    found = find_cluster(clients, args.name)
    if found is None or found.cluster.arn != args.arn or found.cluster.status is ClusterStatus.DELETING:
        return Found({})
    return Absent()


DESCRIBE_CLUSTER: Final[ReadTool[ByName, ClusterDetails | None]] = ReadTool(name="describe_cluster", read=_describe)
LIST_CLUSTERS: Final[ReadTool[NoArgs, tuple[ClusterSummary, ...]]] = ReadTool(name="list_clusters", read=_list)
TYPES_IN_USE: Final[ReadTool[NoArgs, dict[InstanceTypeName, int]]] = ReadTool(name="types_in_use", read=_types_in_use)

CREATE_CLUSTER: Final[EffectTool[CreateClusterArgs]] = EffectTool(
    name="create_cluster",
    call="sagemaker:CreateCluster",
    risk=Risk.SPENDING,
    act=_create,
    observe=_is_there,
    settle_seconds=2.0,
)
DELETE_CLUSTER: Final[EffectTool[DeleteClusterArgs]] = EffectTool(
    name="delete_cluster",
    call="sagemaker:DeleteCluster",
    risk=Risk.DESTRUCTIVE,
    act=_delete,
    observe=_is_going,
)
