"""Rules across fields and against the account, which SageMaker's model cannot say.

Sources: the documentation texts of botocore 1.44.8's SageMaker model; message forms are AWS's where they are
publicly known, and plain otherwise.
"""

from __future__ import annotations

from collections import Counter

from core.ids import InstanceTypeName
from twin.aws.context import Context
from twin.aws.errors import AwsError, NotInTwin, validation
from twin.aws.params import Params
from twin.world import capacity
from twin.world.state import Cluster, Group

UNSUPPORTED = ("RestrictedInstanceGroups", "RestrictedInstanceGroupsConfig")


def check_cluster(ctx: Context, params: Params) -> None:
    """What CreateCluster and UpdateCluster have in common."""
    for member in UNSUPPORTED:
        if params.get(member):
            raise NotInTwin(f"sagemaker {member}")
    orchestrator = params.get("Orchestrator")
    if orchestrator is not None and len(params.structure("Orchestrator")) != 1:
        raise validation("Exactly one of Orchestrator.Eks and Orchestrator.Slurm must be specified.")
    eks_arn = params.structure("Orchestrator").structure("Eks").text("ClusterArn")
    if eks_arn:
        _check_eks(ctx, eks_arn)
    if params.structure("AutoScaling").text("Mode") == "Enable" and not params.text("ClusterRole"):
        raise validation("ClusterRole must be specified when AutoScaling is enabled.")


def check_groups(ctx: Context, groups: list[Params], *, network: Params, is_continuous: bool) -> None:
    names = Counter(group.text("InstanceGroupName") for group in groups)
    repeated = [name for name, times in names.items() if times > 1]
    if repeated:
        raise validation(f"Instance group names must be unique within a cluster: {', '.join(repeated)}.")
    for group in groups:
        _check_group(group, is_continuous)
        _check_network(ctx, group.structure("OverrideVpcConfig") if "OverrideVpcConfig" in group else network)
        check_role(ctx, group.text("ExecutionRole"))
        _check_plan(ctx, group)


def check_quota(ctx: Context, wanted: dict[str, tuple[Group, int]]) -> None:
    """`wanted`: group name -> (the group as it shall be, by how many its target grows)."""
    growth: Counter[InstanceTypeName] = Counter()
    for group, more in wanted.values():
        if more <= 0 or capacity.plan_of(ctx.sim.world, group) is not None:
            continue
        types = capacity.group_types(group)
        if len(types) == 1:
            growth[types[0]] += more
        else:
            _check_flexible_quota(ctx, group, more)
    used = capacity.quota_use(ctx.sim.world)
    for instance_type, more in growth.items():
        limit = ctx.sim.world.quotas.get(instance_type, 0)
        if used[instance_type] + more > limit:
            raise _limit_exceeded(instance_type, limit, used[instance_type], more)


def check_role(ctx: Context, role_arn: str) -> None:
    name = role_arn.rpartition("/")[2]
    usable_from = ctx.sim.world.roles_usable_from.get(name)
    if not ctx.account.has_role(role_arn) or (usable_from is not None and ctx.sim.now < usable_from):
        raise validation(
            f"Unable to assume the execution role {role_arn}. Ensure that the role exists and that its trust"
            " relationship policy allows sts:AssumeRole for sagemaker.amazonaws.com."
        )


def require_continuous(cluster: Cluster, operation: str) -> None:
    if not cluster.is_continuous:
        raise validation(f"{operation} is supported only on clusters whose NodeProvisioningMode is Continuous.")


def _check_group(group: Params, is_continuous: bool) -> None:
    name = group.text("InstanceGroupName")
    if ("InstanceType" in group) == ("InstanceRequirements" in group):
        raise validation(f"Instance group {name}: specify exactly one of InstanceType and InstanceRequirements.")
    if "InstanceRequirements" in group and not is_continuous:
        raise validation(f"Instance group {name}: InstanceRequirements needs NodeProvisioningMode Continuous.")
    if group.integer("MinInstanceCount") > group.integer("InstanceCount"):
        raise validation(f"Instance group {name}: MinInstanceCount must not be greater than InstanceCount.")
    if "MinInstanceCount" in group and not is_continuous:
        raise validation(f"Instance group {name}: MinInstanceCount needs NodeProvisioningMode Continuous.")
    if "Spot" in group.structure("CapacityRequirements") and group.text("TrainingPlanArn"):
        raise validation(f"Instance group {name}: Spot capacity cannot be combined with a training plan.")
    if len(group.structure("CapacityRequirements")) > 1:
        raise validation(f"Instance group {name}: specify at most one of Spot and OnDemand.")
    for storage in group.structures("InstanceStorageConfigs"):
        _check_storage(name, storage.structure("EbsVolumeConfig"))


def _check_storage(group: str, volume: Params) -> None:
    if volume.flag("RootVolume"):
        if "VolumeSizeInGB" in volume or not volume.text("VolumeKmsKeyId"):
            raise validation(f"Instance group {group}: a root volume takes VolumeKmsKeyId and no VolumeSizeInGB.")
    elif len(volume) > 0 and "VolumeSizeInGB" not in volume:
        raise validation(f"Instance group {group}: VolumeSizeInGB must be specified for an additional volume.")


def _check_network(ctx: Context, network: Params) -> None:
    for subnet_id in network.texts("Subnets"):
        if ctx.account.subnet(subnet_id) is None:
            raise validation(f"The subnet ID '{subnet_id}' does not exist.")
    for group_id in network.texts("SecurityGroupIds"):
        if not ctx.account.has_security_group(group_id):
            raise validation(f"The security group '{group_id}' does not exist.")


def _check_plan(ctx: Context, group: Params) -> None:
    arn = group.text("TrainingPlanArn")
    if not arn:
        return
    plan = ctx.sim.world.plans.get(arn.rpartition("/")[2])
    if plan is None:
        raise validation(f"Training plan {arn} does not exist.")
    types = group.structure("InstanceRequirements").texts("InstanceTypes") or [group.text("InstanceType")]
    if plan.instance_type not in types:
        raise validation(f"Training plan {plan.name} reserves {plan.instance_type}, not {', '.join(types)}.")


def _check_eks(ctx: Context, arn: str) -> None:
    eks = ctx.sim.world.eks.get(arn.rpartition("/")[2])
    if eks is None or eks.arn != arn:
        raise validation(f"EKS cluster {arn} does not exist.")
    if eks.status != "ACTIVE":
        raise validation(f"EKS cluster {arn} must be ACTIVE, but is {eks.status}.")
    mode = eks.spec.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    if mode == "CONFIG_MAP":
        raise validation(
            f"EKS cluster {arn}: the authentication mode must be API or API_AND_CONFIG_MAP, but is {mode}."
        )


def _check_flexible_quota(ctx: Context, group: Group, more: int) -> None:
    used = capacity.quota_use(ctx.sim.world)
    types = capacity.group_types(group)
    left = sum(max(ctx.sim.world.quotas.get(name, 0) - used[name], 0) for name in types)
    if left < more:
        limit = sum(ctx.sim.world.quotas.get(name, 0) for name in types)
        raise _limit_exceeded(", ".join(types), limit, limit - left, more)


def _limit_exceeded(instance_type: str, limit: int, used: int, more: int) -> AwsError:
    return AwsError(
        "ResourceLimitExceeded",
        f"The account-level service limit '{instance_type} for cluster usage' is {limit} Instances, with current"
        f" utilization of {used} Instances and a request delta of {more} Instances. Please use AWS Service Quotas to"
        " request an increase for this quota. If AWS Service Quotas is not available, contact AWS support to request"
        " an increase for this quota.",
    )
