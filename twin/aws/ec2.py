"""The part of EC2 that is about the fleet; VPC things are moto's."""

from __future__ import annotations

from fnmatch import fnmatchcase

from core.cluster.instance_types import AcceleratorKind, InstanceType, find_instance_type
from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.world.state import World


def describe_instance_type_offerings(ctx: Context, params: Params) -> Reply:
    """A type is offered in a zone that has a pool for it, an empty one too."""
    kind = params.text("LocationType", "region")
    if kind not in {"region", "availability-zone", "availability-zone-id"}:
        raise AwsError("InvalidParameterValue", f"Invalid value for LocationType: {kind}")
    filters = _filters(params, {"instance-type", "location"})
    offerings = {(_ec2_name(name), _location(ctx.seen, zone_id, kind)) for zone_id, name in _offers(ctx.seen)}
    found = [
        {"InstanceType": name, "LocationType": kind, "Location": location}
        for name, location in sorted(offerings, key=lambda offer: ctx.sim.order("".join(offer)))
        if _matches(filters, "instance-type", name) and _matches(filters, "location", location)
    ]
    chosen, token = page(found, params, size=1000)
    return {"InstanceTypeOfferings": chosen, "NextToken": token}


def describe_instance_types(ctx: Context, params: Params) -> Reply:
    filters, wanted = _filters(params, {"instance-type"}), params.texts("InstanceTypes")
    offered = {_ec2_name(name) for _, name in _offers(ctx.seen)}
    unknown = [name for name in wanted if find_instance_type(name) is None]
    if unknown:
        raise AwsError(
            "InvalidInstanceType", f"The following supplied instance types do not exist: [{', '.join(unknown)}]"
        )
    names = wanted or sorted(offered)
    found = [
        _describe(instance_type)
        for name in names
        if (instance_type := find_instance_type(name)) is not None and _matches(filters, "instance-type", name)
    ]
    chosen, token = page(found, params)
    return {"InstanceTypes": chosen, "NextToken": token}


OPERATIONS: dict[str, Handler] = {
    "DescribeInstanceTypeOfferings": describe_instance_type_offerings,
    "DescribeInstanceTypes": describe_instance_types,
}


def _offers(world: World) -> list[tuple[str, str]]:
    return [(zone_id, name) for zone_id, zone in world.zones.items() for name in zone.free]


def _location(world: World, zone_id: str, kind: str) -> str:
    by_kind = {"region": world.region, "availability-zone-id": zone_id}
    return by_kind.get(kind) or next(zone.name for zone in world.zones.values() if zone.zone_id == zone_id)


def _ec2_name(name: str) -> str:
    return name.removeprefix("ml.")


def _filters(params: Params, known: set[str]) -> dict[str, list[str]]:
    filters = {item.text("Name"): item.texts("Values") for item in params.structures("Filters")}
    unknown = set(filters) - known
    if unknown:
        raise AwsError("InvalidParameterValue", f"The filter '{unknown.pop()}' is invalid")
    return filters


def _matches(filters: dict[str, list[str]], name: str, value: str) -> bool:
    return name not in filters or any(fnmatchcase(value, pattern) for pattern in filters[name])


def _describe(instance_type: InstanceType) -> Reply:
    has_gpus = instance_type.accelerator is AcceleratorKind.NVIDIA_GPU
    has_neuron = instance_type.accelerator is AcceleratorKind.NEURON
    device = {"Name": instance_type.gpu_model, "Count": instance_type.accelerators}
    return {
        "InstanceType": instance_type.ec2_name,
        "CurrentGeneration": True,
        "SupportedUsageClasses": ["on-demand", "spot"],
        "VCpuInfo": {
            "DefaultVCpus": instance_type.vcpus,
            "DefaultCores": instance_type.vcpus // 2,
            "DefaultThreadsPerCore": 2,
        },
        "MemoryInfo": {"SizeInMiB": instance_type.memory_gib * 1024},
        "GpuInfo": {"Gpus": [{**device, "Manufacturer": "NVIDIA"}]} if has_gpus else None,
        "NeuronInfo": {"NeuronDevices": [device]} if has_neuron else None,
        "NetworkInfo": {
            "EfaSupported": instance_type.efa_interfaces > 0,
            "EfaInfo": {"MaximumEfaInterfaces": instance_type.efa_interfaces} if instance_type.efa_interfaces else None,
        },
    }
