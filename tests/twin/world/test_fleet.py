"""What holds for the fleet whatever is done to it: nothing appears from nowhere, nothing is lost, all comes to rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from core.ids import InstanceTypeName, ZoneId
from tests.fakes.environment import FakeEnvironment
from tests.fakes.orchestration import FakeOrchestration
from twin.clock import TwinClock
from twin.world import capacity, events
from twin.world.provisioning import Provisioning
from twin.world.recovery import Recovery
from twin.world.simulation import Simulation
from twin.world.state import Cluster, Group, Node, World, Zone

ZONE, TYPE = ZoneId("usw2-az1"), InstanceTypeName("ml.p5.48xlarge")
POOL, QUOTA, FIRST = 12, 20, 3
STOPPED = 1e-6
DAY_SECONDS = 24 * 3600.0

Action = tuple[str, int]
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["target", "delete", "replace", "reboot", "check", "xid", "fail_script", "wait"]),
        st.integers(0, 15),
    ),
    max_size=25,
)


@dataclass(slots=True)
class Fleet:
    """One Continuous cluster on EKS with one group, and nothing else in the world."""

    sim: Simulation
    provisioning: Provisioning
    recovery: Recovery
    environment: FakeEnvironment
    orchestration: FakeOrchestration
    cluster: Cluster

    @property
    def group(self) -> Group:
        return self.cluster.groups["workers"]

    @property
    def nodes(self) -> list[Node]:
        return list(self.cluster.nodes.values())

    def wait(self, seconds: float) -> None:
        self.sim.clock.advance(seconds)
        self.sim.advance()

    def set_target(self, target: int) -> None:
        old, self.group.target = self.group.target, target
        if target != old:
            events.begin_scaling(self.sim, self.cluster, {"workers": old})
            self.provisioning.reconcile(self.sim, self.cluster, self.group)

    def do(self, action: Action) -> None:
        kind, number = action
        running = [node for node in self.nodes if node.status == "Running"]
        node = running[number % len(running)] if running else None
        match kind, node:
            case "target", _:
                self.set_target(min(number, QUOTA))
            case "fail_script", _:
                self.sim.world.failing_scripts += 1
            case "wait", _:
                self.wait(number * 240)
            case "delete", Node():
                self.group.target -= 1
                self.provisioning.terminate(self.sim, self.cluster, node)
            case "replace", Node():
                self.provisioning.replace(self.sim, self.cluster, node)
            case "reboot", Node():
                self.provisioning.reboot(self.sim, self.cluster, node)
            case "check", Node():
                self.provisioning.deep_check(self.sim, self.cluster, node)
            case "xid", Node():
                self.recovery.xid(self.sim, self.cluster, node, (31, 73, 74)[number % 3])
            case _:
                pass


def make_fleet(seed: int) -> Fleet:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    zone = Zone(zone_id=ZONE, name="us-west-2a", free={TYPE: POOL})
    world = World(region="us-west-2", zones={ZONE: zone}, quotas={TYPE: QUOTA})
    environment, orchestration = FakeEnvironment(), FakeOrchestration()
    orchestration.create_control_plane("eks")
    provisioning = Provisioning(environment)
    recovery = Recovery(provisioning, environment)
    actions = provisioning.actions() | recovery.actions()
    sim = Simulation(world, TwinClock(now, STOPPED), seed, Random(seed), orchestration, None, actions)
    group = Group(name="workers", spec={"InstanceType": TYPE}, target=FIRST)
    cluster = Cluster(
        name="c",
        cluster_id="abc",
        arn="arn",
        status="Creating",
        created_at=now,
        listed_from=now - timedelta(1),
        spec={
            "NodeProvisioningMode": "Continuous",
            "VpcConfig": {"Subnets": [ZONE]},
            "Orchestrator": {"Eks": {"ClusterArn": "arn:cluster/eks"}},
        },
        groups={"workers": group},
    )
    world.clusters["c"] = cluster
    sim.after(60, "cluster.setup", cluster="abc")
    return Fleet(sim, provisioning, recovery, environment, orchestration, cluster)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1000), ACTIONS)
def test_no_instance_appears_from_nowhere_or_is_lost(seed: int, actions: list[Action]) -> None:
    fleet = make_fleet(seed)
    for action in actions:
        fleet.do(action)

        held = [node for node in fleet.nodes if node.instance_id is not None]
        free = fleet.sim.world.zones[ZONE].free[TYPE]
        assert free >= 0
        assert free + len(held) == POOL
        assert len({node.instance_id for node in held}) == len(held)
        assert fleet.environment.held == len(held) * capacity.addresses(TYPE, on_eks=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1000), ACTIONS)
def test_the_orchestrator_knows_only_instances_that_exist(seed: int, actions: list[Action]) -> None:
    fleet = make_fleet(seed)
    for action in actions:
        fleet.do(action)

        known = set(fleet.orchestration.planes["eks"])
        assert known <= {node.kubernetes_name for node in fleet.nodes if node.instance_id is not None}
        assert {node.kubernetes_name for node in fleet.nodes if node.is_ready} <= known


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1000), ACTIONS)
def test_all_comes_to_rest_at_what_was_asked_for_and_can_be_had(seed: int, actions: list[Action]) -> None:
    fleet = make_fleet(seed)
    for action in actions:
        fleet.do(action)

    fleet.wait(2 * DAY_SECONDS)

    wanted = min(fleet.group.target, POOL)
    ready = [node for node in fleet.nodes if node.status == "Running" and node.is_ready]
    assert len(ready) == wanted
    assert len(fleet.nodes) == fleet.group.target
    assert {node.listed_status for node in ready} <= {"Running"}
    if fleet.group.target <= POOL:
        assert {operation.status for operation in fleet.cluster.operations} <= {"Done", "Superseded"}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), ACTIONS)
def test_the_same_seed_and_deeds_give_the_same_fleet(seed: int, actions: list[Action]) -> None:
    first, second = make_fleet(seed), make_fleet(seed)
    for action in actions:
        first.do(action)
        second.do(action)
    for fleet in (first, second):
        fleet.wait(DAY_SECONDS)

    assert [node.instance_id for node in first.nodes] == [node.instance_id for node in second.nodes]
