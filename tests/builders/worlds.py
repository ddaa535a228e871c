"""Worlds that a twin can begin with."""

from __future__ import annotations

from twin.world.specification import ClusterSpec, GroupSpec, WorldSpec


def world_with_cluster(
    name: str = "base", *, nodes: int = 4, instance_type: str = "ml.g5.12xlarge", orchestrator: str = "eks"
) -> WorldSpec:
    """One healthy cluster that Muster did not make."""
    return WorldSpec(
        region="us-west-2",
        zones={"usw2-az1": {instance_type: 8}, "usw2-az2": {instance_type: 8}},
        quotas={instance_type: 20},
        clusters=(
            ClusterSpec(
                name=name,
                orchestrator="slurm" if orchestrator == "slurm" else "eks",
                zone="usw2-az1",
                groups=(GroupSpec(name="workers", type=instance_type, count=nodes),),
            ),
        ),
    )
