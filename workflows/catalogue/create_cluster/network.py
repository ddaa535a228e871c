"""Steps that make or take the network of a new cluster, and the roles beside it."""

from __future__ import annotations

from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tools.arguments import NoArgs
from tools.ec2_parts import NAT_GATEWAY
from tools.identity import PLACE
from tools.network import (
    ALLOCATE_ADDRESS,
    ALLOW_SELF_EGRESS,
    ALLOW_SELF_INGRESS,
    ASSOCIATE_ROUTE_TABLE,
    ATTACH_INTERNET_GATEWAY,
    CREATE_ENDPOINT,
    CREATE_INTERNET_GATEWAY,
    CREATE_NAT_GATEWAY,
    CREATE_ROUTE,
    CREATE_ROUTE_TABLE,
    CREATE_SECURITY_GROUP,
    CREATE_SUBNET,
    CREATE_VPC,
    ENABLE_DNS_HOSTNAMES,
    NAT_STATE,
    AssociationArgs,
    AttachGatewayArgs,
    EndpointArgs,
    GroupRuleArgs,
    InVpcArgs,
    NatGatewayArgs,
    NatGatewayId,
    RouteArgs,
    SubnetArgs,
    VpcArgs,
)
from tools.offers import ZONES
from tools.ownership import PartArgs, part_name
from tools.reading import child, text
from tools.roles import (
    ATTACH_ROLE_POLICY,
    CONTROL_PLANE_POLICIES,
    CONTROL_PLANE_SERVICE,
    CREATE_ROLE,
    NODE_POLICIES,
    NODE_SERVICE,
    RoleArgs,
    RolePolicyArgs,
)
from tools.subnets import SUBNETS, Subnet, VpcSubnetArgs
from workflows.catalogue.create_cluster.params import (
    NODE_CIDRS,
    PUBLIC_CIDR,
    VPC_CIDR,
    CreateClusterParams,
)
from workflows.catalogue.failures import fail
from workflows.catalogue.pace import NETWORK_BUDGET, next_look
from workflows.definition import Next, Outcome, StepContext, Wait


def choose_zones(ctx: StepContext, params: CreateClusterParams) -> tuple[str, ...]:
    """The chosen zone, and one more for the control plane, which EKS wants in two. No node stands there."""
    others = [zone.zone_id for zone in ctx.read(ZONES, NoArgs()) if zone.zone_id != params.zone_id]
    return (params.zone_id, *others[:1])


def make_network(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    if params.vpc_id:
        return take_network(ctx, params)
    name, zones = params.name, [str(zone) for zone in _zones(ctx)]
    vpc = _id(ctx.perform(CREATE_VPC, VpcArgs(cluster=name, part="vpc", cidr=VPC_CIDR)))
    ctx.perform(ENABLE_DNS_HOSTNAMES, InVpcArgs(cluster=name, part="vpc", vpc_id=vpc))
    subnets = {
        zone: _id(
            ctx.perform(
                CREATE_SUBNET, SubnetArgs(cluster=name, part=f"nodes-{zone}", vpc_id=vpc, zone_id=zone, cidr=cidr)
            )
        )
        for zone, cidr in zip(zones, NODE_CIDRS, strict=False)
    }
    public_args = SubnetArgs(cluster=name, part="public", vpc_id=vpc, zone_id=params.zone_id, cidr=PUBLIC_CIDR)
    public = _id(ctx.perform(CREATE_SUBNET, public_args))
    gateway = _id(ctx.perform(CREATE_INTERNET_GATEWAY, PartArgs(cluster=name, part="gateway")))
    attachment = AttachGatewayArgs(cluster=name, part="gateway", vpc_id=vpc, internet_gateway_id=gateway)
    ctx.perform(ATTACH_INTERNET_GATEWAY, attachment)
    address = _id(ctx.perform(ALLOCATE_ADDRESS, PartArgs(cluster=name, part="nat")))
    nat_args = NatGatewayArgs(cluster=name, part="nat", subnet_id=public, allocation_id=address)
    nat = _id(ctx.perform(CREATE_NAT_GATEWAY, nat_args))
    table = _id(ctx.perform(CREATE_ROUTE_TABLE, InVpcArgs(cluster=name, part="public", vpc_id=vpc)))
    ctx.perform(CREATE_ROUTE, RouteArgs(cluster=name, part="public", route_table_id=table, internet_gateway_id=gateway))
    ctx.perform(
        ASSOCIATE_ROUTE_TABLE, AssociationArgs(cluster=name, part="public", route_table_id=table, subnet_id=public)
    )
    network: JsonObject = {"vpc_id": vpc, "subnets": subnets, "nat_gateway_id": nat, "is_ours": True}
    return Next(data={"network": {**network, "security_group_id": _security_group(ctx, name, vpc)}})


def take_network(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    """An existing VPC: its roomiest subnet of each zone. Only the security group is new."""
    best: dict[str, Subnet] = {}
    for subnet in ctx.read(SUBNETS, VpcSubnetArgs(vpc_id=params.vpc_id)):
        known = best.get(subnet.zone_id)
        if known is None or subnet.free_addresses > known.free_addresses:
            best[subnet.zone_id] = subnet
    if params.zone_id not in best or len(best) < 2:
        why = message("create_cluster.vpc_without_zones", vpc=params.vpc_id, zone=params.zone_id)
        return fail(FailureClass.CONFIG, why)
    network: JsonObject = {
        "vpc_id": params.vpc_id,
        "subnets": {zone: subnet.subnet_id for zone, subnet in best.items()},
        "is_ours": False,
    }
    return Next(data={"network": {**network, "security_group_id": _security_group(ctx, params.name, params.vpc_id)}})


def wait_for_network(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    """Private subnets get their way out once the NAT gateway is there."""
    network = child(ctx.run.data, "network")
    nat = text(network, "nat_gateway_id")
    if not nat:
        return Next()
    state = ctx.read(NAT_STATE, NatGatewayId(id=nat))
    if state == "available":
        return _open_way_out(ctx, params.name, network)
    waited_out = ctx.now - ctx.step_started_at > NETWORK_BUDGET
    if waited_out or state in NAT_GATEWAY.gone_states:
        return fail(FailureClass.UNKNOWN, message("create_cluster.nat_failed", nat=nat, state=state or "-"))
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=message("create_cluster.waiting_for_nat", nat=nat))


def make_roles(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    nodes = _role(ctx, params.name, "nodes", NODE_SERVICE, NODE_POLICIES)
    control_plane = _role(ctx, params.name, "control-plane", CONTROL_PLANE_SERVICE, CONTROL_PLANE_POLICIES)
    return Next(data={"roles": {"nodes": nodes, "control_plane": control_plane}})


def has_room_for_zone(ctx: StepContext, zone_id: str) -> bool:
    """Whether nodes can stand there: a subnet is there, or our own network has room for one."""
    network = child(ctx.run.data, "network")
    subnets = child(network, "subnets")
    return zone_id in subnets or (network.get("is_ours") is True and len(subnets) < len(NODE_CIDRS))


def make_zone_subnet(ctx: StepContext, cluster: str, zone_id: str) -> JsonObject:
    """The network with a subnet in `zone_id`, made when it is not there. Raises `KeyError` without room for it."""
    network = child(ctx.run.data, "network")
    subnets = dict(child(network, "subnets"))
    if zone_id in subnets:
        return network
    if not has_room_for_zone(ctx, zone_id):
        raise KeyError(zone_id)
    vpc = text(network, "vpc_id")
    args = SubnetArgs(
        cluster=cluster, part=f"nodes-{zone_id}", vpc_id=vpc, zone_id=zone_id, cidr=NODE_CIDRS[len(subnets)]
    )
    subnet = _id(ctx.perform(CREATE_SUBNET, args))
    table = text(network, "route_table_id")
    ctx.perform(
        ASSOCIATE_ROUTE_TABLE,
        AssociationArgs(cluster=cluster, part=f"nodes-{zone_id}", route_table_id=table, subnet_id=subnet),
    )
    return {**network, "subnets": {**subnets, zone_id: subnet}}


def _open_way_out(ctx: StepContext, name: str, network: JsonObject) -> Outcome:
    vpc, nat = text(network, "vpc_id"), text(network, "nat_gateway_id")
    table = _id(ctx.perform(CREATE_ROUTE_TABLE, InVpcArgs(cluster=name, part="nodes", vpc_id=vpc)))
    ctx.perform(CREATE_ROUTE, RouteArgs(cluster=name, part="nodes", route_table_id=table, nat_gateway_id=nat))
    for zone, subnet in child(network, "subnets").items():
        association = AssociationArgs(cluster=name, part=f"nodes-{zone}", route_table_id=table, subnet_id=str(subnet))
        ctx.perform(ASSOCIATE_ROUTE_TABLE, association)
    service = f"com.amazonaws.{ctx.read(PLACE, NoArgs()).region}.s3"
    ctx.perform(
        CREATE_ENDPOINT, EndpointArgs(cluster=name, part="s3", vpc_id=vpc, service=service, route_table_id=table)
    )
    return Next(data={"network": {**network, "route_table_id": table}})


def _security_group(ctx: StepContext, name: str, vpc: str) -> str:
    group = _id(ctx.perform(CREATE_SECURITY_GROUP, InVpcArgs(cluster=name, part="nodes", vpc_id=vpc)))
    rule = GroupRuleArgs(cluster=name, part="nodes", security_group_id=group)
    ctx.perform(ALLOW_SELF_INGRESS, rule)
    ctx.perform(ALLOW_SELF_EGRESS, rule)
    return group


def _role(ctx: StepContext, name: str, part: str, service: str, policies: tuple[str, ...]) -> str:
    role_name = part_name(name, part, limit=64)
    made = ctx.perform(CREATE_ROLE, RoleArgs(cluster=name, part=part, role_name=role_name, service=service))
    for policy in policies:
        ctx.perform(ATTACH_ROLE_POLICY, RolePolicyArgs(cluster=name, part=part, role_name=role_name, policy_arn=policy))
    return text(made, "arn")


def _zones(ctx: StepContext) -> list[str]:
    """As preflight chose them: a later look might see them in another state, and effects must not move."""
    zones = ctx.run.data.get("zones")
    return [str(zone) for zone in zones] if isinstance(zones, list | tuple) else []


def _id(result: JsonObject) -> str:
    return text(result, "id")
