"""What happens if? A change to a cluster, and who is admitted, preempted or kept waiting because of it.

Both worlds, with and without the change, are played by the same rules; what is reported is the difference.
Running times are known or estimated by the caller: an estimate that is wrong makes the waits wrong, nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.explain import Explanation, explain
from core.scheduling.quantities import FlavorResource
from core.scheduling.scheduler import Scheduler
from core.scheduling.simulation import JobRecord, SimulatedJob, SimulationSettings, simulate
from core.scheduling.world import (
    AdmittedWorkload,
    FlavorQuotas,
    PendingWorkload,
    PodSetRequest,
    Quota,
    ResourceGroup,
    World,
)

CYCLES: Final = 200
"""Cycles in which every sensible world comes to rest; a loop that the rules allow is cut there."""


_HEAD_START_S: Final = 1.0
"""What runs now is played as submitted a moment before what waits; the moment is added to its running time."""


class ChangeKind(StrEnum):
    SUBMIT = "submit"
    RESIZE = "resize"
    ADD_CAPACITY = "add_capacity"
    """Or lose some: the amounts may be negative."""
    SET_QUOTA = "set_quota"
    SET_WEIGHT = "set_weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change; which fields count depends on `kind`.

    submit: `workload`. resize: `uid` and `counts` by podset (it restarts at that size). add_capacity: `amounts`
    onto the nominal quota of cohort or queue `owner`. set_quota: `amounts` become the nominal quota of queue
    `owner`. set_weight: `weight` of queue `owner`.
    """

    kind: ChangeKind
    workload: PendingWorkload | None = None
    uid: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    owner: str = ""
    amounts: Mapping[FlavorResource, int] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """The difference that a change makes. Waits in seconds from now; `None` = not within the jobs known."""

    admitted: tuple[str, ...]
    """Start at once with the change, and would not without it."""
    preempted: tuple[str, ...]
    still_waiting: tuple[str, ...]
    waits_s: Mapping[str, tuple[float | None, float | None]]
    """uid -> (without, with the change), for every workload whose wait differs."""
    explanation: Explanation | None
    """Why the submitted or resized workload waits, if it does."""
    cost_per_hour: float
    """Of what runs at once with the change, less what would run without it; in the unit of `prices`."""
    came_to_rest: bool
    """False when the rules preempt in circles here: then the lists show the state after many cycles."""


def what_if(
    world: World,
    change: Change,
    *,
    runs_s: Mapping[str, float] | None = None,
    ran_s: Mapping[str, float] | None = None,
    default_runs_s: float = 3600.0,
    prices: Mapping[FlavorResource, float] | None = None,
) -> WhatIf:
    """`runs_s`: total running time by uid, known or estimated; `ran_s`: how long it has run already.

    `prices`: per hour and unit of a flavor's resource. Raises `WorldInvalid` for a change that names nothing known.
    """
    changed = applied_change(world, change)
    before, after = _Outcome(world), _Outcome(changed)
    known = _Times(runs_s or {}, ran_s or {}, default_runs_s)
    waits_before, waits_after = known.waits(world), known.waits(changed)
    differing = sorted(
        uid for uid in waits_before.keys() | waits_after.keys() if waits_before.get(uid) != waits_after.get(uid)
    )
    subject = change.workload.uid if change.workload is not None else change.uid
    return WhatIf(
        admitted=tuple(sorted(after.running - before.running)),
        preempted=tuple(sorted(after.preempted - before.preempted)),
        still_waiting=tuple(sorted(after.waiting)),
        waits_s={uid: (waits_before.get(uid), waits_after.get(uid)) for uid in differing},
        explanation=explain(after.scheduler, subject) if subject in after.waiting else None,
        cost_per_hour=_cost(after, prices or {}) - _cost(before, prices or {}),
        came_to_rest=after.came_to_rest,
    )


def applied_change(world: World, change: Change) -> World:
    """The world after the change. Raises `WorldInvalid`."""
    match change.kind:
        case ChangeKind.SUBMIT:
            if change.workload is None:
                raise world_invalid(WorldField.CHANGE_INCOMPLETE, kind=change.kind.value, field="workload")
            return replace(world, pending=(*world.pending, change.workload))
        case ChangeKind.RESIZE:
            return _resized(world, change)
        case ChangeKind.ADD_CAPACITY | ChangeKind.SET_QUOTA:
            adds = change.kind is ChangeKind.ADD_CAPACITY
            return _with_quota(world, change, adds=adds)
        case ChangeKind.SET_WEIGHT:
            _require_queue(world, change.owner)
            return replace(
                world,
                queues=tuple(replace(q, weight=change.weight) if q.name == change.owner else q for q in world.queues),
            )


def waiting_again(workload: AdmittedWorkload, counts: Mapping[str, int] | None = None) -> PendingWorkload:
    """The workload as it queues again, in its old place, at its old or another size."""
    sizes = counts or {}
    return PendingWorkload(
        uid=workload.uid,
        queue=workload.queue,
        priority=workload.priority,
        queued_at_s=workload.queued_at_s,
        podsets=tuple(
            PodSetRequest(
                name=p.name,
                count=sizes.get(p.name, p.count),
                requests={resource: total // max(1, p.count) for resource, total in p.usage.items()},
            )
            for p in workload.podsets
        ),
    )


class _Outcome:
    """A world brought to rest: every victim leaves at once and waits again."""

    def __init__(self, world: World) -> None:
        self.scheduler = Scheduler(world)
        self.preempted: set[str] = set()
        for _ in range(CYCLES):
            if self.scheduler.is_at_rest:
                break
            facts = {w.uid: w for w in self.scheduler.holders()}
            for eviction in self.scheduler.cycle().evictions:
                self.preempted.add(eviction.uid)
                self.scheduler.requeue(waiting_again(facts[eviction.uid]))
        self.came_to_rest = self.scheduler.is_at_rest
        self.running = {w.uid for w in self.scheduler.holders()}
        self.waiting = {w.uid for w in self.scheduler.world().pending}


@dataclass(frozen=True, slots=True)
class _Times:
    """Running times, for the simulation of waits."""

    runs_s: Mapping[str, float]
    ran_s: Mapping[str, float]
    default_s: float

    def waits(self, world: World) -> dict[str, float | None]:
        """Seconds until each waiting workload first starts. What runs now is submitted first and keeps its place."""
        jobs = [self._job(waiting_again(w), -_HEAD_START_S, _HEAD_START_S) for w in world.admitted]
        jobs += [self._job(w, 0.0, 0.0) for w in world.pending]
        if not jobs:
            return {}
        waiting = {w.uid for w in world.pending}
        result = simulate(world, jobs, SimulationSettings())
        return {job.uid: _wait(job) for job in result.jobs if job.uid in waiting}

    def _job(self, workload: PendingWorkload, submitted_s: float, head_start_s: float) -> SimulatedJob:
        left_s = max(0.0, self.runs_s.get(workload.uid, self.default_s) - self.ran_s.get(workload.uid, 0.0))
        return SimulatedJob(workload=workload, submitted_s=submitted_s, runs_s=left_s + head_start_s)


def _wait(job: JobRecord) -> float | None:
    return None if job.first_started_s is None else max(0.0, job.first_started_s)


def _cost(outcome: _Outcome, prices: Mapping[FlavorResource, float]) -> float:
    return sum(
        prices.get(FlavorResource(podset.flavors[resource], resource), 0.0) * amount
        for workload in outcome.scheduler.holders()
        for podset in workload.podsets
        for resource, amount in podset.usage.items()
        if resource in podset.flavors
    )


def _resized(world: World, change: Change) -> World:
    running = {w.uid: w for w in world.admitted}
    waiting = {w.uid: w for w in world.pending}
    if change.uid in running:
        again = waiting_again(running[change.uid], change.counts)
        admitted = tuple(w for w in world.admitted if w.uid != change.uid)
        return replace(world, admitted=admitted, pending=(*world.pending, again))
    if change.uid not in waiting:
        raise world_invalid(WorldField.CHANGE_INCOMPLETE, kind=change.kind.value, field=f"uid {change.uid!r}")
    old = waiting[change.uid]
    podsets = tuple(
        replace(p, count=change.counts.get(p.name, p.count), min_count=None, reclaimable=0) for p in old.podsets
    )
    others = tuple(w for w in world.pending if w.uid != change.uid)
    return replace(world, pending=(*others, replace(old, podsets=podsets)))


def _with_quota(world: World, change: Change, *, adds: bool) -> World:
    if change.owner not in {q.name for q in world.queues} | {c.name for c in world.cohorts}:
        raise world_invalid(WorldField.CHANGE_INCOMPLETE, kind=change.kind.value, field=f"owner {change.owner!r}")
    return replace(
        world,
        queues=tuple(
            replace(q, groups=_groups(q.groups, change, adds=adds)) if q.name == change.owner else q
            for q in world.queues
        ),
        cohorts=tuple(
            replace(c, groups=_groups(c.groups, change, adds=adds)) if c.name == change.owner else c
            for c in world.cohorts
        ),
    )


def _groups(groups: Sequence[ResourceGroup], change: Change, *, adds: bool) -> tuple[ResourceGroup, ...]:
    """Only flavors and resources that the owner has already: another one would change what its queues try."""
    left = dict(change.amounts)
    changed = []
    for group in groups:
        flavors = []
        for quotas in group.flavors:
            found = dict(quotas.quotas)
            for resource in group.resources:
                amount = left.pop(FlavorResource(quotas.flavor, resource), None)
                if amount is not None:
                    old = found.get(resource, Quota(nominal=0))
                    found[resource] = replace(old, nominal=max(0, old.nominal + amount) if adds else amount)
            flavors.append(FlavorQuotas(flavor=quotas.flavor, quotas=found))
        changed.append(replace(group, flavors=tuple(flavors)))
    if left:
        pair = next(iter(left))
        raise world_invalid(WorldField.FLAVOR_UNKNOWN, name=change.owner, flavor=pair.flavor, resource=pair.resource)
    return tuple(changed)


def _require_queue(world: World, name: str) -> None:
    if not any(queue.name == name for queue in world.queues):
        raise world_invalid(WorldField.CHANGE_INCOMPLETE, kind=ChangeKind.SET_WEIGHT.value, field=f"owner {name!r}")
