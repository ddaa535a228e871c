"""EKS control planes, access entries, add-ons and pod identity associations."""

from __future__ import annotations

import base64
import json
from typing import TypeVar

from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, NotInTwin
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.world import durations
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import EksCluster, Spec, World

T = TypeVar("T")
MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")
DEFAULT_VERSION = "1.34"
SUPPORTED_VERSIONS = ("1.31", "1.32", "1.33", "1.34")
ADDON_VERSIONS: dict[str, str] = {
    "vpc-cni": "v1.20.4-eksbuild.1",
    "coredns": "v1.12.4-eksbuild.1",
    "kube-proxy": "v1.34.0-eksbuild.2",
    "eks-pod-identity-agent": "v1.3.9-eksbuild.3",
    "cert-manager": "v1.19.1-eksbuild.1",
    "aws-fsx-csi-driver": "v1.8.0-eksbuild.1",
    "amazon-sagemaker-hyperpod-taskgovernance": "v1.3.0-eksbuild.1",
    "amazon-sagemaker-hyperpod-training-operator": "v1.2.0-eksbuild.1",
    "amazon-sagemaker-hyperpod-observability": "v1.1.0-eksbuild.1",
    "amazon-sagemaker-hyperpod-inference": "v1.2.0-eksbuild.1",
}
"""Names are AWS's; the version texts have its form only."""
REQUIRES = {"amazon-sagemaker-hyperpod-training-operator": "cert-manager"}


def timer_actions() -> dict[str, TimerAction]:
    return {
        "eks.active": _active,
        "eks.gone": _gone,
        "eks.updated": _updated,
        "eks.addon": _addon_settled,
        "eks.addon_gone": _addon_gone,
    }


def make_cluster(sim: Simulation, arn: str, name: str, spec: Spec, status: str) -> EksCluster:
    """Also for worlds that begin with one."""
    cluster = EksCluster(name=name, arn=arn, status=status, created_at=sim.now, spec=spec)
    sim.world.eks[name] = cluster
    sim.orchestration.create_control_plane(name)
    return cluster


def make_addon(ctx: Context, cluster: EksCluster, name: str, status: str) -> Spec:
    now = ctx.sim.now.timestamp()
    return {
        "addonName": name,
        "clusterName": cluster.name,
        "status": status,
        "addonVersion": ADDON_VERSIONS[name],
        "health": {"issues": []},
        "addonArn": ctx.arn("eks", f"addon/{cluster.name}/{name}/{ctx.sim.uuid()}"),
        "createdAt": now,
        "modifiedAt": now,
        "token": "",
    }


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
    return {"cluster": _describe(ctx, _find(ctx.seen, params.text("name")))}


def list_clusters(ctx: Context, params: Params) -> Reply:
    names, token = _page(sorted(ctx.seen.eks), params)
    return {"clusters": names, "nextToken": token}


def delete_cluster(ctx: Context, params: Params) -> Reply:
    cluster = _find(ctx.sim.world, params.text("name"))
    users = [each.name for each in ctx.sim.world.clusters.values() if each.eks_name == cluster.name]
    if users or cluster.status == "DELETING":
        reason = f"HyperPod cluster {users[0]} is attached to it" if users else "it is being deleted"
        raise AwsError("ResourceInUseException", f"Cluster {cluster.name} cannot be deleted: {reason}.", status=409)
    cluster.status = "DELETING"
    ctx.sim.after(ctx.sim.between(durations.EKS_DELETE), "eks.gone", name=cluster.name)
    return {"cluster": _describe(ctx, cluster)}


def update_cluster_config(ctx: Context, params: Params) -> Reply:
    """Authentication can only be widened towards access entries, one way: never back to CONFIG_MAP."""
    cluster = _find(ctx.sim.world, params.text("name"))
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
    return {"update": _begin_update(ctx, cluster, "AccessConfigUpdate", "")}


def describe_update(ctx: Context, params: Params) -> Reply:
    found = _find(ctx.seen, params.text("name")).updates.get(params.text("updateId"))
    if found is None:
        raise AwsError("ResourceNotFoundException", f"No update found for ID: {params.text('updateId')}", status=404)
    return {"update": found}


def create_access_entry(ctx: Context, params: Params) -> Reply:
    cluster, arn = _find(ctx.sim.world, params.text("clusterName")), params.text("principalArn")
    mode = cluster.spec.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    if mode == "CONFIG_MAP":
        raise AwsError("InvalidRequestException", f"Cluster {cluster.name} does not support access entries ({mode}).")
    if arn in cluster.access_entries:
        raise AwsError(
            "ResourceInUseException",
            "The specified access entry resource is already in use on this cluster.",
            status=409,
        )
    now = ctx.sim.now
    entry: Spec = {
        "clusterName": cluster.name,
        "principalArn": arn,
        "kubernetesGroups": params.texts("kubernetesGroups"),
        "accessEntryArn": ctx.arn("eks", f"access-entry/{cluster.name}/role/{arn.rpartition('/')[2]}/{ctx.sim.hex(8)}"),
        "createdAt": now.timestamp(),
        "modifiedAt": now.timestamp(),
        "tags": params.structure("tags").to_json() or None,
        "username": params.text("username", arn),
        "type": params.text("type", "STANDARD"),
        "policies": [],
    }
    cluster.access_entries[arn] = entry
    return {"accessEntry": _entry(entry)}


def describe_access_entry(ctx: Context, params: Params) -> Reply:
    return {"accessEntry": _entry(_access_entry(ctx.seen, params))}


def list_access_entries(ctx: Context, params: Params) -> Reply:
    cluster = _find(ctx.seen, params.text("clusterName"))
    arns, token = _page(sorted(cluster.access_entries), params)
    return {"accessEntries": arns, "nextToken": token}


def delete_access_entry(ctx: Context, params: Params) -> Reply:
    entry = _access_entry(ctx.sim.world, params)
    del _find(ctx.sim.world, params.text("clusterName")).access_entries[entry["principalArn"]]
    return {}


def associate_access_policy(ctx: Context, params: Params) -> Reply:
    """Put-like: the same policy again only changes its scope."""
    entry, now = _access_entry(ctx.sim.world, params), ctx.sim.now.timestamp()
    policy: Spec = {
        "policyArn": params.text("policyArn"),
        "accessScope": params.structure("accessScope").to_json(),
        "associatedAt": now,
        "modifiedAt": now,
    }
    entry["policies"] = [p for p in entry["policies"] if p["policyArn"] != policy["policyArn"]] + [policy]
    return {
        "clusterName": entry["clusterName"],
        "principalArn": entry["principalArn"],
        "associatedAccessPolicy": policy,
    }


def list_associated_access_policies(ctx: Context, params: Params) -> Reply:
    entry = _access_entry(ctx.seen, params)
    policies, token = _page(list(entry["policies"]), params)
    return {
        "clusterName": entry["clusterName"],
        "principalArn": entry["principalArn"],
        "associatedAccessPolicies": policies,
        "nextToken": token,
    }


def create_addon(ctx: Context, params: Params) -> Reply:
    cluster, name = _find(ctx.sim.world, params.text("clusterName")), params.text("addonName")
    token = params.text("clientRequestToken")
    known = cluster.addons.get(name)
    if known is not None:
        if token and known["token"] == token:
            ctx.outcome.took_effect = False
            return {"addon": _addon(known)}
        raise AwsError("ResourceInUseException", f"Addon already exists: {name}", status=409)
    if cluster.status != "ACTIVE":
        raise AwsError("InvalidRequestException", f"Cluster {cluster.name} is {cluster.status}, not ACTIVE.")
    version = ADDON_VERSIONS.get(name)
    if version is None or params.text("addonVersion", version) != version:
        raise AwsError("InvalidParameterException", f"Addon version specified is not supported: {name}.")
    _check_configuration(params.text("configurationValues"))
    addon = make_addon(ctx, cluster, name, "CREATING") | {
        "configurationValues": params.text("configurationValues") or None,
        "tags": params.structure("tags").to_json() or None,
        "token": token,
    }
    cluster.addons[name] = addon
    _settle_later(ctx, cluster, name)
    return {"addon": _addon(addon)}


def describe_addon(ctx: Context, params: Params) -> Reply:
    return {"addon": _addon(_find_addon(ctx.seen, params))}


def list_addons(ctx: Context, params: Params) -> Reply:
    names, token = _page(sorted(_find(ctx.seen, params.text("clusterName")).addons), params)
    return {"addons": names, "nextToken": token}


def update_addon(ctx: Context, params: Params) -> Reply:
    addon, cluster = _find_addon(ctx.sim.world, params), _find(ctx.sim.world, params.text("clusterName"))
    if addon["status"] in {"CREATING", "UPDATING", "DELETING"}:
        raise AwsError("ResourceInUseException", f"Addon {addon['addonName']} is {addon['status']}.", status=409)
    _check_configuration(params.text("configurationValues"))
    addon["status"], addon["modifiedAt"] = "UPDATING", ctx.sim.now.timestamp()
    if "configurationValues" in params:
        addon["configurationValues"] = params.text("configurationValues")
    return {"update": _begin_update(ctx, cluster, "AddonUpdate", addon["addonName"])}


def delete_addon(ctx: Context, params: Params) -> Reply:
    addon = _find_addon(ctx.sim.world, params)
    addon["status"] = "DELETING"
    delay = ctx.sim.between(durations.ADDON_CHANGE)
    ctx.sim.after(delay, "eks.addon_gone", cluster=params.text("clusterName"), addon=addon["addonName"])
    return {"addon": _addon(addon)}


def describe_addon_versions(ctx: Context, params: Params) -> Reply:
    wanted = params.text("addonName")
    if wanted and wanted not in ADDON_VERSIONS:
        raise AwsError("ResourceNotFoundException", f"Addon {wanted} not found.", status=404)
    compatible = [
        {"clusterVersion": version, "platformVersions": ["*"], "defaultVersion": True}
        for version in SUPPORTED_VERSIONS
        if params.text("kubernetesVersion", version) == version
    ]
    addons = [
        {
            "addonName": name,
            "type": "",
            "addonVersions": [{"addonVersion": version, "compatibilities": compatible}],
        }
        for name, version in ADDON_VERSIONS.items()
        if compatible and wanted in {"", name}
    ]
    chosen, token = _page(addons, params)
    return {"addons": chosen, "nextToken": token}


def create_pod_identity_association(ctx: Context, params: Params) -> Reply:
    cluster = _find(ctx.sim.world, params.text("clusterName"))
    namespace, account = params.text("namespace"), params.text("serviceAccount")
    token = params.text("clientRequestToken")
    for known in cluster.pod_identities.values():
        if (known["namespace"], known["serviceAccount"]) == (namespace, account):
            if token and known["token"] == token:
                ctx.outcome.took_effect = False
                return {"association": _association(known)}
            raise AwsError(
                "ResourceInUseException", f"Association already exists: {known['associationId']}", status=409
            )
    association_id = f"a-{ctx.sim.short_id(17)}"
    association: Spec = {
        "clusterName": cluster.name,
        "namespace": namespace,
        "serviceAccount": account,
        "roleArn": params.text("roleArn"),
        "associationArn": ctx.arn("eks", f"podidentityassociation/{cluster.name}/{association_id}"),
        "associationId": association_id,
        "createdAt": ctx.sim.now.timestamp(),
        "modifiedAt": ctx.sim.now.timestamp(),
        "token": token,
    }
    cluster.pod_identities[association_id] = association
    return {"association": _association(association)}


def describe_pod_identity_association(ctx: Context, params: Params) -> Reply:
    found = _find(ctx.seen, params.text("clusterName")).pod_identities.get(params.text("associationId"))
    if found is None:
        raise AwsError(
            "ResourceNotFoundException", f"Association {params.text('associationId')} not found.", status=404
        )
    return {"association": _association(found)}


def list_pod_identity_associations(ctx: Context, params: Params) -> Reply:
    cluster = _find(ctx.seen, params.text("clusterName"))
    members = ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId")
    found = [
        {key: item[key] for key in members}
        for item in cluster.pod_identities.values()
        if params.text("namespace", item["namespace"]) == item["namespace"]
        and params.text("serviceAccount", item["serviceAccount"]) == item["serviceAccount"]
    ]
    chosen, token = _page(found, params)
    return {"associations": chosen, "nextToken": token}


OPERATIONS: dict[str, Handler] = {
    "CreateCluster": create_cluster,
    "DescribeCluster": describe_cluster,
    "ListClusters": list_clusters,
    "DeleteCluster": delete_cluster,
    "UpdateClusterConfig": update_cluster_config,
    "DescribeUpdate": describe_update,
    "CreateAccessEntry": create_access_entry,
    "DescribeAccessEntry": describe_access_entry,
    "ListAccessEntries": list_access_entries,
    "DeleteAccessEntry": delete_access_entry,
    "AssociateAccessPolicy": associate_access_policy,
    "ListAssociatedAccessPolicies": list_associated_access_policies,
    "CreateAddon": create_addon,
    "DescribeAddon": describe_addon,
    "ListAddons": list_addons,
    "UpdateAddon": update_addon,
    "DeleteAddon": delete_addon,
    "DescribeAddonVersions": describe_addon_versions,
    "CreatePodIdentityAssociation": create_pod_identity_association,
    "DescribePodIdentityAssociation": describe_pod_identity_association,
    "ListPodIdentityAssociations": list_pod_identity_associations,
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


def _check_configuration(values: str) -> None:
    try:
        is_object = not values or isinstance(json.loads(values), dict)
    except ValueError:
        is_object = False
    if not is_object:
        raise AwsError("InvalidParameterException", "ConfigurationValue is not in valid JSON format.")


def _find(world: World, name: str) -> EksCluster:
    if name not in world.eks:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", status=404)
    return world.eks[name]


def _find_addon(world: World, params: Params) -> Spec:
    cluster, name = _find(world, params.text("clusterName")), params.text("addonName")
    if name not in cluster.addons:
        raise AwsError("ResourceNotFoundException", f"No addon: {name} found in cluster: {cluster.name}", status=404)
    return cluster.addons[name]


def _access_entry(world: World, params: Params) -> Spec:
    cluster, arn = _find(world, params.text("clusterName")), params.text("principalArn")
    if arn not in cluster.access_entries:
        raise AwsError("ResourceNotFoundException", f"The specified principalArn could not be found: {arn}", status=404)
    return cluster.access_entries[arn]


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


# The endpoint is plain HTTP on loopback: there is no authority, and a client must not be led to expect one.
_CERTIFICATE = base64.b64encode(b"").decode()


def _entry(entry: Spec) -> Reply:
    return {key: value for key, value in entry.items() if key != "policies"}


def _addon(addon: Spec) -> Reply:
    return {key: value for key, value in addon.items() if key != "token"}


def _association(association: Spec) -> Reply:
    return {key: value for key, value in association.items() if key != "token"}


def _settle_later(ctx: Context, cluster: EksCluster, addon: str) -> None:
    delay = ctx.sim.between(durations.ADDON_CHANGE)
    ctx.sim.after(delay, "eks.addon", cluster=cluster.name, addon=addon)


def _begin_update(ctx: Context, cluster: EksCluster, kind: str, addon: str) -> Spec:
    update: Spec = {
        "id": ctx.sim.uuid(),
        "status": "InProgress",
        "type": kind,
        "params": [],
        "createdAt": ctx.sim.now.timestamp(),
        "errors": [],
    }
    cluster.updates[update["id"]] = update
    delay = ctx.sim.between(durations.ADDON_CHANGE)
    ctx.sim.after(delay, "eks.updated", cluster=cluster.name, update=update["id"], addon=addon)
    return update


def _updated(sim: Simulation, args: dict[str, str]) -> None:
    cluster = sim.world.eks.get(args["cluster"])
    if cluster is None:
        return
    cluster.updates[args["update"]]["status"] = "Successful"
    if args["addon"]:
        _addon_settled(sim, args)
    elif cluster.status == "UPDATING":
        cluster.status = "ACTIVE"


def _active(sim: Simulation, args: dict[str, str]) -> None:
    cluster = sim.world.eks.get(args["name"])
    if cluster is not None and cluster.status == "CREATING":
        cluster.status = "ACTIVE"


def _gone(sim: Simulation, args: dict[str, str]) -> None:
    if sim.world.eks.pop(args["name"], None) is not None:
        sim.orchestration.delete_control_plane(args["name"])


def _addon_settled(sim: Simulation, args: dict[str, str]) -> None:
    cluster = sim.world.eks.get(args["cluster"])
    addon = cluster.addons.get(args["addon"]) if cluster is not None else None
    if cluster is None or addon is None or addon["status"] not in {"CREATING", "UPDATING"}:
        return
    needed = REQUIRES.get(args["addon"])
    if needed is not None and cluster.addons.get(needed, {}).get("status") != "ACTIVE":
        message = f"{needed} must be installed first."
        addon["status"] = "CREATE_FAILED"
        addon["health"] = {"issues": [{"code": "K8sResourceNotFound", "message": message, "resourceIds": []}]}
    else:
        addon["status"] = "ACTIVE"


def _addon_gone(sim: Simulation, args: dict[str, str]) -> None:
    cluster = sim.world.eks.get(args["cluster"])
    if cluster is not None:
        cluster.addons.pop(args["addon"], None)


def _page(items: list[T], params: Params) -> tuple[list[T], str | None]:
    return page(items, params, limit_key="maxResults", token_key="nextToken")
