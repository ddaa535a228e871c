"""Pools of like capacity: one instance type under one purchase, which the scheduler sees as a flavor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.cluster.clusters import CapacityMode, Cluster, Node
from core.cluster.instance_types import AcceleratorKind, InstanceType
from core.ids import InstanceTypeName
from core.scheduling.quantities import PODS
from core.scheduling.topology import HOSTNAME_LEVEL
from core.scheduling.world import TopologyNode

EFA: Final = "vpc.amazonaws.com/efa"
INSTANCE_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
CAPACITY_LABEL: Final = "muster.dev/capacity"
"""Ours: the pool that a node belongs to, as spot and plan nodes of one type look alike otherwise."""
GIB: Final = 2**30
PODS_PER_NODE: Final = 110
"""Kubernetes' own default of `maxPods`."""

_PREFERENCE: Final = (CapacityMode.TRAINING_PLAN, CapacityMode.ON_DEMAND, CapacityMode.SPOT)
"""What is paid for anyway is used first, what may be taken away last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPool:
    """`count` usable instances. Spot has its own flavor, as its nodes may vanish; so has each training plan."""

    instance_type: InstanceTypeName
    count: int
    mode: CapacityMode = CapacityMode.ON_DEMAND
    plan: str = ""
    mig: Mapping[str, int] = field(default_factory=dict)
    """MIG partitions per instance, by profile (`mig-1g.5gb`): GPUs so divided are not whole GPUs any more."""

    @property
    def is_spot(self) -> bool:
        return self.mode is CapacityMode.SPOT

    @property
    def labels(self) -> dict[str, str]:
        """What the flavor and its nodes have in common."""
        return {INSTANCE_TYPE_LABEL: str(self.instance_type), CAPACITY_LABEL: self.flavor}

    @property
    def flavor(self) -> str:
        """`ml.p5.48xlarge`, `ml.p5.48xlarge@spot`, `ml.p5.48xlarge@plan-name`."""
        if self.mode is CapacityMode.ON_DEMAND:
            return str(self.instance_type)
        return f"{self.instance_type}@{'spot' if self.is_spot else f'plan-{self.plan}'}"


def pools_of(cluster: Cluster, nodes: Iterable[Node]) -> tuple[CapacityPool, ...]:
    """Usable nodes by instance type and purchase; types of a flexible group in its order, then those without nodes.

    A node that is not Running, not ready or unhealthy does not count (Continuous provisioning reports
    InService while nodes are still missing).
    """
    groups = {group.name: group for group in cluster.groups}
    counts: dict[tuple[InstanceTypeName, CapacityMode, str], int] = {}
    for group in cluster.groups:
        for name in group.instance_types:
            counts.setdefault((name, group.capacity, group.training_plan or ""), 0)
    for node in nodes:
        owner = groups.get(node.group)
        if owner is not None and node.is_usable:
            key = (node.instance_type, owner.capacity, owner.training_plan or "")
            counts[key] = counts.get(key, 0) + 1
    return tuple(
        CapacityPool(instance_type=name, mode=mode, plan=plan, count=count)
        for (name, mode, plan), count in counts.items()
    )


def pool_order(pools: Sequence[CapacityPool], preferred: Sequence[InstanceTypeName]) -> list[CapacityPool]:
    """The order in which a queue tries flavors: its own instance types in their order, then the others in theirs."""
    names = list(dict.fromkeys((*preferred, *(pool.instance_type for pool in pools))))
    return sorted(
        pools,
        key=lambda pool: (names.index(pool.instance_type), _PREFERENCE.index(pool.mode), pool.plan),
    )


def whole_instances(figures: InstanceType, count: int, mig: Mapping[str, int] | None = None) -> dict[str, int]:
    """What `count` instances bring: cpu in millicores, memory in bytes, the rest in pieces."""
    brings = {"cpu": figures.vcpus * 1000, "memory": figures.memory_gib * GIB, EFA: figures.efa_interfaces}
    if figures.accelerator is not AcceleratorKind.NONE and not mig:
        brings[figures.accelerator.value] = figures.accelerators
    brings |= {mig_resource(profile): pieces for profile, pieces in (mig or {}).items()}
    return {resource: amount * count for resource, amount in brings.items() if amount}


def mig_resource(profile: str) -> str:
    """`nvidia.com/mig-1g.5gb`, the name under which the device plugin offers a partition."""
    return f"nvidia.com/{profile}"


def topology_node(
    node: Node, pool: CapacityPool, figures: InstanceType, labels: Mapping[str, str], zone_level: str
) -> TopologyNode:
    """A node of `pool` as placement sees it. `labels` are those of the cluster, such as AWS's network layers."""
    zone = {zone_level: str(node.zone)} if node.zone else {}
    return TopologyNode(
        name=str(node.logical_id),
        labels={**labels, **zone, **pool.labels, HOSTNAME_LEVEL: str(node.logical_id)},
        allocatable={**whole_instances(figures, 1, pool.mig), PODS: PODS_PER_NODE},
        is_ready=node.is_usable,
    )
