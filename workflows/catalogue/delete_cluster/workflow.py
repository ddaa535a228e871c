"""delete_cluster: nodes first, then what they stood on, then nothing of ours is left.

The order matters: HyperPod takes on the nodes' role to give back their network interfaces, so that a role or a
network that goes first leaves the cluster in Deleting for ever. What to remove is listed once and frozen in the
run: a retry works on the same ids. Only what carries the cluster's mark is touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from core.cluster.clusters import ClusterStatus
from core.ids import StepName
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tools.arguments import ByName
from tools.belongings import BELONGINGS, Belonging
from tools.clusters import DELETE_CLUSTER, DESCRIBE_CLUSTER, ClusterDetails, DeleteClusterArgs
from tools.contract import EffectTool
from tools.ec2_parts import (
    ADDRESS,
    ENDPOINT,
    INTERNET_GATEWAY,
    NAT_GATEWAY,
    ROUTE_TABLE,
    SECURITY_GROUP,
    SUBNET,
    VPC,
    PartId,
)
from tools.eks import CONTROL_PLANE, DELETE_CONTROL_PLANE, EksNameArgs
from tools.events import classify
from tools.jobs import LIST_JOBS, JobsArgs
from tools.lifecycle import DELETE_OBJECT, ObjectArgs
from tools.network import (
    DELETE_ENDPOINT,
    DELETE_INTERNET_GATEWAY,
    DELETE_NAT_GATEWAY,
    DELETE_ROUTE_TABLE,
    DELETE_SECURITY_GROUP,
    DELETE_SUBNET,
    DELETE_VPC,
    DETACH_INTERNET_GATEWAY,
    DISASSOCIATE_ROUTE_TABLE,
    NAT_STATE,
    RELEASE_ADDRESS,
    AssociationId,
    AttachGatewayArgs,
    NatGatewayId,
)
from tools.reading import children, text, texts
from tools.roles import DELETE_ROLE, DETACH_ROLE_POLICY, RoleNameArgs, RolePolicyArgs
from workflows.catalogue.delete_cluster.params import DeleteClusterParams
from workflows.catalogue.failures import fail
from workflows.catalogue.pace import DELETION_BUDGET, next_look
from workflows.definition import Done, Next, Outcome, Step, StepContext, StepKind, Wait, Workflow

_BEFORE_ADDRESS: Final[Mapping[str, EffectTool[PartId]]] = {
    ENDPOINT.resource_type: DELETE_ENDPOINT,
    NAT_GATEWAY.resource_type: DELETE_NAT_GATEWAY,
}
_AFTER_NAT: Final[Mapping[str, EffectTool[PartId]]] = {
    ADDRESS.resource_type: RELEASE_ADDRESS,
    SUBNET.resource_type: DELETE_SUBNET,
    ROUTE_TABLE.resource_type: DELETE_ROUTE_TABLE,
    INTERNET_GATEWAY.resource_type: DELETE_INTERNET_GATEWAY,
    SECURITY_GROUP.resource_type: DELETE_SECURITY_GROUP,
    VPC.resource_type: DELETE_VPC,
}


def survey(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    """Is it still the cluster that was approved, and is nothing lost that the approver did not see?"""
    details = _find(ctx, params)
    if details is None:
        return fail(FailureClass.CONFIG, message("delete_cluster.not_the_same", name=params.name))
    jobs = unfinished_jobs(ctx, details)
    unseen = sorted(set(jobs) - set(params.lost_jobs))
    if unseen:
        why = message("delete_cluster.new_jobs", name=params.name, jobs=", ".join(unseen))
        return fail(FailureClass.CONFIG, why)
    found = ctx.read(BELONGINGS, ByName(name=params.name))
    ctx.keep_evidence("deleted_cluster", _summary(details, found))
    return Next(data={"belongings": [item.to_json() for item in found]})


def unfinished_jobs(ctx: StepContext, details: ClusterDetails) -> list[str]:
    if not details.eks_name:
        return []
    jobs = ctx.read(LIST_JOBS, JobsArgs(eks_name=details.eks_name))
    return [f"{job.namespace}/{job.name}" for job in jobs if not job.state.is_finished]


def delete_cluster(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    ctx.perform(DELETE_CLUSTER, DeleteClusterArgs(name=params.name, arn=params.arn))
    return Next()


def wait_for_cluster(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    details = _find(ctx, params)
    if details is None:
        return Next()
    cluster = details.cluster
    overdue = ctx.now - ctx.step_started_at > DELETION_BUDGET
    if overdue or cluster.status is ClusterStatus.FAILED:
        evidence = ctx.keep_evidence("cluster", f"{cluster.status}: {cluster.failure_message}")
        why = message(
            "delete_cluster.stuck", name=params.name, status=cluster.status.value, reason=cluster.failure_message or "-"
        )
        return fail(classify(cluster.failure_message), why, evidence)
    left = sum(group.current_count for group in cluster.groups)
    ctx.report(message("delete_cluster.progress", name=params.name, status=cluster.status.value, nodes=left))
    return _later(ctx, "delete_cluster.waiting_for_cluster", params.name)


def delete_control_plane(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    for item in _of_kind(ctx, "eks"):
        args = EksNameArgs(cluster=params.name, part=text(item, "part"), eks_name=text(item, "id"))
        ctx.perform(DELETE_CONTROL_PLANE, args)
    return Next()


def wait_for_control_plane(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    for item in _of_kind(ctx, "eks"):
        found = ctx.read(CONTROL_PLANE, ByName(name=text(item, "id")))
        if found is None:
            continue
        if ctx.now - ctx.step_started_at > DELETION_BUDGET or found.status == "FAILED":
            why = message(
                "delete_cluster.stuck", name=found.name, status=found.status, reason="; ".join(found.issues) or "-"
            )
            return fail(FailureClass.UNKNOWN, why)
        return _later(ctx, "delete_cluster.waiting_for_control_plane", found.name)
    return Next()


def delete_roles(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    """After the cluster and its control plane, which needed them to the last."""
    for item in _of_kind(ctx, "role"):
        part, role = text(item, "part"), text(item, "id")
        for policy in texts(item, "details"):
            ctx.perform(
                DETACH_ROLE_POLICY,
                RolePolicyArgs(cluster=params.name, part=part, role_name=role, policy_arn=policy),
            )
        ctx.perform(DELETE_ROLE, RoleNameArgs(cluster=params.name, part=part, role_name=role))
    for item in _of_kind(ctx, "script"):
        bucket = next(iter(texts(item, "details")), "")
        ctx.perform(DELETE_OBJECT, ObjectArgs(cluster=params.name, part="scripts", bucket=bucket, key=text(item, "id")))
    return Next()


def delete_gateways(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    _delete_all(ctx, params, _BEFORE_ADDRESS)
    return Next()


def wait_for_gateways(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    """A NAT gateway holds its address and its subnet until it is deleted, which takes about a minute."""
    for item in _of_kind(ctx, NAT_GATEWAY.resource_type):
        state = ctx.read(NAT_STATE, NatGatewayId(id=text(item, "id")))
        if state in {"", "deleted"}:
            continue
        if ctx.now - ctx.step_started_at > DELETION_BUDGET:
            why = message("delete_cluster.stuck", name=text(item, "id"), status=state, reason="-")
            return fail(FailureClass.UNKNOWN, why)
        return _later(ctx, "delete_cluster.waiting_for_network", text(item, "id"))
    return Next()


def delete_network(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    for item in _of_kind(ctx, INTERNET_GATEWAY.resource_type):
        for vpc in texts(item, "details"):
            ctx.perform(
                DETACH_INTERNET_GATEWAY,
                AttachGatewayArgs(
                    cluster=params.name, part=text(item, "part"), vpc_id=vpc, internet_gateway_id=text(item, "id")
                ),
            )
    for item in _of_kind(ctx, ROUTE_TABLE.resource_type):
        for association in texts(item, "details"):
            ctx.perform(
                DISASSOCIATE_ROUTE_TABLE,
                AssociationId(
                    cluster=params.name,
                    part=text(item, "part"),
                    route_table_id=text(item, "id"),
                    association_id=association,
                ),
            )
    _delete_all(ctx, params, _AFTER_NAT)
    return Next()


def verify(ctx: StepContext, params: DeleteClusterParams) -> Outcome:
    left = ctx.read(BELONGINGS, ByName(name=params.name))
    if _find(ctx, params) is not None or left:
        named = ", ".join(f"{item.kind} {item.id}" for item in left) or params.name
        if ctx.now - ctx.step_started_at > DELETION_BUDGET:
            return fail(FailureClass.UNKNOWN, message("delete_cluster.left", name=params.name, left=named))
        return _later(ctx, "delete_cluster.waiting_for_network", named)
    ctx.report(message("delete_cluster.gone", name=params.name))
    return Done()


def _find(ctx: StepContext, params: DeleteClusterParams) -> ClusterDetails | None:
    """The approved cluster; another one of the same name counts as none."""
    found = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.name))
    return found if found is not None and found.cluster.arn == params.arn else None


def _delete_all(ctx: StepContext, params: DeleteClusterParams, tools: Mapping[str, EffectTool[PartId]]) -> None:
    for kind, tool in tools.items():
        for item in _of_kind(ctx, kind):
            ctx.perform(tool, PartId(cluster=params.name, part=text(item, "part"), id=text(item, "id")))


def _of_kind(ctx: StepContext, kind: str) -> list[JsonObject]:
    return [item for item in children(ctx.run.data, "belongings") if text(item, "kind") == kind]


def _later(ctx: StepContext, key: str, name: str) -> Wait:
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=message(key, name=name))


def _summary(details: ClusterDetails, found: tuple[Belonging, ...]) -> str:
    groups = (f"group {g.name}: {g.current_count} x {', '.join(g.instance_types)}" for g in details.cluster.groups)
    return "\n".join(
        [f"cluster {details.cluster.name} {details.cluster.arn}", *groups]
        + [f"{item.kind} {item.part} {item.id}" for item in found]
    )


WORKFLOW: Final[Workflow[DeleteClusterParams]] = Workflow(
    name="delete_cluster",
    version=1,
    params=DeleteClusterParams,
    title=message("delete_cluster.title"),
    steps=(
        Step(
            name=StepName("survey"),
            kind=StepKind.PREFLIGHT,
            title=message("delete_cluster.step_survey"),
            function=survey,
        ),
        Step(
            name=StepName("cluster"),
            kind=StepKind.EFFECT,
            title=message("delete_cluster.step_cluster"),
            function=delete_cluster,
            phase="nodes",
        ),
        Step(
            name=StepName("wait_cluster"),
            kind=StepKind.WAIT,
            title=message("delete_cluster.step_wait_cluster"),
            function=wait_for_cluster,
            phase="nodes",
        ),
        Step(
            name=StepName("control_plane"),
            kind=StepKind.EFFECT,
            title=message("delete_cluster.step_control_plane"),
            function=delete_control_plane,
            phase="control_plane",
        ),
        Step(
            name=StepName("wait_control_plane"),
            kind=StepKind.WAIT,
            title=message("delete_cluster.step_wait_control_plane"),
            function=wait_for_control_plane,
            phase="control_plane",
        ),
        Step(
            name=StepName("roles"),
            kind=StepKind.EFFECT,
            title=message("delete_cluster.step_roles"),
            function=delete_roles,
        ),
        Step(
            name=StepName("gateways"),
            kind=StepKind.EFFECT,
            title=message("delete_cluster.step_gateways"),
            function=delete_gateways,
            phase="network",
        ),
        Step(
            name=StepName("wait_gateways"),
            kind=StepKind.WAIT,
            title=message("delete_cluster.step_wait_gateways"),
            function=wait_for_gateways,
            phase="network",
        ),
        Step(
            name=StepName("network"),
            kind=StepKind.EFFECT,
            title=message("delete_cluster.step_network"),
            function=delete_network,
            phase="network",
        ),
        Step(
            name=StepName("verify"),
            kind=StepKind.VERIFY,
            title=message("delete_cluster.step_verify"),
            function=verify,
        ),
    ),
)
