"""The state that decisions are made on: the quota tree filled with the admitted workloads.

It is kept from cycle to cycle and changed step by step. A simulation takes workloads out and puts them back
(`taken_out`); as usage in the tree is a sum, what is put back restores every figure exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.holders import Holder, QueueHolders
from core.scheduling.policies import SchedulerConfig
from core.scheduling.quantities import FlavorResource, Slot, Usage
from core.scheduling.quota_tree import CohortNode, QueueNode, QuotaTree
from core.scheduling.topology import TopologyForest, placed_usage
from core.scheduling.world import AdmittedWorkload, ResourceFlavor, World


class Snapshot:
    """Quota tree, holders by queue, and free capacity of the topologies."""

    def __init__(self, world: World) -> None:
        self.config: SchedulerConfig = world.config
        self.flavors: Mapping[str, ResourceFlavor] = {flavor.name: flavor for flavor in world.flavors}
        self.tree = QuotaTree(world.cohorts, world.queues, _pairs_in_use(world.admitted))
        self.topology = TopologyForest(world.topologies, world.flavors, world.nodes)
        self.holders: dict[str, Holder] = {}
        self._by_queue: dict[str, QueueHolders] = {name: QueueHolders() for name in self.tree.queues}
        for workload in world.admitted:
            self.add(workload)

    def queue(self, name: str) -> QueueNode:
        return self.tree.queues[name]

    def holders_of(self, queue: QueueNode) -> QueueHolders:
        return self._by_queue[queue.name]

    def cohort_queues(self, queue: QueueNode) -> Iterator[QueueNode]:
        """Every queue of the tree that `queue` stands in."""
        root = queue.root
        if isinstance(root, CohortNode):
            yield from root.all_queues()
        else:
            yield queue

    def usage_of(self, workload: AdmittedWorkload) -> Usage:
        """Amounts by slot. Raises `WorldInvalid` for a flavor and resource that no quota names."""
        totals: dict[Slot, int] = {}
        for podset in workload.podsets:
            for resource, flavor in podset.flavors.items():
                slot = self.tree.find_slot(FlavorResource(flavor, resource))
                if slot is None:
                    raise world_invalid(WorldField.FLAVOR_UNKNOWN, name=workload.uid, flavor=flavor, resource=resource)
                totals[slot] = totals.get(slot, 0) + podset.usage.get(resource, 0)
        return tuple(sorted(totals.items()))

    def add(self, workload: AdmittedWorkload) -> Holder:
        """Count an admitted workload. Raises `WorldInvalid` for an unknown queue or a second one of its uid."""
        queue = self.tree.queues.get(workload.queue)
        if queue is None:
            raise world_invalid(WorldField.QUEUE_UNKNOWN, name=workload.uid, queue=workload.queue)
        if workload.uid in self.holders:
            raise world_invalid(WorldField.NAME_TWICE, name=workload.uid)
        holder = Holder(workload, queue, self.usage_of(workload))
        self.holders[holder.uid] = holder
        self._by_queue[queue.name].add(holder)
        queue.add_all(holder.usage)
        self.topology.add(placed_usage(workload))
        return holder

    def discard(self, uid: str) -> Holder | None:
        """Give back what the workload holds; `None` when it holds nothing."""
        holder = self.holders.pop(uid, None)
        if holder is not None:
            self._by_queue[holder.queue.name].discard(holder)
            holder.queue.remove_all(holder.usage)
            self.topology.remove(placed_usage(holder.facts))
        return holder

    def take_out(self, holder: Holder) -> None:
        """Simulate that the workload is gone."""
        holder.is_out = True
        holder.queue.remove_all(holder.usage)
        if self.topology.is_used:
            self.topology.remove(placed_usage(holder.facts))

    def put_back(self, holder: Holder) -> None:
        holder.is_out = False
        holder.queue.add_all(holder.usage)
        if self.topology.is_used:
            self.topology.add(placed_usage(holder.facts))

    @contextmanager
    def taken_out(self, holders: Iterable[Holder]) -> Iterator[None]:
        """The state without `holders`; those already out stay out."""
        out: list[Holder] = []
        for holder in holders:
            if not holder.is_out:
                self.take_out(holder)
                out.append(holder)
        try:
            yield
        finally:
            for holder in reversed(out):
                self.put_back(holder)

    @contextmanager
    def shielded(self, uids: Iterable[str]) -> Iterator[None]:
        """These workloads keep their usage, but cannot be victims."""
        holders = [holder for uid in uids if (holder := self.holders.get(uid)) is not None and not holder.is_out]
        for holder in holders:
            holder.is_out = True
        try:
            yield
        finally:
            for holder in holders:
                holder.is_out = False


def _pairs_in_use(admitted: Iterable[AdmittedWorkload]) -> Iterator[FlavorResource]:
    for workload in admitted:
        for podset in workload.podsets:
            for resource, flavor in podset.flavors.items():
                yield FlavorResource(flavor, resource)
