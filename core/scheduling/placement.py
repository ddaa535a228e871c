"""Topology-aware placement: which domains the pods of a podset go to.

Source: Kueue v0.20 `pkg/cache/scheduler/tas_flavor_snapshot.go`, in three moves: count what fits in every leaf
and sum it upwards; pick the level and the domains that hold everything; walk down, keeping the number of
domains small. A "slice" is a number of pods that must share one domain of the slice level; without a request
it is a single pod in a leaf. A "leader" is the one pod of a small podset that is placed together with its
workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.scheduling.node_matching import matches_affinity, matches_labels, untolerated
from core.scheduling.policies import Gates
from core.scheduling.quantities import PODS
from core.scheduling.topology import Domain, LeafUsage, TopologyTree, leaf_amounts
from core.scheduling.world import Placement, PodSetRequest, SliceLayer, TopologyRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementAsk:
    """One podset to place, `count` pods of it."""

    podset: PodSetRequest
    count: int
    is_implied: bool = False
    """The flavor has a topology, but the podset asked for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementShort:
    """Why a podset cannot be placed: `fitting` of `wanted` slices found room, or the request is malformed."""

    podsets: tuple[str, ...]
    fitting: int
    wanted: int
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementResult:
    by_podset: Mapping[str, tuple[Placement, ...]]
    short: PlacementShort | None = None
    """Set when a podset found no room; those before it are in `by_podset`."""


class _CannotPlace(Exception):
    def __init__(self, problem: str, fitting: int = 0, wanted: int = 0) -> None:
        super().__init__(problem)
        self.problem, self.fitting, self.wanted = problem, fitting, wanted


def place_podsets(
    tree: TopologyTree, asks: Sequence[PlacementAsk], gates: Gates, *, as_if_empty: bool = False
) -> PlacementResult:
    """Place podsets in list order, those of one group together; each uses up room for the next.

    `as_if_empty` ignores what workloads use now: could it ever be placed?
    """
    placed: dict[str, tuple[Placement, ...]] = {}
    assumed: dict[tuple[str, ...], dict[str, int]] = {}
    for group in _grouped(asks):
        leader, worker = _leader_and_worker(group)
        try:
            found = _Search(tree, worker, leader, gates, assumed, as_if_empty).run()
        except _CannotPlace as short:
            return PlacementResult(
                by_podset=placed,
                short=PlacementShort(
                    podsets=tuple(ask.podset.name for ask in group),
                    fitting=short.fitting,
                    wanted=short.wanted,
                    problem=short.problem,
                ),
            )
        for ask in group:
            placed[ask.podset.name] = found[ask.podset.name]
            for place in found[ask.podset.name]:
                sums = assumed.setdefault(place.values, {})
                for resource, amount in leaf_amounts(ask.podset.requests, place.count).items():
                    sums[resource] = sums.get(resource, 0) + amount
    return PlacementResult(by_podset=placed)


def leaf_usage(flavor: str, podset: PodSetRequest, placement: Iterable[Placement]) -> list[LeafUsage]:
    """What the placed podset will use on each leaf."""
    return [LeafUsage(flavor, p.values, leaf_amounts(podset.requests, p.count)) for p in placement]


def _grouped(asks: Sequence[PlacementAsk]) -> list[list[PlacementAsk]]:
    groups: dict[str, list[PlacementAsk]] = {}
    for index, ask in enumerate(asks):
        groups.setdefault(f"/{index}" if ask.podset.group is None else f"={ask.podset.group}", []).append(ask)
    return list(groups.values())


def _leader_and_worker(group: list[PlacementAsk]) -> tuple[PlacementAsk | None, PlacementAsk]:
    """The smaller podset of two leads (the second, when they are equal)."""
    if len(group) == 1:
        return None, group[0]
    first, second = group[0], group[1]
    return (first, second) if first.count < second.count else (second, first)


@dataclass(slots=True)
class _Search:
    """One search; writes its counts into the scratch fields of the tree's domains."""

    tree: TopologyTree
    worker: PlacementAsk
    leader: PlacementAsk | None
    gates: Gates
    assumed: Mapping[tuple[str, ...], Mapping[str, int]]
    as_if_empty: bool
    level: int = 0
    slice_level: int = 0
    slice_size: int = 1
    inner_sizes: dict[int, int] = field(default_factory=dict)
    """Slice size of the levels inside the outermost slice level."""
    is_required: bool = False
    is_unconstrained: bool = False

    def run(self) -> dict[str, tuple[Placement, ...]]:
        self._read_request()
        leaders = 0 if self.leader is None else 1
        self._count_all(leaders)
        level, domains = self._find_level(self.level, leaders)
        domains = self._narrow(domains, self.worker.count // self.slice_size, leaders, self.slice_size)
        last = len(self.tree.levels) - 1
        while level < min(last, self.slice_level):
            children = self._by_capacity([child for domain in domains for child in domain.children])
            domains = self._narrow(children, self.worker.count // self.slice_size, leaders, self.slice_size)
            level += 1
        while level < last:
            domains = [kept for domain in domains for kept in self._descend(domain, level)]
            level += 1
        return self._placements(domains)

    def _read_request(self) -> None:
        request = self.worker.podset.topology or TopologyRequest()
        levels = self.tree.levels
        self.is_required = request.required is not None
        self.is_unconstrained = request.unconstrained or self.worker.is_implied or request.is_slices_only
        name = request.required or request.preferred
        if name is None:
            if request.is_slices_only:
                name = levels[0]
            elif request.unconstrained or self.worker.is_implied:
                name = levels[-1]
            else:
                raise _CannotPlace("no topology level requested")
        self.level = self._level(name)
        layers = request.slices
        self.slice_level = self._level(layers[0].level) if layers else len(levels) - 1
        if layers:
            if not layers[0].size:
                raise _CannotPlace("slice size missing")
            self.slice_size = layers[0].size
        if self.level > self.slice_level:
            raise _CannotPlace("slice level above the requested level")
        if self.gates.tas_multi_layer_topology:
            self._read_inner_layers(layers[1:])

    def _level(self, name: str) -> int:
        if name not in self.tree.levels:
            raise _CannotPlace(f"unknown topology level {name}")
        return self.tree.levels.index(name)

    def _read_inner_layers(self, layers: Sequence[SliceLayer]) -> None:
        size, level = self.slice_size, self.slice_level
        for layer in layers:
            inner = self._level(layer.level)
            if not layer.size or inner <= level or size % layer.size:
                raise _CannotPlace("inner slices must be lower and divide the outer ones")
            self.inner_sizes.update(dict.fromkeys(range(level + 1, inner + 1), layer.size))
            size, level = layer.size, inner

    def _count_all(self, leaders: int) -> None:
        for leaf in self.tree.leaves:
            self._count_leaf(leaf)
        for domain in self.tree.by_level[0].values():
            self._sum_up(domain, leaders)

    def _count_leaf(self, leaf: Domain) -> None:
        leaf.pods = leaf.pods_with_leader = leaf.slices = leaf.slices_with_leader = leaf.leaders = 0
        if leaf.node is not None and not self._accepts(leaf):
            return
        taken = self.assumed.get(self.tree.shown_values(leaf), {})
        used = {} if self.as_if_empty else leaf.used
        room = {r: free - used.get(r, 0) - taken.get(r, 0) for r, free in leaf.free.items()}
        leaf.pods = _count_in(room, self.worker.podset.requests)
        if self.leader is not None and _count_in(room, self.leader.podset.requests) > 0:
            leaf.leaders = 1
            for resource, amount in leaf_amounts(self.leader.podset.requests, 1).items():
                room[resource] = room.get(resource, 0) - amount
        leaf.pods_with_leader = _count_in(room, self.worker.podset.requests)

    def _accepts(self, leaf: Domain) -> bool:
        node, podset = leaf.node, self.worker.podset
        return node is not None and (
            untolerated(node.taints, (*podset.tolerations, *self.tree.flavor.tolerations)) is None
            and matches_labels(node.labels, podset.node_selector)
            and matches_affinity(node.labels, podset.affinity)
        )

    def _sum_up(self, domain: Domain, leaders: int) -> None:
        """Pods and slices that fit below `domain`; with a leader, the cheapest child to put it in pays."""
        if domain.children:
            domain.pods = domain.slices = domain.leaders = 0
            cost_pods: int | None = None
            cost_slices: int | None = None
            inner = self.inner_sizes.get(domain.level + 1, 1)
            for child in domain.children:
                self._sum_up(child, leaders)
                pods = child.pods - child.pods % inner
                with_leader = child.pods_with_leader - child.pods_with_leader % inner
                domain.pods += pods
                domain.slices += child.slices
                domain.leaders = max(domain.leaders, child.leaders)
                if not leaders or child.leaders:
                    cost_pods = min(pods - with_leader, pods if cost_pods is None else cost_pods)
                    cost = child.slices - child.slices_with_leader
                    cost_slices = cost if cost_slices is None else min(cost, cost_slices)
            domain.pods_with_leader = 0 if cost_pods is None else domain.pods - cost_pods
            domain.slices_with_leader = 0 if cost_slices is None else domain.slices - cost_slices
        if domain.level == self.slice_level:
            domain.slices = domain.pods // self.slice_size
            domain.slices_with_leader = domain.pods_with_leader // self.slice_size

    @property
    def _least_free_first(self) -> bool:
        return self.is_unconstrained and self.gates.tas_profile_mixed

    def _find_level(self, level: int, leaders: int) -> tuple[int, list[Domain]]:
        """The level, from the requested one upwards, and the domains there that hold everything."""
        wanted = self.worker.count // self.slice_size
        domains = self._by_capacity(self.tree.by_level[level].values(), with_leader=True)
        if not domains:
            raise _CannotPlace("no domains at the requested level", 0, wanted)
        if self._least_free_first:
            for domain in domains:
                if domain.holds(wanted, leaders):
                    return level, [domain]
        elif domains[0].holds(wanted, leaders):
            return level, [_best_fit(domains, wanted, leaders)]
        if self.is_required:
            raise _CannotPlace("", max(domain.slices_with_leader for domain in domains), wanted)
        if level > 0 and not self.is_unconstrained:
            return self._find_level(level - 1, leaders)
        return level, self._spread(domains, wanted, leaders)

    def _spread(self, domains: list[Domain], wanted: int, leaders: int) -> list[Domain]:
        """Several domains of one level: first one that takes the leader, then the roomiest for the rest."""
        taken: list[Domain] = []
        rest = wanted
        if leaders:
            domains = _leader_first(domains, wanted)
            if not domains[0].leaders:
                raise _CannotPlace("no room for the leader", 0, wanted)
            first = domains.pop(0)
            taken.append(first)
            rest -= first.slices_with_leader
        others = self._by_capacity(domains)
        for position, first in enumerate(others):
            if rest <= 0:
                break
            domain = first
            if not self._least_free_first and first.slices >= rest:
                domain = _best_fit(others[position:], rest, 0)
            taken.append(domain)
            rest -= domain.slices
        if rest > 0:
            raise _CannotPlace("", wanted - rest, wanted)
        return taken

    def _descend(self, domain: Domain, level: int) -> list[Domain]:
        """Below the slice level each domain's own pods are shared out among its own children."""
        size = self.inner_sizes.get(level + 1, 1)
        children = self._by_capacity(domain.children)
        for child in children:
            child.slices = child.pods // size
            child.slices_with_leader = child.pods_with_leader // size
        return self._narrow(children, domain.pods // size, domain.leaders, size)

    def _narrow(self, domains: list[Domain], wanted: int, leaders: int, size: int) -> list[Domain]:
        """Keep as few domains as hold `wanted` slices of `size`; afterwards `pods` is what each is given."""
        if leaders:
            domains = _leader_first(domains, wanted)
        kept: list[Domain] = []
        for index, first in enumerate(domains):
            domain = first
            if domain.holds(wanted, leaders) and not self._least_free_first:
                domain = _best_fit(domains[index:], wanted, leaders)
            is_last = domain.holds(wanted, leaders)
            given = wanted if is_last else min(domain.room(leaders), wanted)
            domain.leaders = min(domain.leaders, leaders)
            domain.slices, domain.pods = given, given * size
            kept.append(domain)
            if is_last:
                return kept
            wanted -= given
            leaders -= domain.leaders
        raise _CannotPlace("counts changed under the search", 0, wanted)

    def _by_capacity(self, domains: Iterable[Domain], *, with_leader: bool = False) -> list[Domain]:
        sign = 1 if self._least_free_first else -1
        if with_leader:
            return sorted(
                domains,
                key=lambda d: (-d.leaders, sign * d.slices_with_leader, d.pods_with_leader, d.path),
            )
        return sorted(domains, key=lambda d: (sign * d.slices, d.pods, d.path))

    def _placements(self, domains: list[Domain]) -> dict[str, tuple[Placement, ...]]:
        ordered = sorted(domains, key=lambda d: d.path)
        values = self.tree.shown_values
        found = {self.worker.podset.name: tuple(Placement(values=values(d), count=d.pods) for d in ordered if d.pods)}
        if self.leader is not None:
            found[self.leader.podset.name] = tuple(
                Placement(values=values(d), count=d.leaders) for d in ordered if d.leaders
            )
        return found


def _count_in(room: Mapping[str, int], requests: Mapping[str, int]) -> int:
    """Pods of these requests that fit, each taking one pod slot."""
    count = max(0, room.get(PODS, 0))
    for resource, amount in requests.items():
        if amount > 0 and resource != PODS:
            count = min(count, max(0, room.get(resource, 0)) // amount)
    return count


def _best_fit(domains: Sequence[Domain], wanted: int, leaders: int) -> Domain:
    """The first of the smallest domains that hold everything; the first of all when none does."""
    best = domains[0]
    for domain in domains:
        if domain.holds(wanted, leaders) and domain.room(leaders) < best.room(leaders):
            best = domain
    return best


def _leader_first(domains: Sequence[Domain], wanted: int) -> list[Domain]:
    """The first domain whose loss by taking the leader the others can make up for moves to the front."""
    slack = sum(domain.slices for domain in domains) - wanted
    for index, domain in enumerate(domains):
        if domain.leaders and domain.slices - domain.slices_with_leader <= slack:
            return [domain, *domains[:index], *domains[index + 1 :]]
    return list(domains)
