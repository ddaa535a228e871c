"""Steps from the EKS control plane to the HyperPod cluster's own creation."""

from __future__ import annotations

from typing import Final

from core.messages.message import message
from core.reasons import FailureClass
from tools.access_entries import CREATE_ACCESS_ENTRY, MAKE_ADMINISTRATOR, AccessArgs
from tools.arguments import ByName
from tools.clusters import CREATE_CLUSTER, CreateClusterArgs
from tools.eks import (
    ACTIVE,
    ADDONS,
    CONTROL_PLANE,
    CREATE_CONTROL_PLANE,
    FAILED_STATES,
    INSTALL_ADDON,
    Addon,
    AddonArgs,
    AddonsArgs,
    ControlPlaneArgs,
)
from tools.groups import GroupArgs
from tools.lifecycle import (
    CREATE_BUCKET,
    ON_CREATE,
    PUT_SCRIPT,
    SCRIPT,
    BucketArgs,
    ScriptArgs,
    script_prefix,
)
from tools.reading import child, text
from workflows.catalogue.create_cluster.params import CreateClusterParams, Target
from workflows.catalogue.failures import fail
from workflows.catalogue.pace import ADDON_BUDGET, CONTROL_PLANE_BUDGET, next_look
from workflows.definition import Next, Outcome, StepContext, Wait

BASE_ADDONS: Final = ("eks-pod-identity-agent", "cert-manager")
TRAINING_OPERATOR: Final = "amazon-sagemaker-hyperpod-training-operator"
"""Runs HyperPodPyTorchJobs; needs cert-manager first."""
DEPENDENCIES: Final = (*BASE_ADDONS, TRAINING_OPERATOR)
_ACCEPTED_MODES: Final = frozenset({"API", "API_AND_CONFIG_MAP"})


def make_control_plane(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    network = child(ctx.run.data, "network")
    made = ctx.perform(
        CREATE_CONTROL_PLANE,
        ControlPlaneArgs(
            cluster=params.name,
            part="control-plane",
            eks_name=params.eks_name,
            role_arn=text(ctx.run.data, "roles", "control_plane"),
            subnet_ids=tuple(str(subnet) for subnet in child(network, "subnets").values()),
            security_group_ids=(text(network, "security_group_id"),),
            version=params.kubernetes_version,
        ),
    )
    return Next(data={"eks_arn": made.get("arn"), "eks_name": params.eks_name})


def wait_for_control_plane(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    """Active, and with an authentication mode that HyperPod accepts."""
    found = ctx.read(CONTROL_PLANE, ByName(name=params.eks_name))
    status = found.status if found is not None else "absent"
    if found is not None and status == ACTIVE:
        if found.authentication_mode not in _ACCEPTED_MODES:
            why = message("create_cluster.wrong_auth_mode", eks=params.eks_name, mode=found.authentication_mode)
            return fail(FailureClass.CONFIG, why)
        return Next()
    if status in FAILED_STATES or ctx.now - ctx.step_started_at > CONTROL_PLANE_BUDGET:
        issues = "; ".join(found.issues) if found is not None else ""
        evidence = ctx.keep_evidence("eks_cluster", f"{params.eks_name} {status}: {issues}")
        why = message("create_cluster.control_plane_failed", eks=params.eks_name, status=status, issues=issues or "-")
        return fail(FailureClass.UNKNOWN, why, evidence)
    ctx.report(message("create_cluster.control_plane_progress", eks=params.eks_name, status=status))
    return Wait(
        delay=next_look(ctx.step_started_at, ctx.now),
        why=message("create_cluster.waiting_for_control_plane", eks=params.eks_name),
    )


def grant_access(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    """Muster made the control plane and administers it; others only where they were named."""
    if params.admin_role_arn:
        args = AccessArgs(
            cluster=params.name, part="access", eks_name=params.eks_name, principal_arn=params.admin_role_arn
        )
        ctx.perform(CREATE_ACCESS_ENTRY, args)
        ctx.perform(MAKE_ADMINISTRATOR, args)
    return Next()


def install_base(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    for addon in BASE_ADDONS:
        ctx.perform(INSTALL_ADDON, AddonArgs(cluster=params.name, part=addon, eks_name=params.eks_name, addon=addon))
    return Next()


def wait_for_base(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    return wait_for_addons(ctx, params, BASE_ADDONS)


def install_training_operator(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    addon = TRAINING_OPERATOR
    ctx.perform(INSTALL_ADDON, AddonArgs(cluster=params.name, part=addon, eks_name=params.eks_name, addon=addon))
    return Next()


def wait_for_addons(ctx: StepContext, params: CreateClusterParams, names: tuple[str, ...]) -> Outcome:
    """Each add-on is there and did not fail.

    Before there are nodes an add-on whose pods need one stays `DEGRADED`: that is enough here, `verify` wants
    all of them active.
    """
    found = {addon.name: addon for addon in ctx.read(ADDONS, AddonsArgs(eks_name=params.eks_name, names=names))}
    broken = [addon for addon in found.values() if addon.status in FAILED_STATES]
    pending = [name for name in names if name not in found or found[name].status not in {ACTIVE, "DEGRADED"}]
    if broken or (pending and ctx.now - ctx.step_started_at > ADDON_BUDGET):
        return addon_failure(ctx, broken or [found[name] for name in pending if name in found])
    if not pending:
        return Next()
    ctx.report(
        message("create_cluster.addons_progress", done=len(names) - len(pending), total=len(names)),
        done=len(names) - len(pending),
        total=len(names),
    )
    return Wait(
        delay=next_look(ctx.step_started_at, ctx.now),
        why=message("create_cluster.waiting_for_addons", addons=", ".join(pending)),
    )


def addon_failure(ctx: StepContext, addons: list[Addon]) -> Outcome:
    told = "; ".join(f"{addon.name} {addon.status}: {', '.join(addon.issues) or '-'}" for addon in addons)
    evidence = ctx.keep_evidence("eks_addons", told)
    return fail(FailureClass.CONFIG, message("create_cluster.addons_failed", told=told or "-"), evidence)


def put_scripts(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    bucket, prefix = text(ctx.run.data, "bucket"), script_prefix(params.name)
    if ctx.run.data.get("has_bucket") is not True:
        ctx.perform(CREATE_BUCKET, BucketArgs(cluster=params.name, part="scripts", bucket=bucket))
    key = f"{prefix}/{ON_CREATE}"
    ctx.perform(PUT_SCRIPT, ScriptArgs(cluster=params.name, part="scripts", bucket=bucket, key=key, content=SCRIPT))
    return Next(data={"lifecycle_uri": f"s3://{bucket}/{prefix}"})


def make_cluster(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    network = child(ctx.run.data, "network")
    target = Target.first(params)
    subnet = text(network, "subnets", params.zone_id)
    made = ctx.perform(
        CREATE_CLUSTER,
        CreateClusterArgs(
            cluster=params.name,
            part="cluster",
            eks_arn=text(ctx.run.data, "eks_arn"),
            subnet_ids=(subnet,),
            security_group_ids=(text(network, "security_group_id"),),
            node_recovery=params.node_recovery,
            groups=(group_of(ctx, target),),
        ),
    )
    return Next(
        data={
            "cluster_arn": made.get("arn"),
            "target": target.to_json(),
        }
    )


def group_of(ctx: StepContext, target: Target, subnet_id: str = "", security_group_id: str = "") -> GroupArgs:
    """The instance group of a target; with a subnet of its own where one is given."""
    return GroupArgs(
        name=target.group,
        instance_types=(target.instance_type,),
        count=target.count,
        execution_role=text(ctx.run.data, "roles", "nodes"),
        lifecycle_uri=text(ctx.run.data, "lifecycle_uri"),
        on_create=ON_CREATE,
        capacity=target.mode,
        training_plan_arn=target.plan_arn,
        subnet_ids=(subnet_id,) if subnet_id else (),
        security_group_ids=(security_group_id,) if security_group_id else (),
    )
