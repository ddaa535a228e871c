"""IAM roles that a cluster needs: one that its nodes take on, one for the EKS control plane."""

from __future__ import annotations

import json
from typing import Final

from core.json_value import JsonObject
from core.risk import Risk
from tools.clients.base import Clients
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation
from tools.errors import TargetNotFound
from tools.ownership import PartArgs, as_tag_list, from_tag_list, is_part, marks, name_of_others
from tools.reading import children, text

NODE_SERVICE: Final = "sagemaker.amazonaws.com"
CONTROL_PLANE_SERVICE: Final = "eks.amazonaws.com"
NODE_POLICIES: Final = (
    "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy",
    "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy",
)
"""What HyperPod's guide asks of the execution role of an EKS cluster's instance groups."""
CONTROL_PLANE_POLICIES: Final = ("arn:aws:iam::aws:policy/AmazonEKSClusterPolicy",)


class RoleArgs(PartArgs):
    role_name: str
    service: str
    """The service that may take on the role."""


class RolePolicyArgs(PartArgs):
    role_name: str
    policy_arn: str


class RoleNameArgs(PartArgs):
    role_name: str


def _trust(service: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _create(clients: Clients, args: RoleArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "RoleName": args.role_name,
        "AssumeRolePolicyDocument": _trust(args.service),
        "Description": f"Made by Muster for the HyperPod cluster {args.cluster}",
        "Tags": as_tag_list(marks(clients, args, token)),
    }
    return {"arn": text(clients.aws.call("iam", "CreateRole", params), "Role", "Arn")}


def _is_there(clients: Clients, args: RoleArgs, intent: Intent) -> Observation:
    try:
        answer = clients.aws.call("iam", "GetRole", {"RoleName": args.role_name})
    except TargetNotFound:
        return Absent()
    tags = children(clients.aws.call("iam", "ListRoleTags", {"RoleName": args.role_name}), "Tags")
    if not is_part(from_tag_list(tags), args):
        return CannotTell(name_of_others("IAM role", args.role_name))
    return Found({"arn": text(answer, "Role", "Arn")})


def attached_policies(clients: Clients, role_name: str) -> list[str]:
    """ARNs of the managed policies of a role; none for a role that does not exist."""
    try:
        found = list(clients.aws.pages("iam", "ListAttachedRolePolicies", {"RoleName": role_name}, "AttachedPolicies"))
    except TargetNotFound:
        return []
    return [text(policy, "PolicyArn") for policy in found]


def _attach(clients: Clients, args: RolePolicyArgs, token: str) -> JsonObject:
    params: JsonObject = {"RoleName": args.role_name, "PolicyArn": args.policy_arn}
    clients.aws.call("iam", "AttachRolePolicy", params)
    return {}


def _has_policy(clients: Clients, args: RolePolicyArgs, intent: Intent) -> Observation:
    return Found({}) if args.policy_arn in attached_policies(clients, args.role_name) else Absent()


def _detach(clients: Clients, args: RolePolicyArgs, token: str) -> JsonObject:
    params: JsonObject = {"RoleName": args.role_name, "PolicyArn": args.policy_arn}
    clients.aws.call("iam", "DetachRolePolicy", params)
    return {}


def _lacks_policy(clients: Clients, args: RolePolicyArgs, intent: Intent) -> Observation:
    return Absent() if args.policy_arn in attached_policies(clients, args.role_name) else Found({})


def _delete(clients: Clients, args: RoleNameArgs, token: str) -> JsonObject:
    clients.aws.call("iam", "DeleteRole", {"RoleName": args.role_name})
    return {}


def _is_gone(clients: Clients, args: RoleNameArgs, intent: Intent) -> Observation:
    try:
        clients.aws.call("iam", "GetRole", {"RoleName": args.role_name})
    except TargetNotFound:
        return Found({})
    return Absent()


def owned_role(clients: Clients, cluster: str, part: str, role_name: str) -> bool:
    """Whether the role exists and carries the marks of this part."""
    try:
        tags = children(clients.aws.call("iam", "ListRoleTags", {"RoleName": role_name}), "Tags")
    except TargetNotFound:
        return False
    return is_part(from_tag_list(tags), PartArgs(cluster=cluster, part=part))


IAM_SETTLE_SECONDS: Final = 5.0

CREATE_ROLE: Final[EffectTool[RoleArgs]] = EffectTool(
    name="create_role",
    call="iam:CreateRole",
    risk=Risk.REVERSIBLE,
    act=_create,
    observe=_is_there,
    settle_seconds=IAM_SETTLE_SECONDS,
)
ATTACH_ROLE_POLICY: Final[EffectTool[RolePolicyArgs]] = EffectTool(
    name="attach_role_policy",
    call="iam:AttachRolePolicy",
    risk=Risk.REVERSIBLE,
    act=_attach,
    observe=_has_policy,
)
DETACH_ROLE_POLICY: Final[EffectTool[RolePolicyArgs]] = EffectTool(
    name="detach_role_policy",
    call="iam:DetachRolePolicy",
    risk=Risk.DESTRUCTIVE,
    act=_detach,
    observe=_lacks_policy,
)
DELETE_ROLE: Final[EffectTool[RoleNameArgs]] = EffectTool(
    name="delete_role", call="iam:DeleteRole", risk=Risk.DESTRUCTIVE, act=_delete, observe=_is_gone
)
