"""The nodes behind a flavor as a tree of domains (block, rack, host), with what is used of each leaf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.node_matching import matches_labels
from core.scheduling.quantities import PODS
from core.scheduling.world import AdmittedWorkload, ResourceFlavor, Topology, TopologyNode

HOSTNAME_LEVEL: Final = "kubernetes.io/hostname"
"""A topology whose innermost level this is has one node per leaf, and names leaves by host alone."""


class LeafUsage(NamedTuple):
    """What one podset uses in one leaf of one flavor."""

    flavor: str
    values: tuple[str, ...]
    amounts: Mapping[str, int]


class Domain:
    """A node of the tree. The last six fields are scratch paper of one placement search."""

    __slots__ = (
        "children",
        "free",
        "leaders",
        "level",
        "node",
        "path",
        "pods",
        "pods_with_leader",
        "slices",
        "slices_with_leader",
        "used",
    )

    def __init__(self, path: tuple[str, ...]) -> None:
        self.path = path
        self.level = len(path) - 1
        self.children: list[Domain] = []
        self.node: TopologyNode | None = None
        """Only on leaves of a topology that goes down to the host."""
        self.free: dict[str, int] = {}
        """Leaves only: allocatable less what stands outside the scheduler's sight."""
        self.used: dict[str, int] = {}
        self.pods = 0
        self.pods_with_leader = 0
        self.slices = 0
        self.slices_with_leader = 0
        self.leaders = 0

    def room(self, leaders: int) -> int:
        """Slices that fit, beside the leader if one is to be placed too."""
        return self.slices_with_leader if leaders else self.slices

    def holds(self, wanted: int, leaders: int) -> bool:
        return self.leaders >= leaders and self.room(leaders) >= wanted


class TopologyTree:
    """The domains that the ready, schedulable nodes of one flavor form."""

    def __init__(self, topology: Topology, flavor: ResourceFlavor, nodes: Iterable[TopologyNode]) -> None:
        self.levels = topology.levels
        self.flavor = flavor
        self.is_host_level = topology.levels[-1] == HOSTNAME_LEVEL
        self.by_level: list[dict[tuple[str, ...], Domain]] = [{} for _ in topology.levels]
        self._leaf_by_values: dict[tuple[str, ...], Domain] = {}
        for node in sorted(nodes, key=lambda n: n.name):
            if node.is_ready and node.is_schedulable and matches_labels(node.labels, flavor.labels):
                self._add_node(node)

    @property
    def leaves(self) -> Iterable[Domain]:
        return self.by_level[-1].values()

    def leaf(self, values: tuple[str, ...]) -> Domain | None:
        return self._leaf_by_values.get(values)

    def shown_values(self, domain: Domain) -> tuple[str, ...]:
        """The values by which a leaf is named in a placement."""
        return domain.path[-1:] if self.is_host_level else domain.path

    def _add_node(self, node: TopologyNode) -> None:
        path = tuple(node.labels.get(level, "") for level in self.levels)
        if "" in path:
            return  # a node without all level labels is outside the topology (Kueue's rule)
        parent: Domain | None = None
        for depth in range(len(path)):
            key = path[: depth + 1]
            domain = self.by_level[depth].get(key)
            if domain is None:
                domain = self.by_level[depth][key] = Domain(key)
                if parent is not None:
                    parent.children.append(domain)
            parent = domain
        assert parent is not None
        self._leaf_by_values[self.shown_values(parent)] = parent
        if self.is_host_level:
            parent.node = node
        for resource, amount in node.allocatable.items():
            parent.free[resource] = parent.free.get(resource, 0) + amount - node.used.get(resource, 0)


class TopologyForest:
    """One tree per flavor that names a topology."""

    def __init__(
        self, topologies: Sequence[Topology], flavors: Sequence[ResourceFlavor], nodes: Sequence[TopologyNode]
    ) -> None:
        by_name = {topology.name: topology for topology in topologies}
        self.trees: dict[str, TopologyTree] = {}
        for flavor in flavors:
            if flavor.topology is None:
                continue
            topology = by_name.get(flavor.topology)
            if topology is None:
                raise world_invalid(WorldField.TOPOLOGY_UNKNOWN, name=flavor.name, topology=flavor.topology)
            self.trees[flavor.name] = TopologyTree(topology, flavor, nodes)
        self.is_used = bool(self.trees)

    def add(self, usages: Iterable[LeafUsage]) -> None:
        self._change(usages, 1)

    def remove(self, usages: Iterable[LeafUsage]) -> None:
        self._change(usages, -1)

    def _change(self, usages: Iterable[LeafUsage], sign: int) -> None:
        for usage in usages:
            tree = self.trees.get(usage.flavor)
            leaf = None if tree is None else tree.leaf(usage.values)
            if leaf is not None:  # a node that is gone holds nothing any more
                for resource, amount in usage.amounts.items():
                    leaf.used[resource] = leaf.used.get(resource, 0) + sign * amount

    def fits(self, usages: Iterable[LeafUsage]) -> bool:
        """Whether every leaf still holds what is to be put on it."""
        wanted: dict[tuple[str, tuple[str, ...]], dict[str, int]] = {}
        for usage in usages:
            sums = wanted.setdefault((usage.flavor, usage.values), {})
            for resource, amount in usage.amounts.items():
                sums[resource] = sums.get(resource, 0) + amount
        for (flavor, values), amounts in wanted.items():
            leaf = self.trees[flavor].leaf(values)
            if leaf is None:
                return False
            if any(a > leaf.free.get(r, 0) - leaf.used.get(r, 0) for r, a in amounts.items()):
                return False
        return True


def placed_usage(workload: AdmittedWorkload) -> list[LeafUsage]:
    """What a placed workload uses on each leaf, one pod slot per pod included."""
    usages: list[LeafUsage] = []
    for podset in workload.podsets:
        if not podset.placement or podset.count == 0:
            continue
        flavors = set(podset.flavors.values())
        for flavor in flavors:
            per_pod = {
                resource: total // podset.count
                for resource, total in podset.usage.items()
                if resource != PODS and podset.flavors.get(resource) == flavor
            }
            usages.extend(
                LeafUsage(flavor, place.values, leaf_amounts(per_pod, place.count)) for place in podset.placement
            )
    return usages


def leaf_amounts(per_pod: Mapping[str, int], count: int) -> dict[str, int]:
    return {**{resource: amount * count for resource, amount in per_pod.items()}, PODS: count}
