"""EKS control planes."""

from __future__ import annotations

import base64

from twin.aws.context import Context, Handler
from twin.aws.eks.addons import SUPPORTED_VERSIONS
from twin.aws.eks.common import find, pages
from twin.aws.eks.updates import begin_update
from twin.aws.errors import AwsError, NotInTwin
from twin.aws.params import Params, Reply
from twin.world import durations
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import EksCluster, Spec

MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
DEFAULT_VERSION = "1.34"
# The endpoint is plain HTTP on loopback: there is no authority, and a client must not be led to expect one.
_CERTIFICATE = base64.b64encode(b"").decode()


def timer_actions() -> dict[str, TimerAction]:
    return {"eks.active": _active, "eks.gone": _gone}


def make_cluster(sim: Simulation, arn: str, name: str, spec: Spec, status: str) -> EksCluster:
    """Also for worlds that begin with one."""
    cluster = EksCluster(name=name, arn=arn, status=status, created_at=sim.now, spec=spec)
    sim.world.eks[name] = cluster
    sim.orchestration.create_control_plane(name)
    return cluster


def create_cluster(ctx: Context, params: Params) -> Reply:
    name, token = params.text("name"), params.text("clientRequestToken")
    known = ctx.sim.world.eks.get(name)
    if known is not None:
        if token and known.token == token:
            ctx.outcome.took_effect = False
            return {"cluster": _describe(ctx, known)}
        raise AwsError("ResourceInUseException", f"Cluster already exists with name: {name}", status=409)
    _check(ctx, params)
    spec = {key: value for key, value in params.items() if key not in {"name", "clientRequestToken"}}
    cluster = make_cluster(ctx.sim, ctx.arn("eks", f"cluster/{name}"), name, spec, "CREATING")
    cluster.token = token
    ctx.sim.after(ctx.sim.between(durations.EKS_CREATE), "eks.active", name=name, arn=cluster.arn)
    return {"cluster": _describe(ctx, cluster)}


def describe_cluster(ctx: Context, params: Params) -> Reply:
    return {"cluster": _describe(ctx, find(ctx.seen, params.text("name")))}


def list_clusters(ctx: Context, params: Params) -> Reply:
    names, token = pages(sorted(ctx.seen.eks), params)
    return {"clusters": names, "nextToken": token}


def update_cluster_config(ctx: Context, params: Params) -> Reply:
    """Authentication can only be widened towards access entries, one way: never back to CONFIG_MAP."""
    cluster = find(ctx.sim.world, params.text("name"))
    if cluster.status != "ACTIVE":
        raise AwsError("ResourceInUseException", f"Cluster {cluster.name} is {cluster.status}.", status=409)
    changes = set(params) - {"name", "clientRequestToken"}
    if changes != {"accessConfig"}:
        raise NotInTwin(f"eks:UpdateClusterConfig of {', '.join(sorted(changes))}")
    old = cluster.spec.get("accessConfig", {}).get("authenticationMode", MODES[0])
    new = params.structure("accessConfig").text("authenticationMode", old)
    if MODES.index(new) <= MODES.index(old):
        raise AwsError("InvalidRequestException", f"The authentication mode cannot be changed from {old} to {new}.")
    cluster.spec["accessConfig"] = cluster.spec.get("accessConfig", {}) | {"authenticationMode": new}
    cluster.status = "UPDATING"
    return {"update": begin_update(ctx, cluster, "AccessConfigUpdate", "")}


def describe_update(ctx: Context, params: Params) -> Reply:
    found = find(ctx.seen, params.text("name")).updates.get(params.text("updateId"))
    if found is None:
        raise AwsError("ResourceNotFoundException", f"No update found for ID: {params.text('updateId')}", status=404)
    return {"update": found}


def delete_cluster(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.sim.world, params.text("name"))
    users = [each.name for each in ctx.sim.world.clusters.values() if each.eks_name == cluster.name]
    if users or cluster.status == "DELETING":
        reason = f"HyperPod cluster {users[0]} is attached to it" if users else "it is being deleted"
        raise AwsError("ResourceInUseException", f"Cluster {cluster.name} cannot be deleted: {reason}.", status=409)
    cluster.status = "DELETING"
    ctx.sim.after(ctx.sim.between(durations.EKS_DELETE), "eks.gone", name=cluster.name)
    return {"cluster": _describe(ctx, cluster)}


OPERATIONS: dict[str, Handler] = {
    "CreateCluster": create_cluster,
    "DescribeCluster": describe_cluster,
    "ListClusters": list_clusters,
    "UpdateClusterConfig": update_cluster_config,
    "DescribeUpdate": describe_update,
    "DeleteCluster": delete_cluster,
}


def _check(ctx: Context, params: Params) -> None:
    network = params.structure("resourcesVpcConfig")
    subnets = [ctx.account.subnet(subnet_id) for subnet_id in network.texts("subnetIds")]
    for subnet_id, subnet in zip(network.texts("subnetIds"), subnets, strict=True):
        if subnet is None:
            raise AwsError("InvalidParameterException", f"The subnet ID '{subnet_id}' does not exist")
    if len({subnet.zone for subnet in subnets if subnet is not None}) < 2:
        raise AwsError("InvalidParameterException", "Subnets specified must be in at least two different AZs")
    if not ctx.account.has_role(params.text("roleArn")):
        raise AwsError("InvalidParameterException", f"Role with arn: {params.text('roleArn')}, could not be assumed.")
    if params.text("version", DEFAULT_VERSION) not in SUPPORTED_VERSIONS:
        raise AwsError("InvalidParameterException", f"unsupported Kubernetes version {params.text('version')}")


def _describe(ctx: Context, cluster: EksCluster) -> Reply:
    spec, is_up = cluster.spec, cluster.status in {"ACTIVE", "UPDATING"}
    network = {key: value for key, value in spec["resourcesVpcConfig"].items() if key != "vpcId"}
    subnets = [ctx.account.subnet(subnet_id) for subnet_id in network.get("subnetIds", [])]
    mode = spec.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    return {
        "name": cluster.name,
        "arn": cluster.arn,
        "createdAt": cluster.created_at,
        "version": spec.get("version", DEFAULT_VERSION),
        "endpoint": f"{ctx.endpoint}/k8s/{cluster.name}" if is_up else None,
        "certificateAuthority": {"data": _CERTIFICATE} if is_up else None,
        "roleArn": spec["roleArn"],
        "resourcesVpcConfig": {**network, "vpcId": next((s.vpc_id for s in subnets if s is not None), "")},
        "accessConfig": {"authenticationMode": mode},
        "identity": {"oidc": {"issuer": f"{ctx.endpoint}/k8s/{cluster.name}/oidc"}} if is_up else None,
        "status": cluster.status,
        "health": {"issues": []},
        "tags": spec.get("tags"),
        "platformVersion": "eks.1",
    }


def _active(sim: Simulation, args: dict[str, str]) -> None:
    cluster = sim.world.eks.get(args["name"])
    if cluster is not None and cluster.status == "CREATING":
        cluster.status = "ACTIVE"


def _gone(sim: Simulation, args: dict[str, str]) -> None:
    if sim.world.eks.pop(args["name"], None) is not None:
        sim.orchestration.delete_control_plane(args["name"])
