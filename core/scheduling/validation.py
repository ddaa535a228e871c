"""Refuses worlds and workloads that no decision can rest on, naming the field.

Source of the limits: Kueue v0.20 API validation, and the 64 bits in which it keeps quantities.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.policies import (
    BOTH_STRATEGIES,
    FungibilityPreference,
    PreemptionPolicy,
    WhenCanBorrow,
    WhenCanPreempt,
)
from core.scheduling.quantities import UNLIMITED
from core.scheduling.world import ClusterQueue, Cohort, PendingWorkload, PodSetRequest, ResourceGroup, World


def check_world(world: World) -> None:
    """Raises `WorldInvalid`. A queue that names a missing flavor is legal (it is inactive), as in Kueue."""
    _check_unique("flavor", (flavor.name for flavor in world.flavors))
    _check_unique("cohort", (cohort.name for cohort in world.cohorts))
    _check_unique("queue", (queue.name for queue in world.queues))
    _check_unique("workload", [w.uid for w in world.admitted] + [w.uid for w in world.pending])
    _check_unique("node", (node.name for node in world.nodes))
    for cohort in world.cohorts:
        _check_groups(cohort)
    for queue in world.queues:
        _check_groups(queue)
    if world.config.fair_strategies not in ((BOTH_STRATEGIES[0],), (BOTH_STRATEGIES[1],), BOTH_STRATEGIES):
        raise world_invalid(
            WorldField.STRATEGIES_INVALID, strategies=", ".join(s.value for s in world.config.fair_strategies)
        )
    for workload in world.admitted:
        for podset in workload.podsets:
            _check_amounts(workload.uid, podset.usage)


def check_policy(world: World) -> None:
    """Stricter, for a policy before it is applied: what Kueue's API would refuse, and missing flavors.

    Raises `WorldInvalid`. Decisions on a world that is already live do not need it.
    """
    check_world(world)
    for queue in world.queues:
        _check_policies(queue)
    known = {flavor.name for flavor in world.flavors}
    owners: list[Cohort | ClusterQueue] = [*world.cohorts, *world.queues]
    for owner in owners:
        for group in owner.groups:
            for quotas in group.flavors:
                if quotas.flavor not in known:
                    raise world_invalid(
                        WorldField.FLAVOR_UNKNOWN,
                        name=owner.name,
                        flavor=quotas.flavor,
                        resource=", ".join(group.resources),
                    )


def check_workload(workload: PendingWorkload) -> None:
    if not workload.podsets:
        raise world_invalid(WorldField.PODSETS_MISSING, name=workload.uid)
    for time_s in (workload.queued_at_s, workload.not_before_s):
        if time_s is not None and not math.isfinite(time_s):
            raise world_invalid(WorldField.TIME_NOT_FINITE, name=workload.uid, time=str(time_s))
    _check_unique("podset", (podset.name for podset in workload.podsets))
    for podset in workload.podsets:
        _check_podset(workload.uid, podset)


def _check_podset(uid: str, podset: PodSetRequest) -> None:
    if podset.count < 0:
        raise world_invalid(WorldField.COUNT_NEGATIVE, name=uid, podset=podset.name, count=podset.count)
    smallest = podset.count if podset.min_count is None else podset.min_count
    if not 0 <= smallest <= podset.count or not 0 <= podset.reclaimable <= podset.count:
        raise world_invalid(WorldField.COUNTS_CROSSED, name=uid, podset=podset.name, low=smallest, high=podset.count)
    _check_amounts(uid, podset.requests)


def _check_amounts(uid: str, amounts: Mapping[str, int]) -> None:
    for resource, amount in amounts.items():
        if amount < 0:
            raise world_invalid(WorldField.REQUEST_NEGATIVE, name=uid, resource=resource, amount=amount)


def _check_unique(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise world_invalid(WorldField.NAME_TWICE, name=f"{kind} {name}")
        seen.add(name)


def _check_groups(owner: Cohort | ClusterQueue) -> None:
    if owner.weight < 0 or not math.isfinite(owner.weight):
        raise world_invalid(WorldField.WEIGHT_NEGATIVE, name=owner.name, weight=owner.weight)
    for group in owner.groups:
        _check_group(owner.name, group)


def _check_group(name: str, group: ResourceGroup) -> None:
    for quotas in group.flavors:
        for resource, quota in quotas.quotas.items():
            if resource not in group.resources:
                raise world_invalid(
                    WorldField.QUOTA_RESOURCE_MISSING, name=name, flavor=quotas.flavor, resource=resource
                )
            for field, amount in (
                ("nominal", quota.nominal),
                ("borrowing_limit", quota.borrowing_limit),
                ("lending_limit", quota.lending_limit),
            ):
                if amount is None:
                    continue
                problem = None
                if amount < 0:
                    problem = WorldField.QUOTA_NEGATIVE
                elif amount > UNLIMITED:
                    problem = WorldField.QUOTA_TOO_LARGE
                if problem is not None:
                    raise world_invalid(
                        problem,
                        name=name,
                        flavor=quotas.flavor,
                        resource=resource,
                        field=field,
                        amount=amount,
                    )


def _check_policies(queue: ClusterQueue) -> None:
    fungibility = queue.fungibility
    sees_every_flavor = (
        fungibility.when_can_borrow is WhenCanBorrow.TRY_NEXT_FLAVOR
        and fungibility.when_can_preempt is WhenCanPreempt.TRY_NEXT_FLAVOR
    )
    if fungibility.preference is FungibilityPreference.PREEMPTION_OVER_BORROWING and not sees_every_flavor:
        raise world_invalid(WorldField.PREFERENCE_NEEDS_TRY_NEXT, name=queue.name)
    preemption = queue.preemption
    if preemption.borrows_by_preempting and preemption.reclaim_in_cohort is PreemptionPolicy.NEVER:
        raise world_invalid(WorldField.BORROW_NEEDS_RECLAIM, name=queue.name)
