"""Who may use a cluster's API server: access entries of IAM roles, with one of EKS's access policies each."""

from __future__ import annotations

import re
from typing import Final

from core.json_value import JsonObject
from core.risk import Risk
from tools.clients.base import Clients
from tools.contract import Absent, EffectTool, Found, Intent, Observation
from tools.errors import TargetNotFound
from tools.ownership import PartArgs, marks
from tools.reading import text

ADMIN_POLICY: Final = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
_ROLE_ARN: Final = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]+")


class AccessArgs(PartArgs):
    eks_name: str
    principal_arn: str


def is_role_arn(arn: str) -> bool:
    """EKS takes the role's own ARN; that of a session (`sts`, `assumed-role`) never matches anybody."""
    return _ROLE_ARN.fullmatch(arn) is not None


def _create(clients: Clients, args: AccessArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "clusterName": args.eks_name,
        "principalArn": args.principal_arn,
        "tags": marks(clients, args, token),
        "clientRequestToken": token,
    }
    clients.aws.call("eks", "CreateAccessEntry", params)
    return {}


def _is_there(clients: Clients, args: AccessArgs, intent: Intent) -> Observation:
    query: JsonObject = {"clusterName": args.eks_name, "principalArn": args.principal_arn}
    try:
        clients.aws.call("eks", "DescribeAccessEntry", query)
    except TargetNotFound:
        return Absent()
    return Found({})


def _associate(clients: Clients, args: AccessArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "clusterName": args.eks_name,
        "principalArn": args.principal_arn,
        "policyArn": ADMIN_POLICY,
        "accessScope": {"type": "cluster"},
    }
    clients.aws.call("eks", "AssociateAccessPolicy", params)
    return {}


def _is_associated(clients: Clients, args: AccessArgs, intent: Intent) -> Observation:
    query: JsonObject = {"clusterName": args.eks_name, "principalArn": args.principal_arn}
    found = clients.aws.pages("eks", "ListAssociatedAccessPolicies", query, "associatedAccessPolicies")
    return Found({}) if any(text(policy, "policyArn") == ADMIN_POLICY for policy in found) else Absent()


CREATE_ACCESS_ENTRY: Final[EffectTool[AccessArgs]] = EffectTool(
    name="create_access_entry",
    call="eks:CreateAccessEntry",
    risk=Risk.REVERSIBLE,
    act=_create,
    observe=_is_there,
    honours_token=True,
)
MAKE_ADMINISTRATOR: Final[EffectTool[AccessArgs]] = EffectTool(
    name="make_administrator",
    call="eks:AssociateAccessPolicy",
    risk=Risk.REVERSIBLE,
    act=_associate,
    observe=_is_associated,
)
