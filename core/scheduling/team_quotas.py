"""One team's compute quota in amounts: what it owns, and how much more it may borrow, by flavor and resource.

Source: SageMaker `ComputeQuotaConfig` and the HyperPod guide. Ratios: accelerators given -> vCPU and memory in
proportion; only vCPU -> memory in proportion and no accelerators; only memory -> vCPU likewise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from core.cluster.clusters import CapacityMode
from core.cluster.instance_types import AcceleratorKind, InstanceType
from core.cluster.quotas import ComputeQuota, QuotaResource, SchedulerPolicy, SharingStrategy
from core.ids import InstanceTypeName
from core.scheduling.capacity import EFA, GIB, CapacityPool, mig_resource, pool_order, whole_instances
from core.scheduling.errors import WorldField, world_invalid

MAX_WEIGHT: Final = 100
MAX_RESOURCES: Final = 15
MAX_PRIORITY_CLASSES: Final = 10
MAX_BORROW_PERCENT: Final = 10_000
MIG_SLICES_PER_GPU: Final = 7
"""Compute slices of an A100, H100, H200 or B200: a `1g` profile is one of them."""


@dataclass(frozen=True, slots=True)
class TeamQuota:
    """Amounts by (flavor, resource). Borrowing is zero where it is not listed."""

    nominal: Mapping[tuple[str, str], int]
    borrowing: Mapping[tuple[str, str], int]


def team_quota(
    quota: ComputeQuota,
    pools: Sequence[CapacityPool],
    figures: Mapping[InstanceTypeName, InstanceType],
    *,
    may_borrow: bool,
) -> TeamQuota:
    """`may_borrow` is False while the cluster has a single quota: AWS lets nobody borrow then."""
    nominal: dict[tuple[str, str], int] = {}
    for resource in quota.resources:
        wanted = amounts(resource, figures[resource.instance_type])
        for flavor, part in _by_pool(wanted, resource.instance_type, pools, figures[resource.instance_type]):
            for name, amount in part.items():
                nominal[flavor, name] = nominal.get((flavor, name), 0) + amount
    borrowing: dict[tuple[str, str], int] = {}
    if may_borrow and quota.sharing.strategy is SharingStrategy.LEND_AND_BORROW:
        borrowing = _borrowing(quota, nominal, pools, figures)
    return TeamQuota(nominal, borrowing)


def amounts(resource: QuotaResource, figures: InstanceType) -> dict[str, int]:
    """What one entry of a quota comes to. Raises `WorldInvalid` when it names no figure or a negative one."""
    parts = (resource.count, resource.accelerators, resource.vcpus, resource.memory_gib, resource.mig_count)
    given = [part for part in parts if part is not None]
    if not given or min(given) < 0:
        raise world_invalid(WorldField.QUOTA_AMOUNT_MISSING, name=resource.instance_type)
    if resource.count is not None:
        return whole_instances(figures, resource.count)
    share = _share(resource, figures)
    cpu = resource.vcpus if resource.vcpus is not None else share * figures.vcpus
    memory = resource.memory_gib if resource.memory_gib is not None else share * figures.memory_gib
    found = {"cpu": int(cpu * 1000), "memory": int(memory * GIB)}
    if resource.accelerators is not None and figures.accelerator is not AcceleratorKind.NONE:
        found[figures.accelerator.value] = resource.accelerators
        found[EFA] = int(share * figures.efa_interfaces)
    if resource.mig_profile is not None:
        found[mig_resource(resource.mig_profile)] = resource.mig_count or 0
    return found


def _share(resource: QuotaResource, figures: InstanceType) -> Fraction:
    """The part of one instance that the entry amounts to, by its most telling figure."""
    if resource.accelerators is not None and figures.accelerators:
        return Fraction(resource.accelerators, figures.accelerators)
    if resource.mig_profile is not None and figures.accelerators:
        size = re.match(r"mig-(\d+)g\.", resource.mig_profile)
        if size is None:
            raise world_invalid(WorldField.MIG_PROFILE_UNKNOWN, name=resource.mig_profile)
        pieces = (resource.mig_count or 0) * int(size.group(1))
        return Fraction(pieces, MIG_SLICES_PER_GPU * figures.accelerators)
    if resource.vcpus is not None:
        return Fraction(resource.vcpus) / figures.vcpus
    if resource.memory_gib is not None:
        return Fraction(resource.memory_gib) / figures.memory_gib
    return Fraction(0)


def _by_pool(
    wanted: Mapping[str, int], name: InstanceTypeName, pools: Sequence[CapacityPool], figures: InstanceType
) -> list[tuple[str, dict[str, int]]]:
    """A quota is per instance type; plan capacity is filled first, what is over stays with on-demand.

    Spot never backs a quota: what may vanish cannot be guaranteed.
    """
    rest = dict(wanted)
    found: list[tuple[str, dict[str, int]]] = []
    plans = [p for p in pools if p.instance_type == name and p.mode is CapacityMode.TRAINING_PLAN]
    for pool in pool_order(plans, [name]):
        there = whole_instances(figures, pool.count, pool.mig)
        part = {resource: min(amount, there.get(resource, 0)) for resource, amount in rest.items()}
        rest = {resource: amount - part[resource] for resource, amount in rest.items()}
        found.append((pool.flavor, part))
    found.append((str(name), rest))
    return found


def _borrowing(
    quota: ComputeQuota,
    nominal: Mapping[tuple[str, str], int],
    pools: Sequence[CapacityPool],
    figures: Mapping[InstanceTypeName, InstanceType],
) -> dict[tuple[str, str], int]:
    percent = quota.sharing.borrow_limit_percent
    limits = {pair: amount * percent // 100 for pair, amount in nominal.items()}
    for pool in pools:
        if pool.is_spot:  # as much of it as of the type that the team owns
            limits |= {
                (pool.flavor, resource): amount
                for (flavor, resource), amount in list(limits.items())
                if flavor == str(pool.instance_type)
            }
    for cap in quota.sharing.absolute_borrow_limits:
        for pool in pools:
            if pool.instance_type == cap.instance_type:
                for resource, amount in amounts(cap, figures[cap.instance_type]).items():
                    limits[pool.flavor, resource] = amount
    return limits


def check_quotas(quotas: Sequence[ComputeQuota], policy: SchedulerPolicy) -> None:
    """The limits of AWS's API. Raises `WorldInvalid`."""
    if len(policy.priority_classes) > MAX_PRIORITY_CLASSES:
        raise world_invalid(
            WorldField.TOO_MANY, field="PriorityClasses", count=len(policy.priority_classes), limit=MAX_PRIORITY_CLASSES
        )
    for priority in policy.priority_classes:
        _check_range("PriorityClasses.Weight", priority.weight, MAX_WEIGHT)
    teams: set[str] = set()
    for quota in quotas:
        if quota.is_active and quota.team in teams:
            raise world_invalid(WorldField.NAME_TWICE, name=str(quota.team))
        teams.add(quota.team)
        _check_range(f"{quota.name}.FairShareWeight", quota.fair_share_weight, MAX_WEIGHT)
        _check_range(f"{quota.name}.BorrowLimit", quota.sharing.borrow_limit_percent, MAX_BORROW_PERCENT)
        for field, entries in (
            ("ComputeQuotaResources", quota.resources),
            ("AbsoluteBorrowLimits", quota.sharing.absolute_borrow_limits),
        ):
            if len(entries) > MAX_RESOURCES:
                raise world_invalid(
                    WorldField.TOO_MANY, field=f"{quota.name}.{field}", count=len(entries), limit=MAX_RESOURCES
                )


def _check_range(field: str, value: int, limit: int) -> None:
    if not 0 <= value <= limit:
        raise world_invalid(WorldField.OUT_OF_RANGE, field=field, value=value, limit=limit)
