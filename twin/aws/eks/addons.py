"""Add-ons: a status each, and the order in which they must come."""

from __future__ import annotations

import json

from twin.aws.context import Context, Handler
from twin.aws.eks.common import find, pages
from twin.aws.eks.updates import begin_update
from twin.aws.errors import AwsError
from twin.aws.params import Params, Reply
from twin.world import durations
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import EksCluster, Spec, World

SUPPORTED_VERSIONS = ("1.31", "1.32", "1.33", "1.34")
"""Of Kubernetes."""
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
    return {"eks.addon": _settled, "eks.addon_gone": _gone}


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


def create_addon(ctx: Context, params: Params) -> Reply:
    cluster, name = find(ctx.sim.world, params.text("clusterName")), params.text("addonName")
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
    return {"addon": _addon(find_addon(ctx.seen, params))}


def list_addons(ctx: Context, params: Params) -> Reply:
    names, token = pages(sorted(find(ctx.seen, params.text("clusterName")).addons), params)
    return {"addons": names, "nextToken": token}


def update_addon(ctx: Context, params: Params) -> Reply:
    addon, cluster = find_addon(ctx.sim.world, params), find(ctx.sim.world, params.text("clusterName"))
    if addon["status"] in {"CREATING", "UPDATING", "DELETING"}:
        raise AwsError("ResourceInUseException", f"Addon {addon['addonName']} is {addon['status']}.", status=409)
    _check_configuration(params.text("configurationValues"))
    addon["status"], addon["modifiedAt"] = "UPDATING", ctx.sim.now.timestamp()
    if "configurationValues" in params:
        addon["configurationValues"] = params.text("configurationValues")
    return {"update": begin_update(ctx, cluster, "AddonUpdate", addon["addonName"])}


def delete_addon(ctx: Context, params: Params) -> Reply:
    addon = find_addon(ctx.sim.world, params)
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
    chosen, token = pages(addons, params)
    return {"addons": chosen, "nextToken": token}


OPERATIONS: dict[str, Handler] = {
    "CreateAddon": create_addon,
    "DescribeAddon": describe_addon,
    "ListAddons": list_addons,
    "UpdateAddon": update_addon,
    "DeleteAddon": delete_addon,
    "DescribeAddonVersions": describe_addon_versions,
}


def _check_configuration(values: str) -> None:
    try:
        is_object = not values or isinstance(json.loads(values), dict)
    except ValueError:
        is_object = False
    if not is_object:
        raise AwsError("InvalidParameterException", "ConfigurationValue is not in valid JSON format.")


def find_addon(world: World, params: Params) -> Spec:
    cluster, name = find(world, params.text("clusterName")), params.text("addonName")
    if name not in cluster.addons:
        raise AwsError("ResourceNotFoundException", f"No addon: {name} found in cluster: {cluster.name}", status=404)
    return cluster.addons[name]


def _addon(addon: Spec) -> Reply:
    return {key: value for key, value in addon.items() if key != "token"}


def _settle_later(ctx: Context, cluster: EksCluster, addon: str) -> None:
    delay = ctx.sim.between(durations.ADDON_CHANGE)
    ctx.sim.after(delay, "eks.addon", cluster=cluster.name, addon=addon)


def _settled(sim: Simulation, args: dict[str, str]) -> None:
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


def _gone(sim: Simulation, args: dict[str, str]) -> None:
    cluster = sim.world.eks.get(args["cluster"])
    if cluster is not None:
        cluster.addons.pop(args["addon"], None)
