"""The world in the words of a scenario's `live` block, which scoring compares with what was expected."""

from __future__ import annotations

from collections.abc import Callable

from core.cluster.instance_types import find_instance_type
from core.cluster.quotas import DEFAULT_BORROW_LIMIT_PERCENT
from core.ids import ZoneId
from twin.ports import Workloads
from twin.world.governance import IN_FORCE, QUOTA
from twin.world.state import Cluster, Spec, World


def live_state(
    world: World, workloads: Workloads | None, zones_of: Callable[[Cluster], set[ZoneId]]
) -> dict[str, object]:
    """Clusters by name and the number of file systems; jobs and readable mounts are the Kubernetes half's to tell."""
    return {
        "clusters": {
            name: _cluster(world, cluster, zones_of(cluster)) | _work(cluster, workloads)
            for name, cluster in world.clusters.items()
        },
        "file_systems": len(world.file_systems),
        "eks_clusters": {name: eks.status for name, eks in world.eks.items()},
        "free": {zone_id: dict(zone.free) for zone_id, zone in world.zones.items()},
    }


def _cluster(world: World, cluster: Cluster, zones: set[ZoneId]) -> dict[str, object]:
    nodes = cluster.nodes.values()
    return {
        "orchestrator": "eks" if cluster.eks_name is not None else "slurm",
        "status": cluster.status,
        "zone": next(iter(zones)) if len(zones) == 1 else None,
        "zones": sorted(zones),
        "recovery": cluster.spec.get("NodeRecovery", "Automatic"),
        "nodes_running": sum(node.status == "Running" for node in nodes),
        "nodes_ready": sum(node.is_ready for node in nodes),
        "nodes_replaced": sum(node.replaced for node in nodes),
        "nodes_rebooted": sum(node.rebooted for node in nodes),
        "nodes": [
            {
                "logical_id": node.logical_id,
                "instance_id": node.instance_id,
                "group": node.group,
                "zone": node.zone,
                "status": node.status,
                "is_ready": node.is_ready,
                "health": node.health,
            }
            for node in nodes
        ],
        "groups": {
            group.name: {
                "type": group.spec.get("InstanceType"),
                "running": sum(node.status == "Running" for node in cluster.nodes_of(group.name)),
                "target": group.target,
            }
            for group in cluster.groups.values()
        },
        "teams": {
            item.spec["ComputeQuotaTarget"]["TeamName"]: _team(item.spec["ComputeQuotaConfig"])
            for item in world.governance.values()
            if item.kind == QUOTA and item.cluster_arn == cluster.arn and item.status in IN_FORCE
        },
    }


def _team(config: Spec) -> dict[str, object]:
    sharing = config.get("ResourceSharingConfig", {})
    borrows = sharing.get("Strategy", "LendAndBorrow") == "LendAndBorrow"
    return {
        "accelerators": sum(_accelerators(item) for item in config.get("ComputeQuotaResources", [])),
        "borrow_percent": sharing.get("BorrowLimit", DEFAULT_BORROW_LIMIT_PERCENT) if borrows else 0,
    }


def _accelerators(resource: Spec) -> int:
    figures = find_instance_type(resource["InstanceType"])
    per_instance = figures.accelerators if figures is not None else 0
    return int(resource.get("Accelerators", resource.get("Count", 0) * per_instance))


def _work(cluster: Cluster, workloads: Workloads | None) -> dict[str, object]:
    if workloads is None or cluster.eks_name is None:
        groups = (group.spec.get("InstanceStorageConfigs", []) for group in cluster.groups.values())
        shared = (storage.get("FsxLustreConfig", {}).get("MountPath") for storages in groups for storage in storages)
        return {"jobs": {}, "mounts": sorted({path for path in shared if path})}
    return {
        "jobs": workloads.live_jobs(cluster.eks_name),
        "mounts": list(workloads.readable_mounts(cluster.eks_name)),
    }
