"""The wait for nodes: what counts as done, and which trouble ends it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from core.cluster.clusters import (
    Cluster,
    ClusterStatus,
    InstanceGroup,
    InstanceGroupStatus,
    InstanceStatus,
    Node,
    NodeHealthStatus,
    Orchestrator,
)
from core.failures import NextAction
from core.ids import ClusterName, InstanceTypeName, NodeLogicalId
from core.reasons import FailureClass
from tests.fakes.clock import START
from tests.fakes.step_context import FakeContext
from tools.clusters import ClusterDetails
from tools.events import ClusterEvent
from tools.nodes import ClusterNodes
from workflows.catalogue.create_cluster.nodes import VERIFY, wait_for_nodes
from workflows.catalogue.create_cluster.params import CreateClusterParams
from workflows.definition import Ask, Fail, Next, Outcome, Wait

TYPE = InstanceTypeName("ml.p5.48xlarge")
PARAMS = CreateClusterParams(name="llama", zone_id="usw2-az2", instance_type=TYPE, count=2)
NO_CAPACITY = "We currently do not have sufficient capacity in the requested Availability Zone."


NO_ALTERNATIVES = {"offering_zones": (), "type_figures": None, "cents_per_hour": None, "training_plans": ()}


def details(status: ClusterStatus = ClusterStatus.IN_SERVICE, failure: str = "") -> ClusterDetails:
    group = InstanceGroup(
        name="workers",
        instance_types=(TYPE,),
        status=InstanceGroupStatus.IN_SERVICE,
        current_count=0,
        target_count=2,
    )
    cluster = Cluster(
        name=ClusterName("llama"),
        arn="arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl",
        orchestrator=Orchestrator.EKS,
        status=status,
        groups=(group,),
        failure_message=failure,
    )
    return ClusterDetails(
        cluster=cluster, eks_arn="x/llama-eks", subnet_ids=(), security_group_ids=(), is_continuous=True
    )


def node(
    number: int,
    *,
    status: InstanceStatus = InstanceStatus.RUNNING,
    is_ready: bool = True,
    health: NodeHealthStatus = NodeHealthStatus.SCHEDULABLE,
    group: str = "workers",
) -> Node:
    return Node(
        logical_id=NodeLogicalId(f"node-{number}"),
        instance_id=None,
        group=group,
        instance_type=TYPE,
        zone=None,
        status=status,
        is_ready=is_ready,
        health=health,
    )


def error(failure: str, *, minutes: float = 0) -> ClusterEvent:
    return ClusterEvent(
        event_id=f"{failure[:5]}-{minutes}",
        time=START + timedelta(minutes=minutes),
        level="Error",
        resource_type="Instance",
        group="workers",
        instance_id="",
        description="Failed to provision EC2 Instance.",
        failure_message=failure,
    )


def untold(*, minutes: float) -> ClusterEvent:
    """An error whose reason was not looked up: only the newest ones are."""
    return replace(error("", minutes=minutes), failure_message="")


def wait(
    *nodes: Node,
    cluster: ClusterDetails | None = None,
    is_gone: bool = False,
    events: tuple[ClusterEvent, ...] = (),
    minutes: float = 1,
    count: int = 2,
) -> tuple[Outcome, FakeContext]:
    context = FakeContext(
        facts={
            "describe_cluster": None if is_gone else cluster or details(),
            "cluster_nodes": ClusterNodes(nodes=nodes, orchestrator_answers=True, allocatable={}),
            "cluster_events": events,
            "node_log_tail": "",
            **NO_ALTERNATIVES,
        },
        now=START + timedelta(minutes=minutes),
    )
    return wait_for_nodes(context, PARAMS.model_copy(update={"count": count})), context


def failure_of(outcome: Outcome) -> Fail:
    assert isinstance(outcome, Fail), outcome
    return outcome


def test_all_nodes_running_and_ready_is_done() -> None:
    assert wait(node(1), node(2))[0] == Next(to=VERIFY)


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(node(2, is_ready=False), id="running but not ready"),
        pytest.param(node(2, status=InstanceStatus.PENDING), id="still starting"),
        pytest.param(node(2, health=NodeHealthStatus.UNSCHEDULABLE), id="not schedulable"),
        pytest.param(node(2, status=InstanceStatus.UNKNOWN), id="in a state that nobody knows"),
        pytest.param(node(2, group="others"), id="of another group"),
    ],
)
def test_one_node_that_is_not_usable_is_one_too_few(second: Node) -> None:
    outcome, context = wait(node(1), second)

    assert isinstance(outcome, Wait)
    assert context.reports[0].params["ready"] == 1


def test_a_cluster_in_service_without_any_node_is_not_done() -> None:
    assert isinstance(wait()[0], Wait)


def test_a_cluster_that_vanished_ends_the_wait() -> None:
    assert failure_of(wait(is_gone=True)[0]).failure.message.key == "create_cluster.cluster_gone"


@pytest.mark.parametrize("status", [ClusterStatus.FAILED, ClusterStatus.ROLLING_BACK, ClusterStatus.DELETING])
def test_a_failed_cluster_ends_the_wait_with_its_own_reason(status: ClusterStatus) -> None:
    outcome, context = wait(cluster=details(status, NO_CAPACITY))

    failure = failure_of(outcome).failure
    assert failure.failure_class is FailureClass.CAPACITY
    assert failure.evidence
    assert NO_CAPACITY in context.evidence[0]


def test_a_status_that_nobody_knows_is_waited_out() -> None:
    assert isinstance(wait(cluster=details(ClusterStatus.UNKNOWN))[0], Wait)


def test_a_missing_permission_ends_the_wait_at_once() -> None:
    denied = error("The role nodes does not have permission to perform ec2:CreateNetworkInterface.")

    failure = failure_of(wait(events=(denied,))[0]).failure
    assert failure.failure_class is FailureClass.PERMISSION
    assert failure.next_actions[0] is NextAction.FIX_AND_RETRY


def test_a_fault_of_one_attempt_is_left_to_the_next() -> None:
    flaky = error("EFA health checks did not run successfully.")

    outcome, _ = wait(events=(flaky,))
    assert isinstance(outcome, Wait)
    assert outcome.why.key == "create_cluster.node_tried_again"


def test_a_fault_that_comes_back_ends_the_wait() -> None:
    efa = "EFA health checks did not run successfully."

    failure = failure_of(wait(events=(error(efa), error(efa, minutes=11)), minutes=12)[0]).failure
    assert failure.failure_class is FailureClass.CONFIG


def test_silence_after_the_budget_is_escalated() -> None:
    failure = failure_of(wait(node(1), minutes=91)[0]).failure

    assert failure.failure_class is FailureClass.UNKNOWN
    assert NextAction.ESCALATE in failure.next_actions


def test_attempts_that_go_on_after_the_budget_are_waited_for() -> None:
    recent = error("Something that nobody has seen before.", minutes=88)

    assert isinstance(wait(node(1), events=(recent,), minutes=91)[0], Wait)


def test_a_shortage_of_many_nodes_counts_those_whose_reason_was_not_looked_up() -> None:
    events = (*(untold(minutes=1) for _ in range(14)), *(error(NO_CAPACITY, minutes=1) for _ in range(40)))

    outcome, _ = wait(events=events, minutes=5, count=64)
    assert isinstance(outcome, Ask), outcome
    assert outcome.question.prompt.params["got"] == 10


def test_the_first_round_is_waited_out_before_anybody_is_asked() -> None:
    assert isinstance(wait(events=(error(NO_CAPACITY, minutes=1),), minutes=2)[0], Wait)


def test_errors_without_a_reason_do_not_end_the_wait() -> None:
    assert isinstance(wait(events=(untold(minutes=1), untold(minutes=12)), minutes=13)[0], Wait)
