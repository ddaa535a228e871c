"""What the region has: its zones, which of them offer an instance type, and what an unlisted type brings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.cluster.instance_types import AcceleratorKind, InstanceType, find_instance_type
from core.ids import InstanceTypeName, ZoneId
from core.json_value import JsonObject
from tools.arguments import ByName, NoArgs, ToolArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.errors import RejectedByPlatform, TargetNotFound
from tools.reading import children, number, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """`zone_id` is the same place in every account, `name` is this account's word for it."""

    zone_id: ZoneId
    name: str
    region: str
    state: str
    """EC2's own word: `available`, `impaired`, `constrained` and so on."""


class OfferArgs(ToolArgs):
    instance_type: str
    """HyperPod's name (`ml.p5.48xlarge`)."""


def _zones(clients: Clients, args: NoArgs) -> tuple[Zone, ...]:
    query: JsonObject = {"Filters": [{"Name": "zone-type", "Values": ["availability-zone"]}]}
    answer = clients.aws.call("ec2", "DescribeAvailabilityZones", query)
    zones = [
        Zone(
            zone_id=ZoneId(text(zone, "ZoneId")),
            name=text(zone, "ZoneName"),
            region=text(zone, "RegionName"),
            state=text(zone, "State"),
        )
        for zone in children(answer, "AvailabilityZones")
    ]
    return tuple(sorted(zones, key=lambda zone: zone.zone_id))


def _offering_zones(clients: Clients, args: OfferArgs) -> tuple[ZoneId, ...]:
    query: JsonObject = {
        "LocationType": "availability-zone-id",
        "Filters": [{"Name": "instance-type", "Values": [args.instance_type.removeprefix("ml.")]}],
    }
    found = clients.aws.pages("ec2", "DescribeInstanceTypeOfferings", query, "InstanceTypeOfferings")
    return tuple(sorted({ZoneId(text(offer, "Location")) for offer in found}))


def _offered_types(clients: Clients, args: ByName) -> tuple[InstanceTypeName, ...]:
    """`name` is a zone id. HyperPod names of everything that EC2 offers there."""
    query: JsonObject = {
        "LocationType": "availability-zone-id",
        "Filters": [{"Name": "location", "Values": [args.name]}],
    }
    found = clients.aws.pages("ec2", "DescribeInstanceTypeOfferings", query, "InstanceTypeOfferings")
    return tuple(sorted({InstanceTypeName(f"ml.{text(offer, 'InstanceType')}") for offer in found}))


def _figures(clients: Clients, args: OfferArgs) -> InstanceType | None:
    """`None` for a type that neither our table nor EC2 knows."""
    known = find_instance_type(args.instance_type)
    if known is not None:
        return known
    ec2_name = args.instance_type.removeprefix("ml.")
    try:
        answer = clients.aws.call("ec2", "DescribeInstanceTypes", {"InstanceTypes": [ec2_name]})
    except (RejectedByPlatform, TargetNotFound):
        return None
    found = children(answer, "InstanceTypes")
    return _from_ec2(found[0]) if found else None


def _from_ec2(row: JsonObject) -> InstanceType:
    gpus, neurons = children(row, "GpuInfo", "Gpus"), children(row, "NeuronInfo", "NeuronDevices")
    kind = AcceleratorKind.NVIDIA_GPU if gpus else AcceleratorKind.NEURON if neurons else AcceleratorKind.NONE
    return InstanceType(
        name=InstanceTypeName(f"ml.{text(row, 'InstanceType')}"),
        accelerator=kind,
        accelerators=sum(number(device, "Count") for device in gpus or neurons),
        gpu_model=text(gpus[0], "Name") if gpus else "",
        vcpus=number(row, "VCpuInfo", "DefaultVCpus"),
        memory_gib=number(row, "MemoryInfo", "SizeInMiB") // 1024,
        efa_interfaces=number(row, "NetworkInfo", "EfaInfo", "MaximumEfaInterfaces"),
    )


ZONES: Final[ReadTool[NoArgs, tuple[Zone, ...]]] = ReadTool(name="zones", read=_zones)
OFFERING_ZONES: Final[ReadTool[OfferArgs, tuple[ZoneId, ...]]] = ReadTool(name="offering_zones", read=_offering_zones)
OFFERED_TYPES: Final[ReadTool[ByName, tuple[InstanceTypeName, ...]]] = ReadTool(
    name="offered_types", read=_offered_types
)
TYPE_FIGURES: Final[ReadTool[OfferArgs, InstanceType | None]] = ReadTool(name="type_figures", read=_figures)
