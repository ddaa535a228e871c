"""The tree of quotas: what each queue and cohort owns, lends, borrows and uses.

Leaves are queues, inner nodes cohorts. Amounts stand in lists indexed by `Slot`, so that a look-up costs an
index and an update touches only the path to the root. Rules: Kueue v0.20
`pkg/cache/scheduler/resource_node.go`; every figure of a node follows from its children's, so `add` and
`remove` are exact inverses in any order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.quantities import (
    UNLIMITED,
    FlavorResource,
    Slot,
    Usage,
    saturating_difference,
    saturating_sum,
)
from core.scheduling.world import ClusterQueue, Cohort, Quota, ResourceGroup


class DominantShare(NamedTuple):
    """How far a node lives beyond its own quota. `rank` compares as fair sharing does."""

    weighted: float
    ratio: float
    is_borrowing: bool
    resource: str
    rank: tuple[float, float]
    """Weighted share first, then (for two infinite ones) the bare ratio."""

    @property
    def shown(self) -> int:
        """The whole number that Kueue reports."""
        return UNLIMITED if math.isinf(self.weighted) else math.ceil(self.weighted)


class QuotaNode:
    """One queue or cohort. `usage` is all that its subtree uses and does not cover from local quota."""

    __slots__ = (
        "borrowing_limit",
        "lending_limit",
        "local",
        "name",
        "nominal",
        "parent",
        "path",
        "potential",
        "share",
        "subtree",
        "usage",
        "weight",
    )

    def __init__(self, name: str, weight: float, quotas: Mapping[Slot, Quota], slot_count: int) -> None:
        self.name = name
        self.weight = weight
        self.parent: CohortNode | None = None
        self.path: tuple[CohortNode, ...] = ()
        """Ancestors, from the parent to the root."""
        self.nominal = [0] * slot_count
        self.borrowing_limit: list[int | None] = [None] * slot_count
        self.lending_limit: list[int | None] = [None] * slot_count
        self.subtree = [0] * slot_count
        """Nominal quota of the node and everything below it that is lent upwards."""
        self.local = [0] * slot_count
        """The part of `subtree` that the parent never sees."""
        self.potential = [0] * slot_count
        """Most that the node could ever use."""
        self.usage = [0] * slot_count
        self.share: DominantShare | None = None
        """What `dominant_share` found for the present usage; forgotten when that changes."""
        for slot, quota in quotas.items():
            self.nominal[slot] = quota.nominal
            self.borrowing_limit[slot] = quota.borrowing_limit
            self.lending_limit[slot] = quota.lending_limit

    @property
    def root(self) -> QuotaNode:
        return self.path[-1] if self.path else self

    def available(self, slot: Slot) -> int:
        """What the node can still take, its own and borrowed. Negative when others took too much."""
        parent = self.parent
        usage = self.usage[slot]
        if parent is None:
            return saturating_difference(self.subtree[slot], usage)
        from_parent = parent.available(slot)
        beyond_local = usage - self.local[slot]
        limit = self.borrowing_limit[slot]
        if limit is not None:
            room = self.subtree[slot] - self.local[slot] + limit
            if beyond_local > 0:
                room -= beyond_local
            from_parent = min(from_parent, room)
        if beyond_local >= 0 or from_parent >= UNLIMITED:
            return from_parent
        return from_parent - beyond_local

    def local_free(self, slot: Slot) -> int:
        return max(0, self.local[slot] - self.usage[slot])

    def would_borrow(self, slot: Slot, amount: int) -> bool:
        """Whether the subtree would use more than it owns with `amount` more."""
        return self.usage[slot] + amount > self.subtree[slot]

    def is_within_nominal(self, slots: Iterable[Slot]) -> bool:
        usage, subtree = self.usage, self.subtree
        for slot in slots:  # noqa: SIM110  a generator costs three times as much here
            if usage[slot] > subtree[slot]:
                return False
        return True

    def add(self, slot: Slot, amount: int) -> None:
        """Use `amount` more; what local quota does not cover goes on to the parent."""
        node: QuotaNode = self
        while True:
            free = node.local[slot] - node.usage[slot]
            node.usage[slot] += amount
            node.share = None
            if node.parent is None:
                return
            if free > 0:
                amount -= free
                if amount <= 0:
                    return
            node = node.parent

    def remove(self, slot: Slot, amount: int) -> None:
        """The inverse of `add`."""
        node: QuotaNode = self
        while True:
            stored_in_parent = node.usage[slot] - node.local[slot]
            node.usage[slot] -= amount
            node.share = None
            if node.parent is None or stored_in_parent <= 0:
                return
            amount = min(amount, stored_in_parent)
            node = node.parent

    def add_all(self, usage: Usage) -> None:
        for slot, amount in usage:
            self.add(slot, amount)

    def remove_all(self, usage: Usage) -> None:
        for slot, amount in usage:
            self.remove(slot, amount)

    def fits(self, usage: Usage) -> bool:
        for slot, amount in usage:  # noqa: SIM110  a generator costs three times as much here
            if amount > self.available(slot):
                return False
        return True

    def borrow_level(self, slot: Slot, amount: int) -> tuple[int, bool]:
        """(height of the lowest subtree that holds `amount` without borrowing, whether reclaim may help).

        0 = the node's own quota; each cohort layer adds one. When even the root must overdraw, the root's
        height comes with False. Source: Kueue v0.20 `FindHeightOfLowestSubtreeThatFits`.
        """
        if self.parent is None or not self.would_borrow(slot, amount):
            return 0, self.parent is not None
        rest = amount - self.local_free(slot)
        for ancestor in self.path:
            if not ancestor.would_borrow(slot, rest):
                return ancestor.height, ancestor.parent is not None
            rest -= ancestor.local_free(slot)
        return self.path[-1].height, False


class QueueNode(QuotaNode):
    """A leaf, with the settings that decisions read."""

    __slots__ = ("facts",)

    def __init__(self, facts: ClusterQueue, quotas: Mapping[Slot, Quota], slot_count: int) -> None:
        super().__init__(facts.name, facts.weight, quotas, slot_count)
        self.facts = facts


class CohortNode(QuotaNode):
    """An inner node. `height` is 0 without children, 1 above queues, one more per cohort layer."""

    __slots__ = ("cohorts", "height", "queues")

    def __init__(self, name: str, weight: float, quotas: Mapping[Slot, Quota], slot_count: int) -> None:
        super().__init__(name, weight, quotas, slot_count)
        self.queues: list[QueueNode] = []
        self.cohorts: list[CohortNode] = []
        self.height = 0

    def all_queues(self) -> Iterator[QueueNode]:
        yield from self.queues
        for cohort in self.cohorts:
            yield from cohort.all_queues()


class QuotaTree:
    """All queues and cohorts, usually several trees. Raises `WorldInvalid` on a cycle of cohorts."""

    def __init__(
        self,
        cohorts: Sequence[Cohort],
        queues: Sequence[ClusterQueue],
        in_use: Iterable[FlavorResource] = (),
    ) -> None:
        """`in_use` names pairs that are used though no quota speaks of them."""
        self.pairs: list[FlavorResource] = []
        """The pair of each slot."""
        self._slots: dict[FlavorResource, Slot] = {}
        owners: list[Cohort | ClusterQueue] = [*cohorts, *queues]
        for owner in owners:
            for pair in _pairs(owner.groups):
                self._intern(pair)
        for pair in in_use:
            self._intern(pair)
        count = len(self.pairs)
        declared = {c.name: c for c in cohorts}
        parents = {q.cohort for q in queues} | {c.parent for c in cohorts}
        implied = sorted(p for p in parents if p is not None and p not in declared)
        self.cohorts: dict[str, CohortNode] = {
            c.name: CohortNode(c.name, c.weight, self._quotas(c.groups), count)
            for c in (*cohorts, *(Cohort(name=name) for name in implied))
        }
        self.queues: dict[str, QueueNode] = {q.name: QueueNode(q, self._quotas(q.groups), count) for q in queues}
        self._link(declared)
        self.slots_by_resource: dict[str, list[Slot]] = {}
        for index, pair in enumerate(self.pairs):
            self.slots_by_resource.setdefault(pair.resource, []).append(Slot(index))

    def slot(self, pair: FlavorResource) -> Slot:
        """Raises `KeyError` for a pair that no queue or cohort names."""
        return self._slots[pair]

    def _intern(self, pair: FlavorResource) -> None:
        if pair not in self._slots:
            self._slots[pair] = Slot(len(self.pairs))
            self.pairs.append(pair)

    def find_slot(self, pair: FlavorResource) -> Slot | None:
        return self._slots.get(pair)

    @property
    def roots(self) -> list[CohortNode]:
        return [cohort for cohort in self.cohorts.values() if cohort.parent is None]

    def _quotas(self, groups: Sequence[ResourceGroup]) -> dict[Slot, Quota]:
        return {
            self.slot(FlavorResource(flavor.flavor, resource)): quota
            for group in groups
            for flavor in group.flavors
            for resource, quota in flavor.quotas.items()
        }

    def _link(self, declared: Mapping[str, Cohort]) -> None:
        for name, facts in declared.items():
            if facts.parent is not None:
                child, parent = self.cohorts[name], self.cohorts[facts.parent]
                child.parent = parent
                parent.cohorts.append(child)
        for queue in self.queues.values():
            if queue.facts.cohort is not None:
                queue.parent = self.cohorts[queue.facts.cohort]
                queue.parent.queues.append(queue)
        for node in (*self.cohorts.values(), *self.queues.values()):
            node.path = _path(node)
        for root in self.roots:
            _sum_up(root)
            _spread_down(root)
        for queue in self.queues.values():
            if queue.parent is None:
                queue.subtree = list(queue.nominal)
                queue.potential = list(queue.nominal)


def _pairs(groups: Sequence[ResourceGroup]) -> Iterator[FlavorResource]:
    for group in groups:
        for flavor in group.flavors:
            for resource in dict.fromkeys((*group.resources, *flavor.quotas)):
                yield FlavorResource(flavor.flavor, resource)


def _path(node: QuotaNode) -> tuple[CohortNode, ...]:
    path: list[CohortNode] = []
    parent = node.parent
    while parent is not None:
        if parent in path or parent is node:
            raise world_invalid(WorldField.COHORT_CYCLE, name=node.name, cycle=" > ".join(c.name for c in path))
        path.append(parent)
        parent = parent.parent
    return tuple(path)


def _sum_up(cohort: CohortNode) -> None:
    for child in cohort.cohorts:
        _sum_up(child)
    for queue in cohort.queues:
        queue.subtree = list(queue.nominal)
        _set_local(queue)
    children: list[QuotaNode] = [*cohort.queues, *cohort.cohorts]
    cohort.subtree = [
        saturating_sum(own, *(saturating_difference(child.subtree[i], child.local[i]) for child in children))
        for i, own in enumerate(cohort.nominal)
    ]
    _set_local(cohort)
    if cohort.cohorts:
        cohort.height = 1 + max(child.height for child in cohort.cohorts)
    else:
        cohort.height = 1 if cohort.queues else 0


def _set_local(node: QuotaNode) -> None:
    node.local = [0 if limit is None else max(0, node.subtree[i] - limit) for i, limit in enumerate(node.lending_limit)]


def _spread_down(node: QuotaNode) -> None:
    parent = node.parent
    if parent is None:
        node.potential = list(node.subtree)
    else:
        for i, limit in enumerate(node.borrowing_limit):
            most = saturating_sum(node.local[i], parent.potential[i])
            node.potential[i] = most if limit is None else min(saturating_sum(node.subtree[i], limit), most)
    if isinstance(node, CohortNode):
        for child in (*node.queues, *node.cohorts):
            _spread_down(child)
