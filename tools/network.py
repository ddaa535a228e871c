"""The network of a new cluster: one VPC, private subnets for the nodes, a way out, and a security group.

Each effect is one EC2 call. Nodes stand in private subnets (HyperPod attaches their interfaces there), reach
the internet through one NAT gateway and S3 through a gateway endpoint. The security group allows everything
from and to itself: EFA needs both directions, an open egress to anywhere is not enough (HyperPod guide).
"""

from __future__ import annotations

from typing import Final

from core.json_value import JsonObject, JsonValue
from core.risk import Risk
from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import Absent, EffectTool, Found, Intent, Observation, ReadTool
from tools.ec2_parts import (
    ADDRESS,
    ENDPOINT,
    INTERNET_GATEWAY,
    NAT_GATEWAY,
    ROUTE_TABLE,
    SECURITY_GROUP,
    SETTLE_SECONDS,
    SUBNET,
    VPC,
    PartId,
    creates,
    deletes,
    describe_one,
)
from tools.ownership import PartArgs
from tools.reading import children, flag, text

ANYWHERE: Final = "0.0.0.0/0"


class VpcArgs(PartArgs):
    cidr: str


class SubnetArgs(PartArgs):
    vpc_id: str
    zone_id: str
    cidr: str


class InVpcArgs(PartArgs):
    vpc_id: str


class NatGatewayArgs(PartArgs):
    subnet_id: str
    allocation_id: str


class EndpointArgs(PartArgs):
    vpc_id: str
    service: str
    route_table_id: str


class AttachGatewayArgs(PartArgs):
    vpc_id: str
    internet_gateway_id: str


class RouteArgs(PartArgs):
    """To anywhere: through the internet gateway or the NAT gateway, whichever is given."""

    route_table_id: str
    internet_gateway_id: str = ""
    nat_gateway_id: str = ""


class AssociationArgs(PartArgs):
    route_table_id: str
    subnet_id: str


class AssociationId(PartArgs):
    route_table_id: str
    association_id: str


class GroupRuleArgs(PartArgs):
    security_group_id: str


def _vpc_parameters(args: VpcArgs, token: str) -> JsonObject:
    return {"CidrBlock": args.cidr}


def _subnet_parameters(args: SubnetArgs, token: str) -> JsonObject:
    return {"VpcId": args.vpc_id, "AvailabilityZoneId": args.zone_id, "CidrBlock": args.cidr}


def _no_parameters(args: PartArgs, token: str) -> JsonObject:
    return {}


def _address_parameters(args: PartArgs, token: str) -> JsonObject:
    return {"Domain": "vpc"}


def _nat_parameters(args: NatGatewayArgs, token: str) -> JsonObject:
    return {"SubnetId": args.subnet_id, "AllocationId": args.allocation_id, "ClientToken": token}


def _table_parameters(args: InVpcArgs, token: str) -> JsonObject:
    return {"VpcId": args.vpc_id}


def _endpoint_parameters(args: EndpointArgs, token: str) -> JsonObject:
    return {
        "VpcId": args.vpc_id,
        "ServiceName": args.service,
        "VpcEndpointType": "Gateway",
        "RouteTableIds": [args.route_table_id],
        "ClientToken": token,
    }


def _security_group_parameters(args: InVpcArgs, token: str) -> JsonObject:
    return {
        "VpcId": args.vpc_id,
        "GroupName": f"muster-{args.cluster}-{args.part}",
        "Description": "Nodes and control plane of a HyperPod cluster",
    }


CREATE_VPC: Final[EffectTool[VpcArgs]] = creates(VPC, "create_vpc", _vpc_parameters)
CREATE_SUBNET: Final[EffectTool[SubnetArgs]] = creates(SUBNET, "create_subnet", _subnet_parameters)
CREATE_INTERNET_GATEWAY: Final[EffectTool[PartArgs]] = creates(
    INTERNET_GATEWAY, "create_internet_gateway", _no_parameters
)
ALLOCATE_ADDRESS: Final[EffectTool[PartArgs]] = creates(
    ADDRESS, "allocate_address", _address_parameters, risk=Risk.SPENDING
)
CREATE_NAT_GATEWAY: Final[EffectTool[NatGatewayArgs]] = creates(
    NAT_GATEWAY, "create_nat_gateway", _nat_parameters, risk=Risk.SPENDING
)
CREATE_ROUTE_TABLE: Final[EffectTool[InVpcArgs]] = creates(ROUTE_TABLE, "create_route_table", _table_parameters)
CREATE_ENDPOINT: Final[EffectTool[EndpointArgs]] = creates(ENDPOINT, "create_endpoint", _endpoint_parameters)
CREATE_SECURITY_GROUP: Final[EffectTool[InVpcArgs]] = creates(
    SECURITY_GROUP, "create_security_group", _security_group_parameters
)


def _enable_names(clients: Clients, args: InVpcArgs, token: str) -> JsonObject:
    clients.aws.call("ec2", "ModifyVpcAttribute", {"VpcId": args.vpc_id, "EnableDnsHostnames": {"Value": True}})
    return {}


def _has_names(clients: Clients, args: InVpcArgs, intent: Intent) -> Observation:
    query: JsonObject = {"VpcId": args.vpc_id, "Attribute": "enableDnsHostnames"}
    answer = clients.aws.call("ec2", "DescribeVpcAttribute", query)
    return Found({}) if flag(answer, "EnableDnsHostnames", "Value") else Absent()


ENABLE_DNS_HOSTNAMES: Final[EffectTool[InVpcArgs]] = EffectTool(
    name="enable_dns_hostnames",
    call="ec2:ModifyVpcAttribute",
    risk=Risk.REVERSIBLE,
    act=_enable_names,
    observe=_has_names,
)


def _attach(clients: Clients, args: AttachGatewayArgs, token: str) -> JsonObject:
    params: JsonObject = {"InternetGatewayId": args.internet_gateway_id, "VpcId": args.vpc_id}
    clients.aws.call("ec2", "AttachInternetGateway", params)
    return {}


def _is_attached(clients: Clients, args: AttachGatewayArgs, intent: Intent) -> Observation:
    gateway = describe_one(clients, INTERNET_GATEWAY, args.internet_gateway_id) or {}
    attached = {text(item, "VpcId") for item in children(gateway, "Attachments")}
    return Found({}) if args.vpc_id in attached else Absent()


ATTACH_INTERNET_GATEWAY: Final[EffectTool[AttachGatewayArgs]] = EffectTool(
    name="attach_internet_gateway",
    call="ec2:AttachInternetGateway",
    risk=Risk.REVERSIBLE,
    act=_attach,
    observe=_is_attached,
)


def _add_route(clients: Clients, args: RouteArgs, token: str) -> JsonObject:
    target: JsonObject = (
        {"NatGatewayId": args.nat_gateway_id} if args.nat_gateway_id else {"GatewayId": args.internet_gateway_id}
    )
    params: JsonObject = {"RouteTableId": args.route_table_id, "DestinationCidrBlock": ANYWHERE, **target}
    clients.aws.call("ec2", "CreateRoute", params)
    return {}


def _has_route(clients: Clients, args: RouteArgs, intent: Intent) -> Observation:
    table = describe_one(clients, ROUTE_TABLE, args.route_table_id) or {}
    wanted = args.nat_gateway_id or args.internet_gateway_id
    for route in children(table, "Routes"):
        if text(route, "DestinationCidrBlock") == ANYWHERE:
            return Found({}) if wanted in {text(route, "NatGatewayId"), text(route, "GatewayId")} else Absent()
    return Absent()


CREATE_ROUTE: Final[EffectTool[RouteArgs]] = EffectTool(
    name="create_route", call="ec2:CreateRoute", risk=Risk.REVERSIBLE, act=_add_route, observe=_has_route
)


def _associate(clients: Clients, args: AssociationArgs, token: str) -> JsonObject:
    params: JsonObject = {"RouteTableId": args.route_table_id, "SubnetId": args.subnet_id}
    return {"id": text(clients.aws.call("ec2", "AssociateRouteTable", params), "AssociationId")}


def _is_associated(clients: Clients, args: AssociationArgs, intent: Intent) -> Observation:
    table = describe_one(clients, ROUTE_TABLE, args.route_table_id) or {}
    for association in children(table, "Associations"):
        if text(association, "SubnetId") == args.subnet_id:
            return Found({"id": text(association, "RouteTableAssociationId")})
    return Absent()


ASSOCIATE_ROUTE_TABLE: Final[EffectTool[AssociationArgs]] = EffectTool(
    name="associate_route_table",
    call="ec2:AssociateRouteTable",
    risk=Risk.REVERSIBLE,
    act=_associate,
    observe=_is_associated,
    settle_seconds=SETTLE_SECONDS,
)


def _self_reference(group_id: str) -> list[JsonValue]:
    return [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}]


def _allow_in(clients: Clients, args: GroupRuleArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "GroupId": args.security_group_id,
        "IpPermissions": _self_reference(args.security_group_id),
    }
    clients.aws.call("ec2", "AuthorizeSecurityGroupIngress", params)
    return {}


def _allow_out(clients: Clients, args: GroupRuleArgs, token: str) -> JsonObject:
    params: JsonObject = {
        "GroupId": args.security_group_id,
        "IpPermissions": _self_reference(args.security_group_id),
    }
    clients.aws.call("ec2", "AuthorizeSecurityGroupEgress", params)
    return {}


def references_itself(group: JsonObject, member: str) -> bool:
    """`member`: `IpPermissions` (in) or `IpPermissionsEgress` (out)."""
    own = text(group, "GroupId")
    return any(
        text(rule, "IpProtocol") == "-1" and text(pair, "GroupId") == own
        for rule in children(group, member)
        for pair in children(rule, "UserIdGroupPairs")
    )


def _allows_in(clients: Clients, args: GroupRuleArgs, intent: Intent) -> Observation:
    group = describe_one(clients, SECURITY_GROUP, args.security_group_id) or {}
    return Found({}) if references_itself(group, "IpPermissions") else Absent()


def _allows_out(clients: Clients, args: GroupRuleArgs, intent: Intent) -> Observation:
    group = describe_one(clients, SECURITY_GROUP, args.security_group_id) or {}
    return Found({}) if references_itself(group, "IpPermissionsEgress") else Absent()


ALLOW_SELF_INGRESS: Final[EffectTool[GroupRuleArgs]] = EffectTool(
    name="allow_self_ingress",
    call="ec2:AuthorizeSecurityGroupIngress",
    risk=Risk.REVERSIBLE,
    act=_allow_in,
    observe=_allows_in,
)
ALLOW_SELF_EGRESS: Final[EffectTool[GroupRuleArgs]] = EffectTool(
    name="allow_self_egress",
    call="ec2:AuthorizeSecurityGroupEgress",
    risk=Risk.REVERSIBLE,
    act=_allow_out,
    observe=_allows_out,
)


def _detach(clients: Clients, args: AttachGatewayArgs, token: str) -> JsonObject:
    params: JsonObject = {"InternetGatewayId": args.internet_gateway_id, "VpcId": args.vpc_id}
    clients.aws.call("ec2", "DetachInternetGateway", params)
    return {}


def _is_detached(clients: Clients, args: AttachGatewayArgs, intent: Intent) -> Observation:
    return Absent() if isinstance(_is_attached(clients, args, intent), Found) else Found({})


DETACH_INTERNET_GATEWAY: Final[EffectTool[AttachGatewayArgs]] = EffectTool(
    name="detach_internet_gateway",
    call="ec2:DetachInternetGateway",
    risk=Risk.DESTRUCTIVE,
    act=_detach,
    observe=_is_detached,
)


def _disassociate(clients: Clients, args: AssociationId, token: str) -> JsonObject:
    clients.aws.call("ec2", "DisassociateRouteTable", {"AssociationId": args.association_id})
    return {}


def _is_disassociated(clients: Clients, args: AssociationId, intent: Intent) -> Observation:
    table = describe_one(clients, ROUTE_TABLE, args.route_table_id) or {}
    listed = {text(item, "RouteTableAssociationId") for item in children(table, "Associations")}
    return Absent() if args.association_id in listed else Found({})


DISASSOCIATE_ROUTE_TABLE: Final[EffectTool[AssociationId]] = EffectTool(
    name="disassociate_route_table",
    call="ec2:DisassociateRouteTable",
    risk=Risk.DESTRUCTIVE,
    act=_disassociate,
    observe=_is_disassociated,
)
DELETE_ENDPOINT: Final[EffectTool[PartId]] = deletes(ENDPOINT, "delete_endpoint")
DELETE_NAT_GATEWAY: Final[EffectTool[PartId]] = deletes(NAT_GATEWAY, "delete_nat_gateway")
RELEASE_ADDRESS: Final[EffectTool[PartId]] = deletes(ADDRESS, "release_address")
DELETE_SUBNET: Final[EffectTool[PartId]] = deletes(SUBNET, "delete_subnet")
DELETE_ROUTE_TABLE: Final[EffectTool[PartId]] = deletes(ROUTE_TABLE, "delete_route_table")
DELETE_INTERNET_GATEWAY: Final[EffectTool[PartId]] = deletes(INTERNET_GATEWAY, "delete_internet_gateway")
DELETE_SECURITY_GROUP: Final[EffectTool[PartId]] = deletes(SECURITY_GROUP, "delete_security_group")
DELETE_VPC: Final[EffectTool[PartId]] = deletes(VPC, "delete_vpc")


class NatGatewayId(ToolArgs):
    id: str


def _nat_state(clients: Clients, args: NatGatewayId) -> str:
    """EC2's own word (`pending`, `available`, `failed`...); empty for an unknown id."""
    return text(describe_one(clients, NAT_GATEWAY, args.id) or {}, "State")


NAT_STATE: Final[ReadTool[NatGatewayId, str]] = ReadTool(name="nat_state", read=_nat_state)
