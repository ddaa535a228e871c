"""The EKS control plane of a cluster and its add-ons. EKS honours a client token on every creation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.json_value import JsonObject
from core.risk import Risk
from tools.arguments import ByName, ToolArgs
from tools.clients.base import Clients
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool
from tools.errors import TargetNotFound
from tools.ownership import PartArgs, is_part, marks, name_of_others
from tools.reading import child, children, text, texts

ACTIVE: Final = "ACTIVE"
FAILED_STATES: Final = frozenset({"FAILED", "CREATE_FAILED", "DELETE_FAILED", "UPDATE_FAILED"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """`status` is EKS's own word; `issues` its sentences about what is wrong."""

    name: str
    arn: str
    status: str
    version: str
    authentication_mode: str
    vpc_id: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]
    tags: dict[str, str]
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    name: str
    status: str
    version: str
    issues: tuple[str, ...] = ()


class ControlPlaneArgs(PartArgs):
    eks_name: str
    role_arn: str
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]
    version: str = ""
    """Empty = the version that EKS takes by default."""


class AddonArgs(PartArgs):
    eks_name: str
    addon: str


class AddonsArgs(ToolArgs):
    eks_name: str
    names: tuple[str, ...]


class EksNameArgs(PartArgs):
    eks_name: str


def eks_name_of(cluster: str) -> str:
    """The EKS cluster that goes with a HyperPod cluster of Muster's making."""
    return f"{cluster}-eks"


def find_control_plane(clients: Clients, eks_name: str) -> ControlPlane | None:
    try:
        answer = clients.aws.call("eks", "DescribeCluster", {"name": eks_name})
    except TargetNotFound:
        return None
    cluster = child(answer, "cluster")
    return ControlPlane(
        name=text(cluster, "name"),
        arn=text(cluster, "arn"),
        status=text(cluster, "status"),
        version=text(cluster, "version"),
        authentication_mode=text(cluster, "accessConfig", "authenticationMode"),
        vpc_id=text(cluster, "resourcesVpcConfig", "vpcId"),
        subnet_ids=tuple(texts(cluster, "resourcesVpcConfig", "subnetIds")),
        security_group_ids=tuple(texts(cluster, "resourcesVpcConfig", "securityGroupIds")),
        tags={key: str(value) for key, value in child(cluster, "tags").items()},
        issues=tuple(text(issue, "message") for issue in children(cluster, "health", "issues")),
    )


def find_addon(clients: Clients, eks_name: str, addon: str) -> Addon | None:
    try:
        answer = clients.aws.call("eks", "DescribeAddon", {"clusterName": eks_name, "addonName": addon})
    except TargetNotFound:
        return None
    details = child(answer, "addon")
    return Addon(
        name=addon,
        status=text(details, "status"),
        version=text(details, "addonVersion"),
        issues=tuple(text(issue, "message") for issue in children(details, "health", "issues")),
    )


def _control_plane(clients: Clients, args: ByName) -> ControlPlane | None:
    return find_control_plane(clients, args.name)


def _addons(clients: Clients, args: AddonsArgs) -> tuple[Addon, ...]:
    """Those of `names` that are installed, in the given order."""
    found = (find_addon(clients, args.eks_name, name) for name in args.names)
    return tuple(addon for addon in found if addon is not None)


def _create(clients: Clients, args: ControlPlaneArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "name": args.eks_name,
        "roleArn": args.role_arn,
        "resourcesVpcConfig": {"subnetIds": args.subnet_ids, "securityGroupIds": args.security_group_ids},
        # HyperPod refuses CONFIG_MAP; the creator stays administrator, so that whoever runs Muster can go on.
        "accessConfig": {
            "authenticationMode": "API_AND_CONFIG_MAP",
            "bootstrapClusterCreatorAdminPermissions": True,
        },
        "tags": marks(clients, args, token),
        "clientRequestToken": token,
        **({"version": args.version} if args.version else {}),
    }
    return {"arn": text(clients.aws.call("eks", "CreateCluster", params), "cluster", "arn")}


def _is_there(clients: Clients, args: ControlPlaneArgs, intent: Intent) -> Observation:
    found = find_control_plane(clients, args.eks_name)
    if found is None:
        return Absent()
    if not is_part(found.tags, args):
        return CannotTell(name_of_others("EKS cluster", args.eks_name))
    return Found({"arn": found.arn})


def _install(clients: Clients, args: AddonArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "clusterName": args.eks_name,
        "addonName": args.addon,
        "resolveConflicts": "OVERWRITE",
        "tags": marks(clients, args, token),
        "clientRequestToken": token,
    }
    return {"arn": text(clients.aws.call("eks", "CreateAddon", params), "addon", "addonArn")}


def _is_installed(clients: Clients, args: AddonArgs, intent: Intent) -> Observation:
    return Absent() if find_addon(clients, args.eks_name, args.addon) is None else Found({})


def _delete(clients: Clients, args: EksNameArgs, token: str) -> JsonObject:
    clients.aws.call("eks", "DeleteCluster", {"name": args.eks_name})
    return {}


def _is_going(clients: Clients, args: EksNameArgs, intent: Intent) -> Observation:
    found = find_control_plane(clients, args.eks_name)
    return Found({}) if found is None or found.status == "DELETING" else Absent()


CONTROL_PLANE: Final[ReadTool[ByName, ControlPlane | None]] = ReadTool(name="control_plane", read=_control_plane)
ADDONS: Final[ReadTool[AddonsArgs, tuple[Addon, ...]]] = ReadTool(name="addons", read=_addons)

CREATE_CONTROL_PLANE: Final[EffectTool[ControlPlaneArgs]] = EffectTool(
    name="create_control_plane",
    call="eks:CreateCluster",
    risk=Risk.SPENDING,
    act=_create,
    observe=_is_there,
    honours_token=True,
)
INSTALL_ADDON: Final[EffectTool[AddonArgs]] = EffectTool(
    name="install_addon",
    call="eks:CreateAddon",
    risk=Risk.REVERSIBLE,
    act=_install,
    observe=_is_installed,
    honours_token=True,
)
DELETE_CONTROL_PLANE: Final[EffectTool[EksNameArgs]] = EffectTool(
    name="delete_control_plane", call="eks:DeleteCluster", risk=Risk.DESTRUCTIVE, act=_delete, observe=_is_going
)
