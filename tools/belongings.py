"""Everything that carries a cluster's mark: what Muster made for it, and so may remove with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools.arguments import ByName
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.ec2_parts import (
    ADDRESS,
    ENDPOINT,
    INTERNET_GATEWAY,
    NAT_GATEWAY,
    ROUTE_TABLE,
    SECURITY_GROUP,
    SUBNET,
    VPC,
    PartKind,
    find_parts,
)
from tools.eks import eks_name_of, find_control_plane
from tools.lifecycle import bucket_name, script_keys
from tools.ownership import CLUSTER_TAG, PART_TAG, from_tag_list, part_name
from tools.reading import children, text
from tools.roles import attached_policies, owned_role

NETWORK_KINDS: Final[tuple[PartKind, ...]] = (
    ENDPOINT,
    NAT_GATEWAY,
    ADDRESS,
    SUBNET,
    ROUTE_TABLE,
    INTERNET_GATEWAY,
    SECURITY_GROUP,
    VPC,
)
"""In the order in which they can be removed."""
ROLE_PARTS: Final = ("nodes", "control-plane")


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """`kind` is EC2's resource type, `role`, `script` or `eks`; `id` an id, a role's name, an object's key."""

    kind: str
    part: str
    id: str
    details: tuple[str, ...] = ()
    """Of a role its attached policies, of an internet gateway the VPC that it is attached to, of a route table its
    associations with subnets, of a script its bucket."""

    def to_json(self) -> dict[str, str | list[str]]:
        return {"kind": self.kind, "part": self.part, "id": self.id, "details": list(self.details)}


def _belongings(clients: Clients, args: ByName) -> tuple[Belonging, ...]:
    """`name` is the cluster's. Resources without its mark are nobody's business here."""
    return (
        *_control_plane(clients, args.name),
        *_scripts(clients, args.name),
        *_roles(clients, args.name),
        *(found for kind in NETWORK_KINDS for found in _network(clients, kind, args.name)),
    )


def _network(clients: Clients, kind: PartKind, cluster: str) -> list[Belonging]:
    found = []
    for row in find_parts(clients, kind, cluster):
        attached = [text(item, "VpcId") for item in children(row, "Attachments")]
        associated = [
            text(item, "RouteTableAssociationId") for item in children(row, "Associations") if text(item, "SubnetId")
        ]
        part = from_tag_list(children(row, "Tags")).get(PART_TAG, "")
        found.append(
            Belonging(
                kind=kind.resource_type, part=part, id=text(row, kind.id_member), details=(*attached, *associated)
            )
        )
    return sorted(found, key=lambda item: item.id)


def _control_plane(clients: Clients, cluster: str) -> list[Belonging]:
    found = find_control_plane(clients, eks_name_of(cluster))
    if found is None or found.tags.get(CLUSTER_TAG) != cluster:
        return []
    return [Belonging(kind="eks", part="control-plane", id=found.name)]


def _scripts(clients: Clients, cluster: str) -> list[Belonging]:
    bucket = bucket_name(clients.aws.account, clients.aws.region)
    keys = script_keys(clients, bucket, cluster)
    return [Belonging(kind="script", part="scripts", id=key, details=(bucket,)) for key in keys]


def _roles(clients: Clients, cluster: str) -> list[Belonging]:
    found = []
    for part in ROLE_PARTS:
        name = part_name(cluster, part, limit=64)
        if owned_role(clients, cluster, part, name):
            found.append(Belonging(kind="role", part=part, id=name, details=tuple(attached_policies(clients, name))))
    return found


BELONGINGS: Final[ReadTool[ByName, tuple[Belonging, ...]]] = ReadTool(name="belongings", read=_belongings)
