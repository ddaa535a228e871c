"""Where nodes of a cluster can stand: the zones and subnets that its groups use, and the rest of its network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tools.arguments import ByName
from tools.clusters import ClusterDetails
from tools.groups import GROUP_MODELS, GroupModel
from tools.subnets import SUBNETS, SUBNETS_BY_ID, Subnet, SubnetIds, VpcSubnetArgs
from workflows.catalogue.market import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    models: tuple[GroupModel, ...]
    own: tuple[Subnet, ...]
    """Subnets that the cluster or one of its groups names."""
    around: tuple[Subnet, ...]
    """All subnets of the same VPC."""

    @property
    def vpc_id(self) -> str:
        return self.own[0].vpc_id if self.own else ""

    def model(self, group: str) -> GroupModel | None:
        return next((model for model in self.models if model.name == group), None)

    def zones_of(self, group: str) -> tuple[str, ...]:
        """Zone ids in which this group's nodes may stand."""
        model = self.model(group)
        named = model.subnet_ids if model is not None else ()
        return tuple(dict.fromkeys(subnet.zone_id for subnet in self.own if subnet.subnet_id in named))

    def free_for(self, group: str, zone_id: str) -> int:
        """Addresses left in the group's own subnets of a zone."""
        model = self.model(group)
        named = model.subnet_ids if model is not None else ()
        return sum(s.free_addresses for s in self.own if s.subnet_id in named and s.zone_id == zone_id)

    def subnet_for(self, zone_id: str) -> Subnet | None:
        """For a new group: the roomiest that nodes of this cluster use already, else the roomiest of the VPC."""
        return _roomiest(self.own, zone_id) or _roomiest(self.around, zone_id)

    @property
    def zone_ids(self) -> frozenset[str]:
        return frozenset(str(subnet.zone_id) for subnet in (*self.own, *self.around))


def read_place(reads: Reader, details: ClusterDetails) -> Place:
    """Raises `ToolError`."""
    models = reads.read(GROUP_MODELS, ByName(name=details.cluster.name))
    named = [name for model in models for name in model.subnet_ids]
    ids = tuple(dict.fromkeys([*named, *details.subnet_ids]))
    own = reads.read(SUBNETS_BY_ID, SubnetIds(ids=ids))
    around = reads.read(SUBNETS, VpcSubnetArgs(vpc_id=own[0].vpc_id)) if own else ()
    return Place(models=models, own=own, around=around)


def _roomiest(subnets: Sequence[Subnet], zone_id: str) -> Subnet | None:
    there = [subnet for subnet in subnets if subnet.zone_id == zone_id]
    return max(there, key=lambda subnet: subnet.free_addresses, default=None)
