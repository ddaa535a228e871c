"""FSx for Lustre file systems that exist, and in which zone they stand: nodes elsewhere reach them slowly or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.ids import ZoneId
from core.json_value import JsonObject
from tools.arguments import NoArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.ec2_parts import SUBNET, describe_one
from tools.reading import number, text, texts


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSystem:
    """`lifecycle` is FSx's own word (`AVAILABLE`, `CREATING`...)."""

    file_system_id: str
    vpc_id: str
    zone_id: ZoneId
    size_gib: int
    lifecycle: str


def _file_systems(clients: Clients, args: NoArgs) -> tuple[FileSystem, ...]:
    found = clients.aws.pages("fsx", "DescribeFileSystems", {}, "FileSystems")
    lustre = [row for row in found if text(row, "FileSystemType") == "LUSTRE"]
    return tuple(sorted((_file_system(clients, row) for row in lustre), key=lambda item: item.file_system_id))


def _file_system(clients: Clients, row: JsonObject) -> FileSystem:
    subnet_id = next(iter(texts(row, "SubnetIds")), "")
    subnet = (describe_one(clients, SUBNET, subnet_id) if subnet_id else None) or {}
    return FileSystem(
        file_system_id=text(row, "FileSystemId"),
        vpc_id=text(row, "VpcId"),
        zone_id=ZoneId(text(subnet, "AvailabilityZoneId")),
        size_gib=number(row, "StorageCapacity"),
        lifecycle=text(row, "Lifecycle"),
    )


FILE_SYSTEMS: Final[ReadTool[NoArgs, tuple[FileSystem, ...]]] = ReadTool(name="file_systems", read=_file_systems)
