"""Which flavor each resource of a workload comes from.

Source: Kueue v0.20 `pkg/scheduler/flavorassigner/flavorassigner.go`. The flavors of a resource group are tried
in order; the first that makes further search pointless is taken, else the most preferred of those seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from core.scheduling.assignment import (
    Assignment,
    FitMode,
    FlavorAttempt,
    FlavorChoice,
    FlavorOutcome,
    ModeLevel,
    PlainWish,
    PodSetAssignment,
    rank,
)
from core.scheduling.node_matching import flavor_selects, untolerated
from core.scheduling.pending import Pending, PodSetAsk
from core.scheduling.policies import PreemptionPolicy, SchedulerConfig, WhenCanBorrow, WhenCanPreempt
from core.scheduling.quantities import PODS, FlavorResource, Slot
from core.scheduling.quota_tree import QueueNode, QuotaTree
from core.scheduling.topology import TopologyTree
from core.scheduling.world import PodSetRequest, ResourceFlavor, ResourceGroup


class PreemptionOracle(Protocol):
    """Answers what preemption could do for one slot."""

    def outlook(self, pending: Pending, queue: QueueNode, slot: Slot, amount: int) -> ModeLevel:
        """`NO_CANDIDATES`, `PREEMPT` or `RECLAIM`, with the borrow level once the victims are gone."""


@dataclass(frozen=True, slots=True)
class _Option:
    """One flavor of a group, resolved."""

    name: str
    flavor: ResourceFlavor | None
    label_keys: frozenset[str]
    slots: Mapping[str, Slot]


@dataclass(frozen=True, slots=True)
class _Group:
    resources: frozenset[str]
    options: tuple[_Option, ...]


_NO_FIT = ModeLevel(FitMode.NO_FIT, 0)
_FITS = ModeLevel(FitMode.FIT, 0)


class FlavorAssigner:
    """Assigns flavors against the quota tree as it stands; changes nothing."""

    def __init__(
        self,
        tree: QuotaTree,
        flavors: Mapping[str, ResourceFlavor],
        config: SchedulerConfig,
        oracle: PreemptionOracle,
        topologies: Mapping[str, TopologyTree] | None = None,
    ) -> None:
        self._tree = tree
        self._flavors = flavors
        self._gates = config.gates
        self._oracle = oracle
        self._fair_sharing = config.fair_sharing
        self._topologies = topologies or {}
        self._has_topology_only = {
            name: config.gates.topology_aware_scheduling and self._stands_on_topologies(queue)
            for name, queue in tree.queues.items()
        }
        self._groups: dict[str, dict[str, _Group]] = {
            name: self._compile(queue.facts.groups) for name, queue in tree.queues.items()
        }

    def _compile(self, groups: Sequence[ResourceGroup]) -> dict[str, _Group]:
        """resource -> its group; of two groups with one resource the first counts."""
        by_resource: dict[str, _Group] = {}
        for group in groups:
            compiled = _Group(
                frozenset(group.resources),
                tuple(self._option(quotas.flavor, group.resources) for quotas in group.flavors),
            )
            for resource in group.resources:
                by_resource.setdefault(resource, compiled)
        return by_resource

    def _option(self, name: str, resources: Iterable[str]) -> _Option:
        flavor = self._flavors.get(name)
        keys = frozenset() if flavor is None else frozenset(flavor.labels)
        return _Option(name, flavor, keys, {r: self._tree.slot(FlavorResource(name, r)) for r in resources})

    def assign(
        self,
        pending: Pending,
        queue: QueueNode,
        counts: Sequence[int] | None = None,
        pinned: Mapping[tuple[str, str], str] | None = None,
    ) -> Assignment:
        """`counts` by podset for partial admission; `pinned` restricts podset and resource to one flavor."""
        return _Run(self, pending, queue, pinned).assign(counts)

    def wishes(self, pending: Pending, queue: QueueNode) -> list[dict[Slot, int]]:
        """What the workload would use of flavors that accept it, however little is free.

        The nearest first: where least is missing; then each position of the flavor order.
        """
        longest = max((len(group.options) for group in self._groups[queue.name].values()), default=0)
        found = (_Run(self, pending, queue, None).wish(index) for index in (None, *range(longest)))
        return [wish for wish in found if wish is not None]

    def plain_wish(self, pending: Pending, queue: QueueNode) -> PlainWish | None:
        """`None` for everything that takes a search: several podsets, resources or flavors, elastic slices.

        Also when the queue could not preempt for it at all: that is another refusal.
        """
        if not pending.knows_plain_wish:
            pending.plain_wish, pending.knows_plain_wish = self._plain_wish(pending, queue), True
        return pending.plain_wish

    def _plain_wish(self, pending: Pending, queue: QueueNode) -> PlainWish | None:
        reclaims = queue.facts.preemption.reclaim_in_cohort is not PreemptionPolicy.NEVER
        if len(pending.facts.podsets) != 1 or pending.is_elastic_slice or not reclaims or self._topologies:
            return None
        gates = self._gates
        ((ask,),) = pending.grouped_asks(None, reclaimable=gates.reclaimable_pods, elastic=gates.elastic_slices)
        groups = self._groups[queue.name]
        covered = [resource for resource in ask.totals if resource in groups]
        if len(covered) != 1 or any(n and r not in groups and r != PODS for r, n in ask.totals.items()):
            return None
        (resource,) = covered
        if len(groups[resource].options) != 1 or self.wishes(pending, queue) == []:
            return None
        option = groups[resource].options[0]
        slot = option.slots[resource]
        return PlainWish(ask.podset.name, ask.count, resource, option.name, slot, ask.totals[resource], ask.totals)

    def is_active(self, queue: QueueNode) -> bool:
        """A queue that names a missing flavor takes no part."""
        return all(option.flavor is not None for group in self._groups[queue.name].values() for option in group.options)

    def stands_on_topologies(self, queue: QueueNode) -> bool:
        """Every flavor of the queue has a topology: its workloads are always placed."""
        return self._has_topology_only[queue.name]

    def _stands_on_topologies(self, queue: QueueNode) -> bool:
        names = [quotas.flavor for group in queue.facts.groups for quotas in group.flavors]
        return bool(names) and all(name in self._topologies for name in names)


class _Run:
    """One search for one workload."""

    def __init__(
        self,
        assigner: FlavorAssigner,
        pending: Pending,
        queue: QueueNode,
        pinned: Mapping[tuple[str, str], str] | None,
    ) -> None:
        self._gates = assigner._gates
        self._topologies = assigner._topologies
        self._has_topology_only = assigner.stands_on_topologies(queue)
        self._oracle = assigner._oracle
        self._groups = assigner._groups[queue.name]
        self._pending = pending
        self._queue = queue
        self._pinned = pinned
        self._assumed: dict[Slot, int] = {}
        self._attempts: list[FlavorAttempt] = []
        preemption = queue.facts.preemption
        self._may_preempt_while_borrowing = preemption.borrows_by_preempting or (
            assigner._fair_sharing and preemption.reclaim_in_cohort is not PreemptionPolicy.NEVER
        )

    def assign(self, counts: Sequence[int] | None) -> Assignment:
        gates = self._gates
        groups = self._pending.grouped_asks(counts, reclaimable=gates.reclaimable_pods, elastic=gates.elastic_slices)
        podsets: dict[str, PodSetAssignment] = {}
        mode, level = FitMode.FIT, 0
        for together in groups:
            choices = self._choose(together)
            for ask in together:
                podsets[ask.podset.name] = self._assigned(ask, choices)
            if choices is None:
                mode = FitMode.NO_FIT
                break
            for choice in choices.values():
                mode, level = min(mode, choice.mode), max(level, choice.level)
        return Assignment(
            podsets=[podsets[p.name] for p in self._pending.facts.podsets if p.name in podsets],
            mode=mode,
            level=level,
            usage=tuple(sorted(self._assumed.items())),
            attempts=self._attempts,
        )

    def wish(self, preferred: int | None) -> dict[Slot, int] | None:
        """Amounts by slot when every group takes its option `preferred`, or the one that lacks least."""
        gates = self._gates
        groups = self._pending.grouped_asks(None, reclaimable=gates.reclaimable_pods, elastic=gates.elastic_slices)
        for together in groups:
            totals = _totals(together)
            for group in {id(g): g for r in sorted(totals) if (g := self._groups.get(r)) is not None}.values():
                wanted = {r: amount for r, amount in totals.items() if self._groups.get(r) is group}
                options = [o for o in group.options if self._is_open(together, o, wanted)]
                if preferred is not None:
                    options = [o for o in group.options[preferred : preferred + 1] if o in options]
                if not options:
                    return None
                option = min(options, key=lambda o: self._lack(o, wanted))
                for resource, amount in wanted.items():
                    slot = option.slots[resource]
                    self._assumed[slot] = self._assumed.get(slot, 0) + amount
            if any(amount and r != PODS and r not in self._groups for r, amount in totals.items()):
                return None
        return self._assumed

    def _lack(self, option: _Option, wanted: Mapping[str, int]) -> int:
        slots = ((option.slots[resource], amount) for resource, amount in wanted.items())
        return sum(max(0, self._assumed.get(slot, 0) + amount - self._queue.available(slot)) for slot, amount in slots)

    def _assigned(self, ask: PodSetAsk, choices: Mapping[str, FlavorChoice] | None) -> PodSetAssignment:
        """The podset's part of its group's choices, counted as assumed usage."""
        flavors = {r: c for r, c in (choices or {}).items() if r in ask.totals}
        for resource, choice in flavors.items():
            self._assumed[choice.slot] = self._assumed.get(choice.slot, 0) + ask.totals[resource]
        return PodSetAssignment(name=ask.podset.name, count=ask.count, flavors=flavors, totals=ask.totals)

    def _choose(self, together: Sequence[PodSetAsk]) -> dict[str, FlavorChoice] | None:
        totals = _totals(together)
        chosen: dict[str, FlavorChoice] = {}
        for resource in sorted(totals):
            if resource in chosen:
                continue
            group = self._groups.get(resource)
            if group is None:
                if totals[resource] == 0 or resource == PODS:
                    continue
                self._note(together, "", resource, FlavorOutcome.RESOURCE_NOT_COVERED, totals[resource])
                return None
            wanted = {r: amount for r, amount in totals.items() if r in group.resources}
            found = self._search(together, group, wanted)
            if found is None:
                return None
            chosen.update(found)
        return chosen

    def _search(
        self, together: Sequence[PodSetAsk], group: _Group, wanted: Mapping[str, int]
    ) -> dict[str, FlavorChoice] | None:
        fungibility = self._queue.facts.fungibility
        ranked = partial(rank, preference=fungibility.preference)
        best, best_choices = _NO_FIT, None
        start, attempted = self._start(together, wanted), -1
        for index in range(start, len(group.options)):
            attempted = index
            option = group.options[index]
            if not self._is_open(together, option, wanted):
                continue
            choices: dict[str, FlavorChoice] = {}
            worst = _FITS
            for resource, amount in wanted.items():
                slot = option.slots[resource]
                found = self._judge(together, option, resource, slot, self._assumed.get(slot, 0) + amount)
                worst = min(worst, found, key=ranked)
                if worst.mode is FitMode.NO_FIT:
                    break
                choices[resource] = FlavorChoice(option.name, slot, found.mode, found.level)
            if not self._tries_next(worst):
                best_choices = choices
                break
            if ranked(worst) > ranked(best):
                best, best_choices = worst, choices
        if best_choices is not None:
            tried = -1 if attempted == len(group.options) - 1 else attempted
            for choice in best_choices.values():
                choice.tried_index = tried
        return best_choices

    def _start(self, together: Sequence[PodSetAsk], wanted: Mapping[str, int]) -> int:
        scan = self._pending.scan
        if scan is None:
            return 0
        return 1 + max(
            (scan.tried.get((ask.podset.name, resource), -1) for ask in together for resource in wanted),
            default=-1,
        )

    def _is_open(self, together: Sequence[PodSetAsk], option: _Option, wanted: Mapping[str, int]) -> bool:
        """Whether the flavor may be used at all, whatever is free."""
        flavor = option.flavor
        if flavor is None:
            self._note(together, option.name, "", FlavorOutcome.FLAVOR_MISSING)
            return False
        for ask in together:
            podset = ask.podset
            if self._pinned is not None and any(
                self._pinned.get((podset.name, resource), option.name) != option.name for resource in wanted
            ):
                return False
            if podset.replaces is not None and self._gates.elastic_slices:
                old = podset.replaces.flavors
                if any(old.get(resource, option.name) != option.name for resource in wanted):
                    self._note(together, option.name, "", FlavorOutcome.NOT_OLD_FLAVOR)
                    return False
            if flavor.taints:
                taint = untolerated(flavor.taints, (*podset.tolerations, *flavor.tolerations))
                if taint is not None:
                    self._note(together, option.name, "", FlavorOutcome.TAINT_NOT_TOLERATED, detail=taint.key)
                    return False
            if option.label_keys and not flavor_selects(flavor, podset, option.label_keys):
                self._note(together, option.name, "", FlavorOutcome.LABELS_MISMATCH)
                return False
            if self._gates.topology_aware_scheduling and not self._suits_topology(podset, option.name):
                self._note(together, option.name, "", FlavorOutcome.TOPOLOGY_MISMATCH)
                return False
        return True

    def _suits_topology(self, podset: PodSetRequest, flavor: str) -> bool:
        """Who asks for a topology needs a flavor with its levels; who does not, one without (or no choice)."""
        tree = self._topologies.get(flavor)
        request = podset.topology
        if request is None:
            return tree is None or self._has_topology_only
        if tree is None:
            return False
        asked = (request.required, request.preferred, *(layer.level for layer in request.slices))
        return all(level in tree.levels for level in asked if level is not None)

    def _judge(
        self, together: Sequence[PodSetAsk], option: _Option, resource: str, slot: Slot, amount: int
    ) -> ModeLevel:
        """How the queue could come by `amount` of the slot, everything assumed so far included."""
        queue = self._queue
        if amount > queue.potential[slot]:
            self._note(together, option.name, resource, FlavorOutcome.OVER_MAXIMUM, amount, queue.potential[slot])
            return _NO_FIT
        level, may_reclaim = queue.borrow_level(slot, amount)
        available = queue.available(slot)
        if amount <= available:
            return ModeLevel(FitMode.FIT, level)
        available = max(0, available)
        if queue.nominal[slot] >= amount or may_reclaim or self._may_preempt_while_borrowing:
            self._note(together, option.name, resource, FlavorOutcome.NEEDS_VICTIMS, amount, available)
            return self._oracle.outlook(self._pending, queue, slot, amount)
        self._note(together, option.name, resource, FlavorOutcome.OVER_FREE, amount, available)
        return _NO_FIT

    def _tries_next(self, found: ModeLevel) -> bool:
        fungibility = self._queue.facts.fungibility
        if found.mode <= FitMode.NO_CANDIDATES:
            return True
        if found.mode.is_preempting and fungibility.when_can_preempt is WhenCanPreempt.TRY_NEXT_FLAVOR:
            return True
        return found.level > 0 and fungibility.when_can_borrow is WhenCanBorrow.TRY_NEXT_FLAVOR

    def _note(
        self,
        together: Sequence[PodSetAsk],
        flavor: str,
        resource: str,
        outcome: FlavorOutcome,
        wanted: int = 0,
        limit: int = 0,
        detail: str = "",
    ) -> None:
        self._attempts.append(FlavorAttempt(together[0].podset.name, flavor, resource, outcome, wanted, limit, detail))


def _totals(together: Sequence[PodSetAsk]) -> dict[str, int]:
    if len(together) == 1:
        return together[0].totals
    totals: dict[str, int] = {}
    for ask in together:
        for resource, amount in ask.totals.items():
            totals[resource] = totals.get(resource, 0) + amount
    return totals
