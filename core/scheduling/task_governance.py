"""HyperPod task governance as quotas: teams become queues, capacity pools flavors, the cluster one cohort.

Sources: SageMaker `CreateComputeQuota` and `CreateClusterSchedulerConfig` (botocore 1.44.8) and the task
governance pages of the HyperPod guide. How AWS's add-on sets Kueue's `reclaimWithinCohort` is not published: a
guaranteed quota that does not come back is none, hence `Any` by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.cluster.instance_types import INSTANCE_TYPES, InstanceType
from core.cluster.quotas import ComputeQuota, PreemptTeamTasks, SchedulerPolicy, SharingStrategy
from core.cluster.workloads import PodSet, Workload
from core.ids import InstanceTypeName
from core.scheduling.capacity import EFA, INSTANCE_TYPE_LABEL, CapacityPool, pool_order, whole_instances
from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.policies import Gates, PreemptionPolicy, QueueingStrategy, QueuePreemption, SchedulerConfig
from core.scheduling.team_quotas import TeamQuota, check_quotas, team_quota
from core.scheduling.topology import HOSTNAME_LEVEL
from core.scheduling.world import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    NodeRequirement,
    PendingWorkload,
    PodSetRequest,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    SelectorOperator,
    Taint,
    TaintEffect,
    Toleration,
    TolerationOperator,
    Topology,
    TopologyNode,
    TopologyRequest,
    World,
)

COHORT: Final = "cluster"
TOPOLOGY: Final = "cluster"
ZONE_LEVEL: Final = "topology.k8s.aws/zone-id"
SPOT_TAINT: Final = "muster.dev/spot"
"""Ours: keeps workloads off spot capacity unless they tolerate being interrupted."""

BASE_RESOURCES: Final = ("cpu", "memory", "nvidia.com/gpu", "aws.amazon.com/neurondevice", EFA)


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernedCluster:
    """A cluster under task governance, as far as scheduling cares."""

    quotas: tuple[ComputeQuota, ...]
    pools: tuple[CapacityPool, ...]
    """Usable capacity now: nodes that are only on their way do not count."""
    policy: SchedulerPolicy = field(default_factory=SchedulerPolicy)
    nodes: tuple[TopologyNode, ...] = ()
    """With nodes, workloads are also placed: quota above what is there then admits nothing that cannot run."""
    levels: tuple[str, ...] = (ZONE_LEVEL, HOSTNAME_LEVEL)
    reclaim: PreemptionPolicy = PreemptionPolicy.ANY
    strategy: QueueingStrategy = QueueingStrategy.BEST_EFFORT_FIFO
    instance_types: Mapping[InstanceTypeName, InstanceType] = field(default_factory=lambda: INSTANCE_TYPES)


def governed_world(cluster: GovernedCluster, workloads: Iterable[PendingWorkload] = ()) -> World:
    """Raises `WorldInvalid` for what AWS would refuse, naming the field."""
    check_quotas(cluster.quotas, cluster.policy)
    active = [quota for quota in cluster.quotas if quota.is_active]
    figures = _figures(cluster)
    teams = [team_quota(quota, cluster.pools, figures, may_borrow=len(active) > 1) for quota in active]
    resources = _resources(teams)
    has_nodes = bool(cluster.nodes)
    return World(
        flavors=tuple(_flavor(pool, has_nodes) for pool in cluster.pools),
        cohorts=(Cohort(name=COHORT, groups=_idle_groups(cluster, teams, resources, figures)),),
        queues=tuple(_queue(cluster, quota, team, resources) for quota, team in zip(active, teams, strict=True)),
        topologies=(Topology(name=TOPOLOGY, levels=cluster.levels),) if has_nodes else (),
        nodes=cluster.nodes,
        pending=tuple(workloads),
        config=scheduler_config(cluster.policy),
    )


def scheduler_config(policy: SchedulerPolicy) -> SchedulerConfig:
    """Fair share off = first come, first served among those who borrow alike."""
    return SchedulerConfig(
        fair_sharing=policy.fair_share, gates=Gates(priority_sorting_within_cohort=policy.fair_share)
    )


def overcommitted(cluster: GovernedCluster) -> dict[tuple[str, str], tuple[int, int]]:
    """(flavor, resource) -> (owned by all teams, there): quotas may exceed capacity while nodes are away."""
    figures = _figures(cluster)
    owned: dict[tuple[str, str], int] = {}
    for quota in cluster.quotas:
        if quota.is_active:
            team = team_quota(quota, cluster.pools, figures, may_borrow=False)
            for pair, amount in team.nominal.items():
                owned[pair] = owned.get(pair, 0) + amount
    there = _capacity(cluster.pools, figures)
    return {pair: (amount, there.get(pair, 0)) for pair, amount in owned.items() if amount > there.get(pair, 0)}


def pending_workload(workload: Workload, queued_at_s: float, *, tolerates_spot: bool = False) -> PendingWorkload:
    """A team's job as the scheduler sees it. Pods that use EFA must share a zone.

    Raises `WorldInvalid` when the job has no team: it has no queue then.
    """
    if workload.team is None:
        raise world_invalid(WorldField.TEAM_MISSING, name=workload.name)
    return PendingWorkload(
        uid=workload.name,
        queue=str(workload.team),
        priority=workload.priority,
        queued_at_s=queued_at_s,
        podsets=tuple(_podset(podset, tolerates_spot) for podset in workload.podsets),
    )


def _podset(podset: PodSet, tolerates_spot: bool) -> PodSetRequest:
    requests = dict(podset.requests)
    accepts = tuple(str(name) for name in podset.instance_types)
    spot = Toleration(key=SPOT_TAINT, operator=TolerationOperator.EXISTS)
    return PodSetRequest(
        name=podset.name,
        count=podset.count,
        min_count=podset.min_count,
        requests=requests,
        affinity=((NodeRequirement(key=INSTANCE_TYPE_LABEL, operator=SelectorOperator.IN, values=accepts),),)
        if accepts
        else (),
        tolerations=(spot,) if tolerates_spot else (),
        topology=TopologyRequest(required=ZONE_LEVEL) if requests.get(EFA) else None,
    )


def _figures(cluster: GovernedCluster) -> dict[InstanceTypeName, InstanceType]:
    names = {pool.instance_type for pool in cluster.pools}
    names |= {resource.instance_type for quota in cluster.quotas for resource in quota.resources}
    names |= {r.instance_type for quota in cluster.quotas for r in quota.sharing.absolute_borrow_limits}
    for name in sorted(names):
        if name not in cluster.instance_types:
            raise world_invalid(WorldField.INSTANCE_TYPE_UNKNOWN, name=name)
    return {name: cluster.instance_types[name] for name in names}


def _resources(teams: Sequence[TeamQuota]) -> tuple[str, ...]:
    """One group holds everything: each flavor answers for all resources, with 0 for what it lacks."""
    extra = {resource for team in teams for _, resource in (*team.nominal, *team.borrowing)}
    return (*BASE_RESOURCES, *sorted(extra - set(BASE_RESOURCES)))


def _capacity(
    pools: Iterable[CapacityPool], figures: Mapping[InstanceTypeName, InstanceType]
) -> dict[tuple[str, str], int]:
    return {
        (pool.flavor, resource): amount
        for pool in pools
        for resource, amount in whole_instances(figures[pool.instance_type], pool.count, pool.mig).items()
    }


def _idle_groups(
    cluster: GovernedCluster,
    teams: Sequence[TeamQuota],
    resources: tuple[str, ...],
    figures: Mapping[InstanceTypeName, InstanceType],
) -> tuple[ResourceGroup, ...]:
    """What no quota covers, for everybody to borrow: recomputed whenever nodes or policies change."""
    if not cluster.policy.idle_resource_sharing or not cluster.pools:
        return ()
    there = _capacity(cluster.pools, figures)
    flavors = []
    for pool in cluster.pools:
        quotas = {}
        for resource in resources:
            pair = (pool.flavor, resource)
            owned = sum(team.nominal.get(pair, 0) for team in teams)
            quotas[resource] = Quota(nominal=max(0, there.get(pair, 0) - owned))
        flavors.append(FlavorQuotas(flavor=pool.flavor, quotas=quotas))
    return (ResourceGroup(resources=resources, flavors=tuple(flavors)),)


def _flavor(pool: CapacityPool, has_nodes: bool) -> ResourceFlavor:
    return ResourceFlavor(
        name=pool.flavor,
        labels=pool.labels,
        taints=(Taint(key=SPOT_TAINT, effect=TaintEffect.NO_SCHEDULE),) if pool.is_spot else (),
        topology=TOPOLOGY if has_nodes else None,
    )


def _queue(cluster: GovernedCluster, quota: ComputeQuota, team: TeamQuota, resources: tuple[str, ...]) -> ClusterQueue:
    lends = quota.sharing.strategy is not SharingStrategy.DONT_LEND
    ordered = pool_order(cluster.pools, [r.instance_type for r in quota.resources])
    flavors = tuple(
        FlavorQuotas(
            flavor=pool.flavor,
            quotas={
                resource: Quota(
                    nominal=team.nominal.get((pool.flavor, resource), 0),
                    borrowing_limit=team.borrowing.get((pool.flavor, resource), 0),
                    lending_limit=None if lends else 0,
                )
                for resource in resources
            },
        )
        for pool in ordered
    )
    preempts = quota.preempt_team_tasks is PreemptTeamTasks.LOWER_PRIORITY
    return ClusterQueue(
        name=str(quota.team),
        cohort=COHORT,
        strategy=cluster.strategy,
        weight=float(quota.fair_share_weight),
        groups=(ResourceGroup(resources=resources, flavors=flavors),) if flavors else (),
        preemption=QueuePreemption(
            within_queue=PreemptionPolicy.LOWER_PRIORITY if preempts else PreemptionPolicy.NEVER,
            reclaim_in_cohort=cluster.reclaim,
        ),
    )
