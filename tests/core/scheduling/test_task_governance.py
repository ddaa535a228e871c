"""HyperPod task governance: what AWS's table of settings comes to, in worlds worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.cluster.clusters import CapacityMode
from core.cluster.instance_types import INSTANCE_TYPES
from core.cluster.quotas import (
    ComputeQuota,
    PreemptTeamTasks,
    PriorityClass,
    QuotaResource,
    ResourceSharing,
    SchedulerPolicy,
    SharingStrategy,
)
from core.ids import InstanceTypeName, TeamName
from core.scheduling.capacity import CapacityPool
from core.scheduling.errors import WorldField, WorldInvalid
from core.scheduling.scheduler import Scheduler
from core.scheduling.task_governance import (
    SPOT_TAINT,
    ZONE_LEVEL,
    GovernedCluster,
    governed_world,
    overcommitted,
)
from core.scheduling.team_quotas import amounts
from core.scheduling.topology import HOSTNAME_LEVEL
from core.scheduling.world import (
    PendingWorkload,
    PodSetRequest,
    Quota,
    Toleration,
    TolerationOperator,
    TopologyNode,
    TopologyRequest,
    World,
)
from tests.builders.scheduling import settle

P5 = InstanceTypeName("ml.p5.48xlarge")
G5 = InstanceTypeName("ml.g5.8xlarge")
ON_DEMAND = CapacityPool(instance_type=P5, count=1)
GPU = "nvidia.com/gpu"
GIB = 2**30


def team(
    name: str,
    nodes: int,
    *,
    strategy: SharingStrategy = SharingStrategy.LEND_AND_BORROW,
    percent: int = 50,
    caps: tuple[QuotaResource, ...] = (),
    preempts: PreemptTeamTasks = PreemptTeamTasks.LOWER_PRIORITY,
    weight: int = 1,
) -> ComputeQuota:
    return ComputeQuota(
        name=f"{name}-quota",
        team=TeamName(name),
        resources=(QuotaResource(instance_type=P5, count=nodes),),
        sharing=ResourceSharing(strategy=strategy, borrow_limit_percent=percent, absolute_borrow_limits=caps),
        preempt_team_tasks=preempts,
        fair_share_weight=weight,
    )


def cluster(*quotas: ComputeQuota, nodes: int = 8, policy: SchedulerPolicy | None = None) -> GovernedCluster:
    pools = (CapacityPool(instance_type=P5, count=nodes),)
    return GovernedCluster(quotas=quotas, pools=pools, policy=policy or SchedulerPolicy())


def job(uid: str, team: str, nodes: int, *, priority: int = 0, at_s: float = 0.0) -> PendingWorkload:
    """A gang of whole p5 nodes, one pod each."""
    podset = PodSetRequest(name="workers", count=nodes, requests={GPU: 8})
    return PendingWorkload(uid=uid, queue=team, priority=priority, queued_at_s=at_s, podsets=(podset,))


def quota_of(world: World, team: str, resource: str = GPU) -> Quota:
    queue = next(q for q in world.queues if q.name == team)
    return queue.groups[0].flavors[0].quotas[resource]


def running(scheduler: Scheduler) -> list[str]:
    return sorted(workload.uid for workload in scheduler.holders())


@pytest.mark.parametrize(
    ("strategy", "percent", "borrowing", "lending"),
    [
        pytest.param(SharingStrategy.DONT_LEND, 50, 0, 0, id="DontLend: neither"),
        pytest.param(SharingStrategy.LEND, 50, 0, None, id="Lend: lends all, borrows nothing"),
        pytest.param(SharingStrategy.LEND_AND_BORROW, 50, 8, None, id="LendAndBorrow: half of its own more"),
        pytest.param(SharingStrategy.LEND_AND_BORROW, 500, 80, None, id="up to five times"),
        pytest.param(SharingStrategy.LEND_AND_BORROW, 0, 0, None, id="zero percent borrows nothing"),
    ],
)
def test_each_sharing_strategy_has_its_limits(
    strategy: SharingStrategy, percent: int, borrowing: int, lending: int | None
) -> None:
    world = governed_world(cluster(team("a", 2, strategy=strategy, percent=percent), team("b", 1)))

    assert quota_of(world, "a") == Quota(nominal=16, borrowing_limit=borrowing, lending_limit=lending)


def test_an_absolute_limit_overrides_the_percentage() -> None:
    cap = QuotaResource(instance_type=P5, accelerators=3)
    world = governed_world(cluster(team("a", 2, caps=(cap,)), team("b", 1)))

    assert quota_of(world, "a").borrowing_limit == 3


def test_a_single_team_borrows_nothing() -> None:
    assert quota_of(governed_world(cluster(team("a", 2))), "a").borrowing_limit == 0


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(
            QuotaResource(instance_type=P5, count=2),
            {"cpu": 384_000, "memory": 4096 * GIB, GPU: 16, "vpc.amazonaws.com/efa": 64},
            id="instances",
        ),
        pytest.param(
            QuotaResource(instance_type=P5, accelerators=4),
            {"cpu": 96_000, "memory": 1024 * GIB, GPU: 4, "vpc.amazonaws.com/efa": 16},
            id="accelerators bring vCPUs and memory in proportion",
        ),
        pytest.param(
            QuotaResource(instance_type=P5, accelerators=4, vcpus=10, memory_gib=20),
            {"cpu": 10_000, "memory": 20 * GIB, GPU: 4, "vpc.amazonaws.com/efa": 16},
            id="unless they are given",
        ),
        pytest.param(
            QuotaResource(instance_type=P5, vcpus=96),
            {"cpu": 96_000, "memory": 1024 * GIB},
            id="vCPUs bring memory and no accelerators",
        ),
        pytest.param(
            QuotaResource(instance_type=P5, memory_gib=1024),
            {"cpu": 96_000, "memory": 1024 * GIB},
            id="memory brings vCPUs",
        ),
        pytest.param(
            QuotaResource(instance_type=P5, mig_profile="mig-1g.10gb", mig_count=14),
            {"cpu": 48_000, "memory": 512 * GIB, "nvidia.com/mig-1g.10gb": 14},
            id="MIG partitions",
        ),
    ],
)
def test_a_quota_entry_comes_to_these_amounts(resource: QuotaResource, expected: dict[str, int]) -> None:
    assert amounts(resource, INSTANCE_TYPES[P5]) == expected


def test_idle_capacity_is_what_no_quota_covers_and_follows_the_nodes() -> None:
    def idle(nodes: int, *, sharing: bool = True) -> int:
        policy = SchedulerPolicy(idle_resource_sharing=sharing)
        groups = governed_world(cluster(team("a", 2), team("b", 1), nodes=nodes, policy=policy)).cohorts[0].groups
        return groups[0].flavors[0].quotas[GPU].nominal if groups else 0

    assert (idle(8), idle(5), idle(2), idle(8, sharing=False)) == (40, 16, 0, 0)


def test_a_lender_gets_its_nodes_back_and_the_whole_borrower_is_stopped() -> None:
    """AWS's own walk-through: A borrows one node; B submits inside its quota; all of A's gang is suspended."""
    scheduler = Scheduler(governed_world(cluster(team("a", 2), team("b", 2), nodes=4), [job("a-big", "a", 3)]))
    assert settle(scheduler) == []
    scheduler.submit(job("b-own", "b", 2, at_s=1.0))

    assert settle(scheduler)[:1] == ["a-big"]
    assert running(scheduler) == ["b-own"]


def test_a_team_that_does_not_lend_keeps_idle_nodes_to_itself() -> None:
    scheduler = Scheduler(
        governed_world(
            cluster(team("a", 2), team("b", 2, strategy=SharingStrategy.DONT_LEND), nodes=4), [job("a-big", "a", 3)]
        )
    )

    settle(scheduler)

    assert running(scheduler) == []


@pytest.mark.parametrize(
    ("preempts", "expected"),
    [(PreemptTeamTasks.LOWER_PRIORITY, ["high"]), (PreemptTeamTasks.NEVER, ["low"])],
)
def test_preemption_inside_a_team_is_a_setting(preempts: PreemptTeamTasks, expected: list[str]) -> None:
    scheduler = Scheduler(governed_world(cluster(team("a", 2, preempts=preempts), nodes=2), [job("low", "a", 2)]))
    settle(scheduler)
    scheduler.submit(job("high", "a", 2, priority=9, at_s=1.0))

    settle(scheduler)

    assert running(scheduler) == expected


def test_equal_priority_is_never_preempted_inside_a_team() -> None:
    scheduler = Scheduler(governed_world(cluster(team("a", 2), nodes=2), [job("first", "a", 2)]))
    settle(scheduler)
    scheduler.submit(job("second", "a", 2, at_s=1.0))

    settle(scheduler)

    assert running(scheduler) == ["first"]


def test_the_heavier_team_borrows_first_and_weight_zero_last() -> None:
    quotas = (team("heavy", 1, percent=500, weight=10), team("zero", 1, percent=500, weight=0))
    waiting = [job("z", "zero", 2), job("h", "heavy", 2, at_s=5.0)]
    scheduler = Scheduler(governed_world(cluster(*quotas, nodes=3), waiting))

    settle(scheduler)

    assert running(scheduler) == ["h"]


def test_without_fair_share_the_first_come_borrows_first_whatever_its_priority() -> None:
    quotas = (team("a", 1, percent=500, weight=10), team("b", 1, percent=500, weight=0))
    waiting = [job("urgent", "a", 2, priority=9, at_s=5.0), job("early", "b", 2, at_s=1.0)]
    policy = SchedulerPolicy(fair_share=False)
    scheduler = Scheduler(governed_world(cluster(*quotas, nodes=3, policy=policy), waiting))

    settle(scheduler)

    assert running(scheduler) == ["early"]


def test_quota_beyond_the_nodes_that_are_there_admits_nothing_that_cannot_run() -> None:
    nodes = tuple(
        TopologyNode(
            name=f"n{index}",
            labels={**ON_DEMAND.labels, ZONE_LEVEL: "usw2-az1", HOSTNAME_LEVEL: f"n{index}"},
            allocatable={GPU: 8, "cpu": 192_000, "memory": 2048 * GIB, "pods": 110},
        )
        for index in range(2)
    )
    governed = replace(cluster(team("a", 4), nodes=2), nodes=nodes)
    scheduler = Scheduler(governed_world(governed, [job("three", "a", 3), job("two", "a", 2, at_s=1.0)]))

    settle(scheduler)

    assert running(scheduler) == ["two"]
    assert overcommitted(governed)["ml.p5.48xlarge", GPU] == (32, 16)


def test_pods_that_use_efa_share_a_zone() -> None:
    zones = ("usw2-az1", "usw2-az2", "usw2-az2")
    nodes = tuple(
        TopologyNode(
            name=f"n{index}",
            labels={**ON_DEMAND.labels, ZONE_LEVEL: zone, HOSTNAME_LEVEL: f"n{index}"},
            allocatable={GPU: 8, "vpc.amazonaws.com/efa": 32, "cpu": 192_000, "memory": 2048 * GIB, "pods": 110},
        )
        for index, zone in enumerate(zones)
    )
    podset = PodSetRequest(
        name="workers",
        count=2,
        requests={GPU: 8, "vpc.amazonaws.com/efa": 32},
        topology=TopologyRequest(required=ZONE_LEVEL),
    )
    waiting = PendingWorkload(uid="w", queue="a", podsets=(podset,))
    scheduler = Scheduler(governed_world(replace(cluster(team("a", 3), nodes=3), nodes=nodes), [waiting]))

    settle(scheduler)

    (admitted,) = scheduler.holders()
    assert [place.values[-1] for place in admitted.podsets[0].placement] == ["n1", "n2"]


def test_plan_capacity_backs_the_quota_before_on_demand_and_spot_never_does() -> None:
    pools = (
        CapacityPool(instance_type=P5, count=1),
        CapacityPool(instance_type=P5, count=1, mode=CapacityMode.TRAINING_PLAN, plan="winter"),
        CapacityPool(instance_type=P5, count=4, mode=CapacityMode.SPOT),
    )
    world = governed_world(replace(cluster(team("a", 2), team("b", 0)), pools=pools))

    queue = next(q for q in world.queues if q.name == "a")
    assert {f.flavor: f.quotas[GPU].nominal for f in queue.groups[0].flavors} == {
        "ml.p5.48xlarge@plan-winter": 8,
        "ml.p5.48xlarge": 8,
        "ml.p5.48xlarge@spot": 0,
    }


def test_spot_is_borrowed_only_by_who_tolerates_losing_it() -> None:
    pools = (
        CapacityPool(instance_type=P5, count=2),
        CapacityPool(instance_type=P5, count=1, mode=CapacityMode.SPOT),
    )
    waiting = [job("full", "a", 2), job("firm", "a", 1, at_s=1.0), job("loose", "a", 1, at_s=2.0)]
    spot = Toleration(key=SPOT_TAINT, operator=TolerationOperator.EXISTS)
    waiting[2] = replace(waiting[2], podsets=(replace(waiting[2].podsets[0], tolerations=(spot,)),))
    scheduler = Scheduler(governed_world(replace(cluster(team("a", 2), team("b", 0)), pools=pools), waiting))

    settle(scheduler)

    assert running(scheduler) == ["full", "loose"]


@pytest.mark.parametrize(
    ("problem", "governed"),
    [
        pytest.param(WorldField.OUT_OF_RANGE, cluster(team("a", 1, weight=101)), id="weight above 100"),
        pytest.param(WorldField.OUT_OF_RANGE, cluster(team("a", 1, percent=-1)), id="negative borrow limit"),
        pytest.param(WorldField.NAME_TWICE, cluster(team("a", 1), team("a", 1)), id="a team twice"),
        pytest.param(WorldField.QUOTA_AMOUNT_MISSING, cluster(team("a", -1)), id="negative count"),
        pytest.param(
            WorldField.TOO_MANY,
            cluster(
                policy=SchedulerPolicy(priority_classes=tuple(PriorityClass(name=f"p{i}", weight=i) for i in range(11)))
            ),
            id="eleven priority classes",
        ),
        pytest.param(
            WorldField.INSTANCE_TYPE_UNKNOWN,
            replace(cluster(), pools=(CapacityPool(instance_type=InstanceTypeName("ml.z9.huge"), count=1),)),
            id="unknown instance type",
        ),
    ],
)
def test_what_aws_would_refuse_is_refused_by_field(problem: WorldField, governed: GovernedCluster) -> None:
    with pytest.raises(WorldInvalid) as refused:
        governed_world(governed)

    assert refused.value.problem is problem


def test_a_cluster_without_nodes_admits_nothing() -> None:
    scheduler = Scheduler(governed_world(replace(cluster(team("a", 0)), pools=()), [job("w", "a", 1)]))

    assert scheduler.cycle().admitted == ()


def test_another_instance_type_is_another_flavor_in_the_teams_own_order() -> None:
    quota = replace(
        team("a", 0),
        resources=(QuotaResource(instance_type=G5, count=1), QuotaResource(instance_type=P5, count=1)),
    )
    pools = (CapacityPool(instance_type=P5, count=1), CapacityPool(instance_type=G5, count=1))
    world = governed_world(replace(cluster(quota), pools=pools))

    assert [f.flavor for f in world.queues[0].groups[0].flavors] == [G5, P5]
