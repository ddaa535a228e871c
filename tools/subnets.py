"""Subnets as they are: where they stand and how many addresses are left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.cluster.instance_types import InstanceType
from core.ids import ZoneId
from core.json_value import JsonObject
from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.ec2_parts import SUBNET
from tools.reading import number, text

_ADDRESSES: Final = {"p4d": 51, "p4de": 51, "p5": 81, "p5e": 81, "p5en": 65, "trn1": 57, "trn2": 65}
"""Per node of a full-size instance on EKS (HyperPod guide, prerequisites for the network)."""
_ADDRESSES_BY_DEFAULT: Final = 15


class VpcSubnetArgs(ToolArgs):
    vpc_id: str


class SubnetIds(ToolArgs):
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subnet:
    subnet_id: str
    vpc_id: str
    zone_id: ZoneId
    free_addresses: int


def addresses_per_node(instance_type: InstanceType) -> int:
    """How many addresses of its subnet one node takes, pods included."""
    if instance_type.efa_interfaces <= 1:
        return _ADDRESSES_BY_DEFAULT
    listed = _ADDRESSES.get(instance_type.family)
    return listed if listed is not None else instance_type.efa_interfaces + 49


def _subnets(clients: Clients, args: VpcSubnetArgs) -> tuple[Subnet, ...]:
    query: JsonObject = {"Filters": [{"Name": "vpc-id", "Values": [args.vpc_id]}]}
    found = clients.aws.pages("ec2", SUBNET.describe, query, SUBNET.listed_under)
    return tuple(sorted((_subnet(row) for row in found), key=lambda subnet: subnet.subnet_id))


def _by_id(clients: Clients, args: SubnetIds) -> tuple[Subnet, ...]:
    """In the order asked for."""
    found = clients.aws.pages("ec2", SUBNET.describe, {"SubnetIds": args.ids}, SUBNET.listed_under) if args.ids else ()
    rows = {subnet.subnet_id: subnet for subnet in map(_subnet, found)}
    return tuple(rows[name] for name in args.ids if name in rows)


def _subnet(row: JsonObject) -> Subnet:
    return Subnet(
        subnet_id=text(row, "SubnetId"),
        vpc_id=text(row, "VpcId"),
        zone_id=ZoneId(text(row, "AvailabilityZoneId")),
        free_addresses=number(row, "AvailableIpAddressCount"),
    )


SUBNETS: Final[ReadTool[VpcSubnetArgs, tuple[Subnet, ...]]] = ReadTool(name="subnets", read=_subnets)
SUBNETS_BY_ID: Final[ReadTool[SubnetIds, tuple[Subnet, ...]]] = ReadTool(name="subnets_by_id", read=_by_id)
