"""Events as people can use them: one per fault, with its reason."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tests.fakes.aws import clients
from tools.errors import RejectedByPlatform
from tools.events import CLUSTER_EVENTS, ClusterEvent, EventsArgs, classify

NO_CAPACITY = "We currently do not have sufficient capacity in the requested Availability Zone (usw2-az1)."


def event(
    number: int, *, seconds: float, resource: str, level: str = "Error", description: str = "failed"
) -> JsonObject:
    minute, second = divmod(seconds, 60)
    return {
        "EventId": f"e-{number}",
        "EventTime": f"2026-03-02T09:{int(minute):02d}:{second:06.3f}+00:00",
        "EventLevel": level,
        "ResourceType": resource,
        "InstanceGroupName": "workers",
        "Description": description,
    }


def read(*events: JsonObject, failure: str = NO_CAPACITY, errors_only: bool = False) -> tuple[ClusterEvent, ...]:
    details: JsonObject = {
        "EventDetails": {"EventDetails": {"EventMetadata": {"Instance": {"FailureMessage": failure}}}}
    }
    world = clients(
        {
            "sagemaker:ListClusterEvents": lambda params: {"Events": list(reversed(events))},
            "sagemaker:DescribeClusterEvent": lambda params: details,
        }
    )
    return CLUSTER_EVENTS.read(world, EventsArgs(cluster="llama", errors_only=errors_only))


def test_the_pair_that_one_fault_writes_counts_once() -> None:
    found = read(event(1, seconds=10, resource="Instance"), event(2, seconds=10.8, resource="InstanceGroup"))

    assert [item.event_id for item in found] == ["e-1"]


def test_two_nodes_that_fail_together_are_two_faults() -> None:
    found = read(
        event(1, seconds=10, resource="Instance"),
        event(2, seconds=10.5, resource="Instance"),
        event(3, seconds=10.8, resource="InstanceGroup"),
        event(4, seconds=11.3, resource="InstanceGroup"),
    )

    assert [item.event_id for item in found] == ["e-1", "e-2"]


def test_a_later_event_of_the_group_is_news() -> None:
    found = read(event(1, seconds=10, resource="Instance"), event(2, seconds=40, resource="InstanceGroup"))

    assert [item.event_id for item in found] == ["e-1", "e-2"]


def test_the_reason_comes_from_the_described_event() -> None:
    (found,) = read(event(1, seconds=10, resource="Instance"))

    assert found.failure_message == NO_CAPACITY
    assert found.failure_class is FailureClass.CAPACITY


def test_the_noise_of_scaling_is_left_out() -> None:
    noise = "2 node(s) lost orchestration-ready status"

    assert read(event(1, seconds=10, resource="Cluster", level="Warn", description=noise)) == ()


def test_a_cluster_without_events_has_none() -> None:
    def refuse(params: JsonObject) -> JsonObject:
        raise RejectedByPlatform(
            message("tools.rejected", call="c", code="ValidationException", raw="needs Continuous"),
            call="sagemaker:ListClusterEvents",
            failure_class=FailureClass.CONFIG,
        )

    assert CLUSTER_EVENTS.read(clients({"sagemaker:ListClusterEvents": refuse}), EventsArgs(cluster="old")) == ()


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (NO_CAPACITY, FailureClass.CAPACITY),
        ("No subnets in the capacity AZ: training plan p", FailureClass.CAPACITY),
        ("Lifecycle scripts did not run successfully. Exit code 1.", FailureClass.CONFIG),
        ("EFA health checks did not run successfully. Ensure that security group sg-1", FailureClass.CONFIG),
        (
            "arn:aws:iam::1:role/x does not have permission to perform ec2:CreateNetworkInterface",
            FailureClass.PERMISSION,
        ),
        ("The account-level service limit 'ml.p5.48xlarge for cluster usage' is 0", FailureClass.QUOTA),
        ("Something that nobody has seen before", FailureClass.UNKNOWN),
    ],
)
def test_a_failure_is_classed_by_awss_words(failure: str, expected: FailureClass) -> None:
    assert classify(failure) is expected
