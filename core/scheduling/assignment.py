"""What the search through the flavors found for a workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import NamedTuple

from core.scheduling.placement import PlacementShort
from core.scheduling.policies import FungibilityPreference
from core.scheduling.quantities import Slot, Usage
from core.scheduling.quota_tree import QueueNode
from core.scheduling.world import Placement


class FitMode(IntEnum):
    """How a request can be met, from not at all to at once."""

    NO_FIT = 0
    """Never, with the quotas as they are."""
    NO_CANDIDATES = 1
    """Only after others leave by themselves."""
    PREEMPT = 2
    """By taking workloads of its own queue too."""
    RECLAIM = 3
    """By taking back from other queues alone."""
    FIT = 4

    @property
    def is_preempting(self) -> bool:
        """Everything between `NO_FIT` and `FIT` waits for capacity that others hold."""
        return FitMode.NO_FIT < self < FitMode.FIT


class ModeLevel(NamedTuple):
    """A mode, and how high in the tree the request borrows (0 = own quota)."""

    mode: FitMode
    level: int


def is_preferred(a: ModeLevel, b: ModeLevel, preference: FungibilityPreference) -> bool:
    """Whether `a` is the better way to meet a request than `b`."""
    return rank(a, preference) > rank(b, preference)


def rank(option: ModeLevel, preference: FungibilityPreference) -> tuple[int, int]:
    """Ascending preference. What cannot be had comes last whatever it would borrow."""
    if option.mode <= FitMode.NO_CANDIDATES:
        base = -2 * _FAR if option.mode is FitMode.NO_FIT else -_FAR
        return (base, -option.level if option.mode is FitMode.NO_CANDIDATES else 0)
    if preference is FungibilityPreference.BORROWING_OVER_PREEMPTION:
        return (option.mode, -option.level)
    return (-option.level, option.mode)


_FAR = 1_000_000
"""Beyond every borrow level: trees are nowhere near so deep."""


class FlavorOutcome(StrEnum):
    """What became of one flavor in the search, when it was not simply taken."""

    FLAVOR_MISSING = "flavor_missing"
    TAINT_NOT_TOLERATED = "taint_not_tolerated"
    LABELS_MISMATCH = "labels_mismatch"
    TOPOLOGY_MISMATCH = "topology_mismatch"
    """The podset asks for a topology level that the flavor lacks, or the flavor takes only such podsets."""
    NOT_OLD_FLAVOR = "not_old_flavor"
    """An elastic job grows on the flavor that it stands on."""
    RESOURCE_NOT_COVERED = "resource_not_covered"
    OVER_MAXIMUM = "over_maximum"
    """More than the queue could ever use, borrowing included."""
    OVER_FREE = "over_free"
    """More than is free now, and preemption is out of the question."""
    NEEDS_VICTIMS = "needs_victims"
    """More than is free now; preemption was considered."""
    NO_PLACE = "no_place"
    """Quota is there, but no domain of the topology holds the pods."""


class FlavorAttempt(NamedTuple):
    """Raw material of an explanation, kept unrendered. `wanted` against `limit`, in units of the resource."""

    podset: str
    flavor: str
    resource: str
    outcome: FlavorOutcome
    wanted: int = 0
    limit: int = 0
    detail: str = ""


@dataclass(slots=True)
class FlavorChoice:
    flavor: str
    slot: Slot
    mode: FitMode
    level: int
    tried_index: int = -1


@dataclass(slots=True)
class PodSetAssignment:
    name: str
    count: int
    flavors: dict[str, FlavorChoice]
    """By resource; empty when the podset found none."""
    totals: Mapping[str, int]
    placement: tuple[Placement, ...] = ()


@dataclass(slots=True)
class Assignment:
    """The flavors of every podset; `mode` is the worst of them, `level` the highest."""

    podsets: list[PodSetAssignment]
    mode: FitMode
    level: int
    usage: Usage
    attempts: list[FlavorAttempt] = field(default_factory=list)
    placement_short: PlacementShort | None = None

    @property
    def needed(self) -> frozenset[Slot]:
        """The slots that only preemption can provide."""
        return frozenset(
            choice.slot for podset in self.podsets for choice in podset.flavors.values() if choice.mode.is_preempting
        )

    @property
    def tried(self) -> dict[tuple[str, str], int]:
        return {
            (podset.name, resource): choice.tried_index
            for podset in self.podsets
            for resource, choice in podset.flavors.items()
        }

    @property
    def pinned(self) -> dict[tuple[str, str], str]:
        """podset and resource -> flavor: what a recomputation must keep to."""
        return {
            (podset.name, resource): choice.flavor
            for podset in self.podsets
            for resource, choice in podset.flavors.items()
        }


@dataclass(frozen=True, slots=True)
class PlainWish:
    """What a workload of one podset and one resource asks of the only flavor there is for it."""

    podset: str
    count: int
    resource: str
    flavor: str
    slot: Slot
    amount: int
    totals: Mapping[str, int]

    def refused(self, queue: QueueNode) -> Assignment:
        """What the search would come to when preemption finds nobody."""
        level = queue.borrow_level(self.slot, self.amount)[0]
        choice = FlavorChoice(self.flavor, self.slot, FitMode.NO_CANDIDATES, level)
        free = max(0, queue.available(self.slot))
        return Assignment(
            podsets=[PodSetAssignment(self.podset, self.count, {self.resource: choice}, self.totals)],
            mode=FitMode.NO_CANDIDATES,
            level=level,
            usage=((self.slot, self.amount),),
            attempts=[
                FlavorAttempt(self.podset, self.flavor, self.resource, FlavorOutcome.NEEDS_VICTIMS, self.amount, free)
            ],
        )
