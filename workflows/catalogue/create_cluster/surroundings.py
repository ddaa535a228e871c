"""What a network has in each zone: free addresses and file systems. A new network has room and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from core.messages.message import Message, message
from tools.arguments import NoArgs
from tools.filesystems import FILE_SYSTEMS
from tools.offers import Zone
from tools.subnets import SUBNETS, VpcSubnetArgs
from workflows.catalogue.create_cluster.params import ADDRESSES_PER_SUBNET
from workflows.catalogue.market import Reader


@dataclass(frozen=True, slots=True)
class Site:
    """Both by zone id; both empty for a network that is still to be made."""

    is_new: bool
    addresses: dict[str, int]
    file_systems: dict[str, list[str]]

    def free(self, zone_id: str) -> int:
        """Addresses of the roomiest subnet there."""
        return ADDRESSES_PER_SUBNET if self.is_new else self.addresses.get(zone_id, 0)

    def has_file_system(self, zone_id: str) -> bool:
        return bool(self.file_systems.get(zone_id))

    def facts(self, zone: Zone) -> list[Message]:
        free = message("market.free_addresses", free=self.free(zone.zone_id))
        return [
            message("market.new_subnet") if self.is_new else free,
            *(message("market.file_system_here", id=found) for found in self.file_systems.get(zone.zone_id, [])),
        ]


def read_site(reads: Reader, vpc_id: str) -> Site:
    """`vpc_id` empty = a new network, which can mount no file system of another one."""
    addresses: dict[str, int] = {}
    file_systems: dict[str, list[str]] = {}
    if vpc_id:
        for subnet in reads.read(SUBNETS, VpcSubnetArgs(vpc_id=vpc_id)):
            addresses[subnet.zone_id] = max(addresses.get(subnet.zone_id, 0), subnet.free_addresses)
        for found in reads.read(FILE_SYSTEMS, NoArgs()):
            if found.vpc_id == vpc_id:
                file_systems.setdefault(found.zone_id, []).append(found.file_system_id)
    return Site(not vpc_id, addresses, file_systems)
