"""One head on its way through a cycle, and the nomination of heads."""

from __future__ import annotations

from dataclasses import dataclass

from core.scheduling.assignment import Assignment, FitMode
from core.scheduling.flavors import FlavorAssigner
from core.scheduling.partial_admission import largest_that_starts
from core.scheduling.pending import Pending, ScanState
from core.scheduling.placer import Placer
from core.scheduling.policies import Gates
from core.scheduling.preemption import VictimFinder
from core.scheduling.quantities import Usage
from core.scheduling.quota_tree import QueueNode
from core.scheduling.snapshot import Snapshot
from core.scheduling.victims import Victim


@dataclass(slots=True)
class Nomination:
    """A head with what was found for it."""

    pending: Pending
    queue: QueueNode
    assignment: Assignment
    victims: list[Victim]

    @property
    def uid(self) -> str:
        return self.pending.uid

    @property
    def priority(self) -> int:
        return self.pending.priority

    @property
    def queued_at_s(self) -> float:
        return self.pending.queued_at_s

    @property
    def level(self) -> int:
        return self.assignment.level

    @property
    def usage(self) -> Usage:
        return self.assignment.usage

    @property
    def is_fitting(self) -> bool:
        return self.assignment.mode is FitMode.FIT


class Nominator:
    """Finds flavors and victims for one workload at a time, on the snapshot as it stands."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._gates: Gates = snapshot.config.gates
        self._finder = VictimFinder(snapshot)
        self.assigner = FlavorAssigner(
            snapshot.tree, snapshot.flavors, snapshot.config, self._finder, snapshot.topology.trees
        )
        self.placer = Placer(snapshot, self.assigner)

    def nominate(self, pending: Pending, generation: int, cycle: int) -> Nomination:
        """Resumes the flavor search where the last nomination left it, and remembers where this one stops."""
        queue = self._snapshot.queue(pending.facts.queue)
        scan = pending.scan
        if scan is not None and scan.generation < generation:
            is_fresh = self._gates.preserve_scan_progress and cycle - scan.cycle <= 1
            if not is_fresh:
                pending.scan = None
        nomination = self._plainly_refused(pending, queue) or self._decide(pending, queue, None)
        self._remember(nomination, generation, cycle)
        return nomination

    def _plainly_refused(self, pending: Pending, queue: QueueNode) -> Nomination | None:
        """The common case of a long backlog, decided without a search: one podset of one resource and one possible
        flavor, too little free, and nobody whom fair sharing would let it take. `None` = decide properly.
        """
        if not self._snapshot.config.fair_sharing or pending.can_shrink:
            return None
        plain = self.assigner.plain_wish(pending, queue)
        if plain is None or plain.amount <= queue.available(plain.slot) or plain.amount > queue.potential[plain.slot]:
            return None
        if not self._finder.is_hopeless(pending, queue, plain.slot, plain.amount):
            return None
        return Nomination(pending, queue, plain.refused(queue), [])

    def renominate(self, nomination: Nomination, generation: int, cycle: int) -> None:
        """Decide again within the cycle, keeping to the flavors found before."""
        nomination.pending.scan = None
        again = self._decide(nomination.pending, nomination.queue, nomination.assignment.pinned)
        nomination.assignment, nomination.victims = again.assignment, again.victims
        self._remember(nomination, generation, cycle)

    def _remember(self, nomination: Nomination, generation: int, cycle: int) -> None:
        tried = nomination.assignment.tried
        nomination.pending.scan = ScanState(tried=tried, generation=generation, cycle=cycle) if tried else None

    def _decide(self, pending: Pending, queue: QueueNode, pinned: dict[tuple[str, str], str] | None) -> Nomination:
        if not pending.replaced_uids:
            return self._decide_unshielded(pending, queue, pinned)
        with self._snapshot.shielded(pending.replaced_uids):
            return self._decide_unshielded(pending, queue, pinned)

    def _decide_unshielded(
        self, pending: Pending, queue: QueueNode, pinned: dict[tuple[str, str], str] | None
    ) -> Nomination:
        full = self._attempt(pending, queue, None, pinned)
        if full.is_fitting or full.victims:
            return self._placed(full)
        if self._gates.partial_admission and pending.can_shrink:

            def attempt(counts: tuple[int, ...]) -> Nomination | None:
                smaller = self._attempt(pending, queue, counts, pinned)
                return smaller if smaller.is_fitting or smaller.victims else None

            partial = largest_that_starts(pending.facts.podsets, attempt)
            if partial is not None:
                return self._placed(partial)
        return self._placed(full)

    def _attempt(
        self,
        pending: Pending,
        queue: QueueNode,
        counts: tuple[int, ...] | None,
        pinned: dict[tuple[str, str], str] | None,
    ) -> Nomination:
        self._finder.forget()
        assignment = self.assigner.assign(pending, queue, counts, pinned)
        has_place = None
        if self.placer.concerns(pending, queue):
            self.placer.settle(pending, assignment)
            has_place = self.placer.has_place(pending, assignment)
        victims: list[Victim] = []
        if assignment.mode.is_preempting:
            victims = self._finder.victims(pending, queue, assignment, has_place)
        return Nomination(pending, queue, assignment, victims)

    def _placed(self, nomination: Nomination) -> Nomination:
        """The places that a preemptor will take once its victims are gone; without victims, those it would
        have on empty nodes (held for it, so that nobody slips in between)."""
        pending, assignment = nomination.pending, nomination.assignment
        if assignment.mode.is_preempting and self.placer.concerns(pending, nomination.queue):
            if nomination.victims:
                with self._snapshot.taken_out(victim.holder for victim in nomination.victims):
                    self.placer.place(pending, assignment)
            else:
                self.placer.place(pending, assignment, as_if_empty=True)
        return nomination
