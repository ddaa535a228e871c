"""FSx for Lustre: its life cycle, its mount name, its tokens, and the sizes and speeds that it sells."""

from __future__ import annotations

from typing import Final

from core.ids import ZoneId
from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, NotInTwin
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.aws.tokens import remembered
from twin.world import durations
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import ACCOUNT, FileSystem, Spec, World

THROUGHPUTS: Final = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
"""MB/s per TiB that may be bought (FSx documentation)."""
TOKEN_LIFE_SECONDS = 24 * 3600.0
ELASTIC = "INTELLIGENT_TIERING"


def timer_actions() -> dict[str, TimerAction]:
    return {"fsx.available": _available, "fsx.gone": _gone, "fsx.updated": _updated, "fsx.linked": _linked}


def create_file_system(ctx: Context, params: Params) -> Reply:
    if params.text("FileSystemType") != "LUSTRE":
        raise NotInTwin(f"file systems of type {params.text('FileSystemType')}")

    def act() -> tuple[Reply, list[str]]:
        made = _create(ctx, params)
        return {"FileSystem": _describe(ctx, made)}, [made.file_system_id]

    return remembered(
        ctx,
        "CreateFileSystem",
        params,
        act,
        lambda made: {"FileSystem": _describe(ctx, _find(ctx.sim.world, made[0]))},
        member="ClientRequestToken",
        life_seconds=TOKEN_LIFE_SECONDS,
        mismatch="IncompatibleParameterError",
    )


def describe_file_systems(ctx: Context, params: Params) -> Reply:
    wanted = params.texts("FileSystemIds")
    systems = [_find(ctx.seen, name) for name in wanted] if wanted else list(ctx.seen.file_systems.values())
    chosen, token = page(systems, params)
    return {"FileSystems": [_describe(ctx, each) for each in chosen], "NextToken": token}


def update_file_system(ctx: Context, params: Params) -> Reply:
    system = _find(ctx.sim.world, params.text("FileSystemId"))
    if system.status != "AVAILABLE":
        raise AwsError("BadRequest", f"File system {system.file_system_id} is {system.status}.")
    lustre = params.structure("LustreConfiguration").to_json()
    size = params.integer("StorageCapacity", system.spec.get("StorageCapacity", 0))
    if size < system.spec.get("StorageCapacity", 0):
        raise AwsError("BadRequest", "Storage capacity can only be increased.")
    spec = system.spec | {"StorageCapacity": size} if "StorageCapacity" in params else dict(system.spec)
    spec["LustreConfiguration"] = system.spec.get("LustreConfiguration", {}) | lustre
    _check(Params(spec))
    system.spec, system.status = spec, "UPDATING"
    ctx.sim.after(ctx.sim.between(durations.FILE_SYSTEM_CREATE), "fsx.updated", id=system.file_system_id)
    return {"FileSystem": _describe(ctx, system)}


def delete_file_system(ctx: Context, params: Params) -> Reply:
    system = _find(ctx.sim.world, params.text("FileSystemId"))
    if system.status == "DELETING":
        ctx.outcome.took_effect = False
    else:
        system.status = "DELETING"
        ctx.sim.after(ctx.sim.between(durations.FILE_SYSTEM_DELETE), "fsx.gone", id=system.file_system_id)
    return {"FileSystemId": system.file_system_id, "Lifecycle": "DELETING"}


def create_data_repository_association(ctx: Context, params: Params) -> Reply:
    def act() -> tuple[Reply, list[str]]:
        system = _find(ctx.sim.world, params.text("FileSystemId"))
        if system.status != "AVAILABLE":
            raise AwsError("BadRequest", f"File system {system.file_system_id} is {system.status}.")
        name = f"dra-{ctx.sim.hex(17)}"
        association: Spec = {
            "AssociationId": name,
            "ResourceARN": ctx.arn("fsx", f"association/{system.file_system_id}/{name}"),
            "FileSystemId": system.file_system_id,
            "Lifecycle": "CREATING",
            "FileSystemPath": params.text("FileSystemPath", "/"),
            "DataRepositoryPath": params.text("DataRepositoryPath"),
            "S3": params.structure("S3").to_json() or None,
            "CreationTime": ctx.sim.now.timestamp(),
        }
        ctx.sim.world.associations[name] = association
        ctx.sim.after(ctx.sim.between(durations.FILE_SYSTEM_DELETE), "fsx.linked", id=name)
        return {"Association": association}, [name]

    return remembered(
        ctx,
        "CreateDataRepositoryAssociation",
        params,
        act,
        lambda made: {"Association": ctx.sim.world.associations[made[0]]},
        member="ClientRequestToken",
        life_seconds=TOKEN_LIFE_SECONDS,
        mismatch="IncompatibleParameterError",
    )


def describe_data_repository_associations(ctx: Context, params: Params) -> Reply:
    wanted = params.texts("AssociationIds")
    systems = {
        v
        for item in params.structures("Filters")
        if item.text("Name") == "file-system-id"
        for v in item.texts("Values")
    }
    found = [
        item
        for item in ctx.seen.associations.values()
        if (not wanted or item["AssociationId"] in wanted) and (not systems or item["FileSystemId"] in systems)
    ]
    chosen, token = page(found, params)
    return {"Associations": chosen, "NextToken": token}


def list_tags_for_resource(ctx: Context, params: Params) -> Reply:
    system = _find(ctx.seen, params.text("ResourceARN").rpartition("/")[2])
    return {"Tags": system.spec.get("Tags")}


OPERATIONS: dict[str, Handler] = {
    "CreateFileSystem": create_file_system,
    "DescribeFileSystems": describe_file_systems,
    "UpdateFileSystem": update_file_system,
    "DeleteFileSystem": delete_file_system,
    "CreateDataRepositoryAssociation": create_data_repository_association,
    "DescribeDataRepositoryAssociations": describe_data_repository_associations,
    "ListTagsForResource": list_tags_for_resource,
}


def make_file_system(sim: Simulation, file_system_id: str, subnet: tuple[str, str, str], spec: Spec) -> FileSystem:
    """Also for worlds that begin with one. `subnet`: id, VPC, zone."""
    system = FileSystem(
        file_system_id=file_system_id,
        status="CREATING",
        created_at=sim.now,
        mount_name=sim.short_id(8),
        vpc_id=subnet[1],
        zone=ZoneId(subnet[2]),
        spec=spec | {"SubnetIds": [subnet[0]]},
    )
    sim.world.file_systems[file_system_id] = system
    return system


def _create(ctx: Context, params: Params) -> FileSystem:
    subnets = params.texts("SubnetIds")
    if len(subnets) != 1:
        raise AwsError("BadRequest", "A Lustre file system takes exactly one subnet.")
    subnet = ctx.account.subnet(subnets[0])
    if subnet is None:
        message = f"The subnet ID '{subnets[0]}' does not exist."
        raise AwsError("InvalidNetworkSettings", message, extra={"InvalidSubnetId": subnets[0]})
    for group in params.texts("SecurityGroupIds"):
        if not ctx.account.has_security_group(group):
            message = f"The security group '{group}' does not exist."
            raise AwsError("InvalidNetworkSettings", message, extra={"InvalidSecurityGroupId": group})
    _check(params)
    spec = {key: value for key, value in params.items() if key != "ClientRequestToken"}
    system = make_file_system(ctx.sim, f"fs-{ctx.sim.hex(17)}", (subnet.subnet_id, subnet.vpc_id, subnet.zone), spec)
    ctx.sim.after(ctx.sim.between(durations.FILE_SYSTEM_CREATE), "fsx.available", id=system.file_system_id)
    return system


def _check(params: Params) -> None:
    """Sizes and throughputs that are sold."""
    lustre = params.structure("LustreConfiguration")
    deployment, storage = lustre.text("DeploymentType", "SCRATCH_1"), params.text("StorageType", "SSD")
    throughput = lustre.integer("PerUnitStorageThroughput")
    if storage == ELASTIC:
        if "StorageCapacity" in params:
            raise AwsError("BadRequest", f"StorageCapacity cannot be set for {ELASTIC}.")
        return
    allowed = THROUGHPUTS.get((deployment, storage), ())
    if deployment.startswith("PERSISTENT"):
        if throughput not in allowed:
            message = f"PerUnitStorageThroughput must be one of {list(allowed)} for {deployment} {storage}."
            raise AwsError("InvalidPerUnitStorageThroughput", message)
    elif "PerUnitStorageThroughput" in lustre:
        raise AwsError("BadRequest", f"PerUnitStorageThroughput cannot be set for {deployment}.")
    if "MetadataConfiguration" in lustre and deployment != "PERSISTENT_2":
        raise AwsError("BadRequest", "MetadataConfiguration needs the deployment type PERSISTENT_2.")
    if deployment == "PERSISTENT_2" and params.text("FileSystemTypeVersion") == "2.10":
        raise AwsError("BadRequest", "Lustre version 2.10 is not supported for PERSISTENT_2.")
    size = params.integer("StorageCapacity")
    if not _is_sold(size, deployment, storage, throughput):
        raise AwsError("BadRequest", f"StorageCapacity {size} GiB is not valid for {deployment} {storage}.")


def _is_sold(size: int, deployment: str, storage: str, throughput: int) -> bool:
    if storage == "HDD":
        step = 6000 if throughput == 12 else 1800
        return size > 0 and size % step == 0
    step = 3600 if deployment == "SCRATCH_1" else 2400
    return size == 1200 or (size > 0 and size % step == 0) or (deployment == "SCRATCH_1" and size == 2400)


def _find(world: World, file_system_id: str) -> FileSystem:
    if file_system_id not in world.file_systems:
        raise AwsError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
    return world.file_systems[file_system_id]


def _describe(ctx: Context, system: FileSystem) -> Reply:
    spec = system.spec
    lustre = spec.get("LustreConfiguration", {})
    return {
        "OwnerId": ACCOUNT,
        "CreationTime": system.created_at,
        "FileSystemId": system.file_system_id,
        "FileSystemType": "LUSTRE",
        "Lifecycle": system.status,
        "FailureDetails": {"Message": system.failure} if system.failure else None,
        "StorageCapacity": spec.get("StorageCapacity"),
        "StorageType": spec.get("StorageType", "SSD"),
        "VpcId": system.vpc_id,
        "SubnetIds": spec["SubnetIds"],
        "DNSName": f"{system.file_system_id}.fsx.{ctx.sim.world.region}.amazonaws.com",
        "ResourceARN": ctx.arn("fsx", f"file-system/{system.file_system_id}"),
        "Tags": spec.get("Tags"),
        "LustreConfiguration": {
            "DeploymentType": lustre.get("DeploymentType", "SCRATCH_1"),
            "PerUnitStorageThroughput": lustre.get("PerUnitStorageThroughput"),
            "MountName": system.mount_name,
            "DataCompressionType": lustre.get("DataCompressionType", "NONE"),
            "EfaEnabled": lustre.get("EfaEnabled", False),
            "MetadataConfiguration": lustre.get("MetadataConfiguration"),
            "ThroughputCapacity": lustre.get("ThroughputCapacity"),
        },
        "FileSystemTypeVersion": spec.get("FileSystemTypeVersion", _default_version(lustre)),
    }


def _default_version(lustre: Spec) -> str:
    if lustre.get("DeploymentType") != "PERSISTENT_2":
        return "2.10"
    return "2.15" if "MetadataConfiguration" in lustre else "2.12"


def _available(sim: Simulation, args: dict[str, str]) -> None:
    system = sim.world.file_systems.get(args["id"])
    if system is None or system.status != "CREATING":
        return
    system.status = "AVAILABLE"
    if sim.world.failing_file_systems > 0:
        sim.world.failing_file_systems -= 1
        system.status, system.failure = "FAILED", "Amazon FSx was unable to create the file system."


def _updated(sim: Simulation, args: dict[str, str]) -> None:
    system = sim.world.file_systems.get(args["id"])
    if system is not None and system.status == "UPDATING":
        system.status = "AVAILABLE"


def _gone(sim: Simulation, args: dict[str, str]) -> None:
    sim.world.file_systems.pop(args["id"], None)


def _linked(sim: Simulation, args: dict[str, str]) -> None:
    association = sim.world.associations.get(args["id"])
    if association is not None and association["Lifecycle"] == "CREATING":
        association["Lifecycle"] = "AVAILABLE"
