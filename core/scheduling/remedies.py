"""What would admit a workload: which quota, whose return, what size. Each remedy is checked by trying it.

Source: none but the rules themselves: a remedy is a change after which the same decision comes out as a fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.messages.message import Message, message
from core.scheduling.assignment import FitMode
from core.scheduling.holders import Holder
from core.scheduling.nomination import Nominator
from core.scheduling.pending import Pending
from core.scheduling.quantities import FlavorResource
from core.scheduling.quota_tree import QueueNode
from core.scheduling.snapshot import Snapshot


class RemedyKind(StrEnum):
    RAISE_QUOTA = "raise_quota"
    """Raise the queue's nominal quota by these amounts."""
    OTHERS_LEAVE = "others_leave"
    """It fits once these workloads are done."""
    ASK_LESS = "ask_less"
    """It fits with these pod counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One change that admits the workload; which field is filled depends on `kind`."""

    kind: RemedyKind
    workload: str
    queue: str
    quota_raises: Mapping[FlavorResource, int] = field(default_factory=dict)
    leaving: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """By podset."""

    def message(self) -> Message:
        """The sentence for people."""
        raises = ", ".join(
            f"{pair.resource} +{amount} ({pair.flavor})" for pair, amount in sorted(self.quota_raises.items())
        )
        return message(
            f"scheduling.remedy_{self.kind.value}",
            workload=self.workload,
            queue=self.queue,
            raises=raises,
            leaving=", ".join(self.leaving),
            counts=", ".join(f"{name}: {count}" for name, count in self.counts.items()),
        )


class RemedyFinder:
    """Looks for remedies on the snapshot as it stands, and leaves it unchanged."""

    def __init__(self, snapshot: Snapshot, nominator: Nominator) -> None:
        self._snapshot = snapshot
        self._nominator = nominator

    def fits(self, pending: Pending, queue: QueueNode, counts: tuple[int, ...] | None = None) -> bool:
        """Whether it could start at once, without preemption."""
        assignment = self._nominator.assigner.assign(pending, queue, counts)
        if assignment.mode is FitMode.FIT and self._nominator.placer.concerns(pending, queue):
            self._nominator.placer.settle(pending, assignment)
        return assignment.mode is FitMode.FIT

    def others_leave(self, pending: Pending, queue: QueueNode) -> Remedy | None:
        """A smallest set, tried in the order in which victims are chosen, whatever policy allows."""
        out: list[Holder] = []
        try:
            for holder in self._in_the_way(pending, queue):
                if self.fits(pending, queue):
                    break
                self._snapshot.take_out(holder)
                out.append(holder)
            if not out or not self.fits(pending, queue):
                return None
            for holder in list(out):
                self._snapshot.put_back(holder)
                if self.fits(pending, queue):
                    out.remove(holder)
                else:
                    self._snapshot.take_out(holder)
            return Remedy(
                kind=RemedyKind.OTHERS_LEAVE,
                workload=pending.uid,
                queue=queue.name,
                leaving=tuple(sorted(holder.uid for holder in out)),
            )
        finally:
            for holder in out:
                self._snapshot.put_back(holder)

    def ask_less(self, pending: Pending, queue: QueueNode) -> Remedy | None:
        """The largest share of every podset that fits now; at least one pod of each is left."""
        podsets = pending.facts.podsets
        if pending.is_elastic_slice or any(p.topology is not None or p.group is not None for p in podsets):
            return None  # slices and groups of pods only make sense whole
        full = tuple(podset.count for podset in podsets)
        most = max(full)
        low, high, best = 1, most - 1, None
        while low <= high:
            share = (low + high) // 2
            counts = tuple(min(count, max(1, count * share // most)) for count in full)
            if counts != full and self.fits(pending, queue, counts):
                best, low = counts, share + 1
            else:
                high = share - 1
        if best is None:
            return None
        return Remedy(
            kind=RemedyKind.ASK_LESS,
            workload=pending.uid,
            queue=queue.name,
            counts={podset.name: count for podset, count in zip(podsets, best, strict=True)},
        )

    def quota_raises(self, pending: Pending, queue: QueueNode) -> list[Remedy]:
        """Candidates, smallest first: what the flavors that accept the pods are short of."""
        pairs = self._snapshot.tree.pairs
        candidates = []
        for wish in self._nominator.assigner.wishes(pending, queue):
            missing = {slot: amount - max(0, queue.available(slot)) for slot, amount in wish.items()}
            raises = {pairs[slot]: amount for slot, amount in missing.items() if amount > 0}
            if raises and raises not in candidates:
                candidates.append(raises)
        candidates.sort(key=lambda raises: (sum(raises.values()), sorted(raises)))
        return [
            Remedy(kind=RemedyKind.RAISE_QUOTA, workload=pending.uid, queue=queue.name, quota_raises=raises)
            for raises in candidates
        ]

    def _in_the_way(self, pending: Pending, queue: QueueNode) -> list[Holder]:
        """Who uses what it could use; borrowers of other queues first, then in victim order."""
        slots = {slot for wish in self._nominator.assigner.wishes(pending, queue) for slot in wish}
        holders = [
            (other is queue or other.is_within_nominal(holder.slots), holder.key, holder)
            for other in self._snapshot.cohort_queues(queue)
            for holder in self._snapshot.holders_of(other)
            if not slots.isdisjoint(holder.slots) and holder.uid not in pending.replaced_uids
        ]
        return [holder for _, _, holder in sorted(holders, key=lambda entry: entry[:2])]
