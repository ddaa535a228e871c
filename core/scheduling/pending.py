"""A pending workload as the engine carries it: the facts, and what is remembered between its nominations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.scheduling.assignment import PlainWish
from core.scheduling.holders import EARLIEST
from core.scheduling.quantities import PODS, UNLIMITED
from core.scheduling.world import PendingWorkload, PodSetRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanState:
    """Where the search through the flavors stopped: podset and resource -> flavor index (-1 = at the end)."""

    tried: dict[tuple[str, str], int]
    generation: int
    """The tree's generation then: any capacity event makes the position stale."""
    cycle: int

    @property
    def has_untried(self) -> bool:
        return any(index != -1 for index in self.tried.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetAsk:
    """What `count` pods of one podset ask of quota: total by resource, less what a replaced slice holds."""

    podset: PodSetRequest
    count: int
    totals: dict[str, int]


class Pending:
    """Mutable: `scan` and `is_preemptor` are what a nomination leaves behind."""

    def __init__(self, facts: PendingWorkload) -> None:
        self.facts = facts
        self.uid = facts.uid
        self.priority = facts.priority
        self.queued_at_s = EARLIEST if facts.queued_at_s is None else facts.queued_at_s
        self.scan: ScanState | None = None
        self.is_preemptor = False
        """Its victims were told to go in its last cycle."""
        self.plain_wish: PlainWish | None = None
        self.knows_plain_wish = False
        """`plain_wish` was worked out: it depends on nothing that changes while the workload waits."""
        self._full_asks: list[list[PodSetAsk]] | None = None
        """Worked out once: the gates do not change while it waits."""
        self.replaced_uids = frozenset(
            p.replaces.workload for p in facts.podsets if p.replaces is not None and p.replaces.workload is not None
        )

    @cached_property
    def shape(self) -> Hashable:
        """Equal for workloads of one queue that every decision treats alike (Kueue's equivalence hash)."""
        return (self.priority, self.facts.is_eligible, tuple(_podset_shape(p) for p in self.facts.podsets))

    @cached_property
    def is_elastic_slice(self) -> bool:
        return any(p.replaces is not None for p in self.facts.podsets)

    @cached_property
    def can_shrink(self) -> bool:
        """Whether it may start with fewer pods; elastic slices may not."""
        return not self.is_elastic_slice and any(
            p.min_count is not None and p.min_count < p.count for p in self.facts.podsets
        )

    def grouped_asks(self, counts: Sequence[int] | None, *, reclaimable: bool, elastic: bool) -> list[list[PodSetAsk]]:
        """Podsets of one group together, in the order of their first member."""
        if counts is None and self._full_asks is not None:
            return self._full_asks
        groups: dict[str, list[PodSetAsk]] = {}
        for index, ask in enumerate(self.asks(counts, reclaimable=reclaimable, elastic=elastic)):
            key = f"/{index}" if ask.podset.group is None else f"={ask.podset.group}"
            groups.setdefault(key, []).append(ask)
        found = list(groups.values())
        if counts is None:
            self._full_asks = found
        return found

    def asks(self, counts: Sequence[int] | None, *, reclaimable: bool, elastic: bool) -> Iterator[PodSetAsk]:
        """Per podset; `counts` replaces the full counts in partial admission."""
        for index, podset in enumerate(self.facts.podsets):
            done = podset.reclaimable if reclaimable else 0
            count = podset.count - done if counts is None else counts[index]
            totals = {r: min(amount * count, UNLIMITED) for r, amount in podset.requests.items()}
            totals.setdefault(PODS, count)
            if elastic and podset.replaces is not None:
                old = podset.replaces.requests
                totals = {resource: max(0, total - old.get(resource, 0)) for resource, total in totals.items()}
            yield PodSetAsk(podset=podset, count=count, totals=totals)


def _podset_shape(podset: PodSetRequest) -> Hashable:
    replaces = podset.replaces
    return (
        podset.count,
        podset.min_count,
        podset.reclaimable,
        tuple(sorted(podset.requests.items())),
        tuple(sorted(podset.node_selector.items())),
        podset.affinity,
        podset.tolerations,
        podset.topology,
        podset.group,
        None if replaces is None else replaces.workload or podset.name,
    )
