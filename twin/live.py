"""The world in the words of a scenario's `live` block, which scoring compares with what was expected."""

from __future__ import annotations

from twin.world.state import Cluster, World


def live_state(world: World) -> dict[str, object]:
    """Clusters by name and the number of file systems. Jobs and readable mounts are the Kubernetes half's to add."""
    return {
        "clusters": {name: _cluster(world, cluster) for name, cluster in world.clusters.items()},
        "file_systems": len(world.file_systems),
        "eks_clusters": {name: eks.status for name, eks in world.eks.items()},
        "free": {zone_id: dict(zone.free) for zone_id, zone in world.zones.items()},
    }


def _cluster(world: World, cluster: Cluster) -> dict[str, object]:
    nodes = cluster.nodes.values()
    zones = sorted({node.zone for node in nodes if node.zone is not None})
    return {
        "orchestrator": "eks" if cluster.eks_name is not None else "slurm",
        "status": cluster.status,
        "zone": zones[0] if len(zones) == 1 else None,
        "zones": zones,
        "recovery": cluster.spec.get("NodeRecovery", "Automatic"),
        "nodes_running": sum(node.status == "Running" for node in nodes),
        "nodes_ready": sum(node.is_ready for node in nodes),
        "nodes_replaced": sum(node.replaced for node in nodes),
        "nodes_rebooted": sum(node.rebooted for node in nodes),
        "groups": {
            group.name: {
                "type": group.spec.get("InstanceType"),
                "running": sum(node.status == "Running" for node in cluster.nodes_of(group.name)),
                "target": group.target,
            }
            for group in cluster.groups.values()
        },
    }
