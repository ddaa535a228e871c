"""Effects on EC2's tagged resources, which have no client token: they are recognised by their tags."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from core.json_value import JsonObject
from core.risk import Risk
from tools.clients.base import Clients
from tools.contract import Absent, EffectTool, Found, Intent, Observation
from tools.errors import TargetNotFound
from tools.ownership import CLUSTER_TAG, PART_TAG, PartArgs, as_tag_list, marks
from tools.reading import child, children, text

PartArgsT = TypeVar("PartArgsT", bound=PartArgs)

SETTLE_SECONDS: Final = 5.0
"""EC2's reads may miss a resource for some seconds after it was made (EC2 API guide, eventual consistency)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartKind:
    """How EC2 speaks of one kind of resource."""

    resource_type: str
    """In TagSpecifications."""
    create: str
    describe: str
    listed_under: str
    created_under: str
    """The member of the create answer that holds the resource; empty = the answer itself."""
    id_member: str
    delete: str
    deletes_many: bool = False
    """The delete call takes a list of ids."""
    tag_filter: str = "Filters"
    """What DescribeX calls its filters (`Filter` for NAT gateways)."""
    gone_states: frozenset[str] = frozenset()
    """States in which a resource is still listed though it is gone."""


VPC: Final = PartKind(
    resource_type="vpc",
    create="CreateVpc",
    describe="DescribeVpcs",
    listed_under="Vpcs",
    created_under="Vpc",
    id_member="VpcId",
    delete="DeleteVpc",
)
SUBNET: Final = PartKind(
    resource_type="subnet",
    create="CreateSubnet",
    describe="DescribeSubnets",
    listed_under="Subnets",
    created_under="Subnet",
    id_member="SubnetId",
    delete="DeleteSubnet",
)
INTERNET_GATEWAY: Final = PartKind(
    resource_type="internet-gateway",
    create="CreateInternetGateway",
    describe="DescribeInternetGateways",
    listed_under="InternetGateways",
    created_under="InternetGateway",
    id_member="InternetGatewayId",
    delete="DeleteInternetGateway",
)
ADDRESS: Final = PartKind(
    resource_type="elastic-ip",
    create="AllocateAddress",
    describe="DescribeAddresses",
    listed_under="Addresses",
    created_under="",
    id_member="AllocationId",
    delete="ReleaseAddress",
)
NAT_GATEWAY: Final = PartKind(
    resource_type="natgateway",
    create="CreateNatGateway",
    describe="DescribeNatGateways",
    listed_under="NatGateways",
    created_under="NatGateway",
    id_member="NatGatewayId",
    delete="DeleteNatGateway",
    tag_filter="Filter",
    gone_states=frozenset({"deleted", "deleting", "failed"}),
)
ROUTE_TABLE: Final = PartKind(
    resource_type="route-table",
    create="CreateRouteTable",
    describe="DescribeRouteTables",
    listed_under="RouteTables",
    created_under="RouteTable",
    id_member="RouteTableId",
    delete="DeleteRouteTable",
)
ENDPOINT: Final = PartKind(
    resource_type="vpc-endpoint",
    create="CreateVpcEndpoint",
    describe="DescribeVpcEndpoints",
    listed_under="VpcEndpoints",
    created_under="VpcEndpoint",
    id_member="VpcEndpointId",
    delete="DeleteVpcEndpoints",
    deletes_many=True,
    gone_states=frozenset({"deleted", "deleting", "failed"}),
)
SECURITY_GROUP: Final = PartKind(
    resource_type="security-group",
    create="CreateSecurityGroup",
    describe="DescribeSecurityGroups",
    listed_under="SecurityGroups",
    created_under="",
    id_member="GroupId",
    delete="DeleteSecurityGroup",
)


def creates(
    kind: PartKind, name: str, parameters: Callable[[PartArgsT, str], JsonObject], *, risk: Risk = Risk.REVERSIBLE
) -> EffectTool[PartArgsT]:
    """The effect that makes one resource of `kind`; its result is `{"id": ...}`.

    `parameters(args, token)` are those of the create call, without tags.
    """

    def act(clients: Clients, args: PartArgsT, token: str) -> JsonObject:
        tags: JsonObject = {"ResourceType": kind.resource_type, "Tags": as_tag_list(_named(clients, args, token))}
        answer = clients.aws.call("ec2", kind.create, {**parameters(args, token), "TagSpecifications": [tags]})
        made = child(answer, kind.created_under) if kind.created_under else answer
        return {"id": text(made, kind.id_member)}

    def observe(clients: Clients, args: PartArgsT, intent: Intent) -> Observation:
        found = find_parts(clients, kind, args.cluster, args.part)
        return Found({"id": text(found[0], kind.id_member)}) if found else Absent()

    return EffectTool(
        name=name, call=f"ec2:{kind.create}", risk=risk, act=act, observe=observe, settle_seconds=SETTLE_SECONDS
    )


class PartId(PartArgs):
    """One resource of a cluster by its id."""

    id: str


def deletes(kind: PartKind, name: str) -> EffectTool[PartId]:
    """The effect that removes one resource of `kind`; what is gone already counts as removed."""

    def act(clients: Clients, args: PartId, token: str) -> JsonObject:
        params: JsonObject = {f"{kind.id_member}s": [args.id]} if kind.deletes_many else {kind.id_member: args.id}
        clients.aws.call("ec2", kind.delete, params)
        return {}

    def observe(clients: Clients, args: PartId, intent: Intent) -> Observation:
        listed = find_parts(clients, kind, args.cluster, args.part)
        return Absent() if any(text(part, kind.id_member) == args.id for part in listed) else Found({})

    return EffectTool(name=name, call=f"ec2:{kind.delete}", risk=Risk.DESTRUCTIVE, act=act, observe=observe)


def find_parts(clients: Clients, kind: PartKind, cluster: str, part: str = "") -> list[JsonObject]:
    """The living resources of `kind` that carry the cluster's mark, all parts of it when `part` is empty."""
    filters: list[JsonObject] = [{"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster]}]
    if part:
        filters.append({"Name": f"tag:{PART_TAG}", "Values": [part]})
    found = clients.aws.pages("ec2", kind.describe, {kind.tag_filter: filters}, kind.listed_under)
    return [item for item in found if text(item, "State") not in kind.gone_states]


def describe_one(clients: Clients, kind: PartKind, resource_id: str) -> JsonObject | None:
    """`None` when EC2 does not know the id."""
    try:
        answer = clients.aws.call("ec2", kind.describe, {f"{kind.id_member}s": [resource_id]})
    except TargetNotFound:
        return None
    found = children(answer, kind.listed_under)
    return found[0] if found else None


def _named(clients: Clients, args: PartArgs, token: str) -> dict[str, str]:
    return {"Name": f"muster-{args.cluster}-{args.part}", **marks(clients, args, token)}
