"""Joins quota and place: puts the podsets of an assignment onto the nodes of their flavors."""

from __future__ import annotations

from collections.abc import Callable

from core.scheduling.assignment import Assignment, FitMode, FlavorAttempt, FlavorOutcome, PodSetAssignment
from core.scheduling.flavors import FlavorAssigner
from core.scheduling.pending import Pending
from core.scheduling.placement import PlacementAsk, PlacementShort, leaf_usage, place_podsets
from core.scheduling.quota_tree import QueueNode
from core.scheduling.snapshot import Snapshot
from core.scheduling.topology import LeafUsage
from core.scheduling.world import PodSetRequest


class Placer:
    """Finds places on the snapshot as it stands; assignments are updated, the snapshot is not."""

    def __init__(self, snapshot: Snapshot, assigner: FlavorAssigner) -> None:
        self._topology = snapshot.topology
        self._gates = snapshot.config.gates
        self._assigner = assigner

    def concerns(self, pending: Pending, queue: QueueNode) -> bool:
        """Whether the workload must be placed as well as counted."""
        if not (self._topology.is_used and self._gates.topology_aware_scheduling):
            return False
        return self._assigner.stands_on_topologies(queue) or any(
            podset.topology is not None for podset in pending.facts.podsets
        )

    def settle(self, pending: Pending, assignment: Assignment) -> None:
        """Place what fits by quota. What finds no place must preempt; what never could is no fit."""
        short = None
        if assignment.mode is FitMode.FIT:
            short = self.place(pending, assignment)
            if short is None:
                return
            for podset in assignment.podsets:
                if podset.name in short.podsets:
                    for choice in podset.flavors.values():
                        choice.mode = FitMode.PREEMPT
            assignment.mode = FitMode.PREEMPT
        if assignment.mode.is_preempting:
            never = self.place(pending, assignment, as_if_empty=True)
            if never is not None:
                assignment.mode = FitMode.NO_FIT
                short = never
        if short is not None:
            assignment.placement_short = short
            assignment.attempts.append(
                FlavorAttempt(
                    short.podsets[0], "", "", FlavorOutcome.NO_PLACE, short.wanted, short.fitting, short.problem
                )
            )

    def place(self, pending: Pending, assignment: Assignment, *, as_if_empty: bool = False) -> PlacementShort | None:
        """Write placements into the assignment, or say for whom there is no room."""
        requests = {podset.name: podset for podset in pending.facts.podsets}
        asks: dict[str, list[PlacementAsk]] = {}
        for podset in assignment.podsets:
            flavor = self._flavor(podset)
            if flavor is not None:
                request = requests[podset.name]
                ask = PlacementAsk(podset=request, count=podset.count, is_implied=request.topology is None)
                asks.setdefault(flavor, []).append(ask)
        for flavor, together in asks.items():
            tree = self._topology.trees[flavor]
            result = place_podsets(tree, together, self._gates, as_if_empty=as_if_empty)
            if result.short is not None:
                return result.short
            for podset in assignment.podsets:
                podset.placement = result.by_podset.get(podset.name, podset.placement)
        return None

    def has_place(self, pending: Pending, assignment: Assignment) -> Callable[[], bool]:
        """A test for the victim search: is there room as things stand?"""
        return lambda: self.place(pending, assignment) is None

    def usage(self, pending: Pending, assignment: Assignment) -> list[LeafUsage]:
        requests: dict[str, PodSetRequest] = {podset.name: podset for podset in pending.facts.podsets}
        return [
            usage
            for podset in assignment.podsets
            if podset.placement and (flavor := self._flavor(podset)) is not None
            for usage in leaf_usage(flavor, requests[podset.name], podset.placement)
        ]

    def fits(self, pending: Pending, assignment: Assignment) -> bool:
        return self._topology.fits(self.usage(pending, assignment))

    def _flavor(self, podset: PodSetAssignment) -> str | None:
        for choice in podset.flavors.values():
            if choice.flavor in self._topology.trees:
                return choice.flavor
        return None
