"""Where an instance comes from: zone pools, training plans, quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from core.ids import InstanceTypeName, ZoneId
from twin.world.state import Cluster, Group, Node, Plan, World

NO_CAPACITY = (
    "We currently do not have sufficient capacity in the requested Availability Zone ({zones}) for {types}."
    " Our system will be working on provisioning additional capacity."
)
PLAN_ELSEWHERE = (
    "No subnets in the capacity AZ: training plan {plan} has its capacity in {zone}, the instance group in {zones}."
)
PLAN_EXHAUSTED = (
    "We currently do not have sufficient capacity in training plan {plan} ({status}, {left} instances left)."
)


NO_ADDRESSES = "Insufficient free addresses in subnet {subnet}: an instance of {type} needs {needed}, {left} are left."
ADDRESSES_ON_EKS = {"p5": 81, "p5e": 81, "p5en": 81, "p4d": 51, "p4de": 51, "trn1": 57, "trn2": 65}
ADDRESSES_ON_SLURM = {"p5": 32, "p5e": 32, "p5en": 32, "p4d": 4, "p4de": 4, "trn1": 8, "trn2": 16}
OTHER_ADDRESSES = 15, 2
"""Per node and family, on EKS and on Slurm (AWS's published preflight figures); any other type as the last line."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One instance taken from a pool."""

    zone: ZoneId
    instance_type: InstanceTypeName
    subnet: str = ""


def addresses(instance_type: InstanceTypeName, *, on_eks: bool) -> int:
    """How many addresses of its subnet a node holds."""
    family = instance_type.removeprefix("ml.").partition(".")[0]
    if on_eks:
        return ADDRESSES_ON_EKS.get(family, OTHER_ADDRESSES[0])
    return ADDRESSES_ON_SLURM.get(family, OTHER_ADDRESSES[1])


def group_types(group: Group) -> list[InstanceTypeName]:
    """In order of preference."""
    flexible = group.spec.get("InstanceRequirements")
    names = flexible["InstanceTypes"] if flexible else [group.spec["InstanceType"]]
    return [InstanceTypeName(name) for name in names]


def plan_of(world: World, group: Group) -> Plan | None:
    arn = str(group.spec.get("TrainingPlanArn", ""))
    return world.plans.get(arn.rpartition("/")[2]) if arn else None


def take(world: World, group: Group, node: Node, zones: list[ZoneId]) -> Grant | str:
    """An instance for `node` in one of `zones` (in order), or AWS's text of why there is none."""
    types = node.only_types or group_types(group)
    plan = plan_of(world, group)
    if plan is not None:
        return _take_from_plan(world, plan, zones)
    for instance_type in types:
        for zone_id in zones:
            zone = world.zones[zone_id]
            if zone.free.get(instance_type, 0) > 0 and quota_left(world, instance_type) > 0:
                zone.free[instance_type] -= 1
                return Grant(zone_id, instance_type)
    return NO_CAPACITY.format(zones=", ".join(zones), types=", ".join(types))


def give_back(world: World, group: Group, node: Node) -> None:
    """The instance of `node` returns to its pool; a plan's is free by not being in use."""
    if node.instance_id is None or node.zone is None or plan_of(world, group) is not None:
        return
    pool = world.zones[node.zone].free
    pool[node.instance_type] = pool.get(node.instance_type, 0) + 1


def quota_use(world: World) -> Counter[InstanceTypeName]:
    """On-demand instances that count against "<type> for cluster usage".

    What a group of one type is to have counts in full, whether it came yet or not; of a flexible group only what
    came, by type. Whether the real service counts a training plan's instances here is not documented: the twin
    does not.
    """
    used: Counter[InstanceTypeName] = Counter()
    for cluster, group in _groups(world):
        types = group_types(group)
        if plan_of(world, group) is not None:
            continue
        if len(types) == 1:
            used[types[0]] += group.target
        else:
            used.update(node.instance_type for node in cluster.nodes_of(group.name) if node.instance_id)
    return used


def quota_left(world: World, instance_type: InstanceTypeName) -> int:
    """For a single attempt of a group that was already admitted: its own target is counted in the use."""
    used = sum(
        node.instance_type == instance_type and node.instance_id is not None
        for cluster, group in _groups(world)
        if plan_of(world, group) is None
        for node in cluster.nodes_of(group.name)
    )
    return world.quotas.get(instance_type, 0) - used


def plan_in_use(world: World, plan: Plan) -> int:
    return sum(
        node.instance_id is not None
        for cluster, group in _groups(world)
        if plan_of(world, group) is plan
        for node in cluster.nodes_of(group.name)
    )


def _take_from_plan(world: World, plan: Plan, zones: list[ZoneId]) -> Grant | str:
    if plan.zone not in zones:
        return PLAN_ELSEWHERE.format(plan=plan.name, zone=plan.zone, zones=", ".join(zones))
    left = plan.count - plan_in_use(world, plan)
    if plan.status != "Active" or left <= 0:
        return PLAN_EXHAUSTED.format(plan=plan.name, status=plan.status, left=max(left, 0))
    return Grant(plan.zone, plan.instance_type)


def _groups(world: World) -> Iterable[tuple[Cluster, Group]]:
    return ((cluster, group) for cluster in world.clusters.values() for group in cluster.groups.values())
