"""Faults through the control endpoint, as a client of the twin meets them."""

from __future__ import annotations

import urllib.error
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError

from tests.twin.aws.account import Account
from tests.twin.aws.serving import TwinUnderTest


def arm(twin: TwinUnderTest, **fault: object) -> None:
    twin.control("POST", "faults", [fault])


def test_a_lost_response_breaks_the_connection_after_the_effect(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    arm(twin, kind="lost_response", at="effect:sagemaker:CreateCluster")

    with pytest.raises((ConnectionClosedError, BotoCoreError)):
        sagemaker.create_cluster(**account.cluster())

    assert sagemaker.describe_cluster(ClusterName="llama")["ClusterStatus"] == "Creating"
    assert twin.effects()["sagemaker:CreateCluster"] == 1


def test_a_response_is_lost_once(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    arm(twin, kind="lost_response", at="effect:sagemaker:CreateCluster")
    with pytest.raises(BotoCoreError):
        sagemaker.create_cluster(**account.cluster())

    second = sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=1), name="other"))

    assert second["ClusterArn"]


def test_a_capacity_loss_before_the_first_effect_meets_that_very_call(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    twin.reset()
    arm(twin, kind="capacity_loss", at="before_first_effect", zone="usw2-az2", type="ml.p5.48xlarge", to=1)

    twin.client("ec2").create_vpc(CidrBlock="10.2.0.0/16")

    assert twin.control("GET", "state")["free"]["usw2-az2"]["ml.p5.48xlarge"] == 1


def test_a_fault_in_seconds_waits_for_twin_time(twin: TwinUnderTest) -> None:
    arm(twin, kind="capacity_gain", at="seconds:600", zone="usw2-az1", type="ml.p5.48xlarge", to=9)
    before = twin.control("GET", "state")["free"]["usw2-az1"]["ml.p5.48xlarge"]

    twin.advance(minutes=10)

    assert (before, twin.control("GET", "state")["free"]["usw2-az1"]["ml.p5.48xlarge"]) == (2, 9)


def test_nodes_that_were_short_come_when_capacity_does(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=3), zone="usw2-az1"))
    twin.advance(minutes=30)
    arm(twin, kind="capacity_gain", zone="usw2-az1", type="ml.p5.48xlarge", to=1)

    twin.advance(minutes=30)

    assert sagemaker.describe_cluster(ClusterName="llama")["InstanceGroups"][0]["CurrentCount"] == 3


def test_throttling_ends_with_its_time(twin: TwinUnderTest, sagemaker: Any) -> None:
    arm(twin, kind="throttle", seconds=60)
    with pytest.raises(ClientError, match="ThrottlingException"):
        sagemaker.list_clusters()

    twin.advance(minutes=1.1)

    assert sagemaker.list_clusters()["ClusterSummaries"] == []


def test_stale_reads_show_the_world_of_before(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    arm(twin, kind="stale_reads", seconds=120)
    sagemaker.create_cluster(**account.cluster())

    with pytest.raises(ClientError, match="ResourceNotFound"):
        sagemaker.describe_cluster(ClusterName="llama")
    twin.advance(minutes=2.1)

    assert sagemaker.describe_cluster(ClusterName="llama")["ClusterName"] == "llama"


def test_a_hostile_service_answers_what_boto3_still_parses(
    twin: TwinUnderTest, account: Account, sagemaker: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sagemaker.create_cluster(**account.cluster())
    twin.advance(minutes=30)
    arm(twin, kind="hostile", seconds=3600)
    monkeypatch.setattr(twin, "is_hostile", True)

    seen = [
        node["InstanceStatus"]["Status"]
        for _ in range(20)
        for node in sagemaker.list_cluster_nodes(ClusterName="llama")["ClusterNodeSummaries"]
    ]

    assert set(seen) == {"Running", "ValueOfALaterRelease"}


def test_a_quota_that_falls_refuses_the_next_request(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    arm(twin, kind="quota", type="ml.p5.48xlarge", to=3)

    with pytest.raises(ClientError, match="ResourceLimitExceeded"):
        sagemaker.create_cluster(**account.cluster())


def test_a_lifecycle_script_fails_once_and_the_node_is_tried_again(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    arm(twin, kind="lifecycle_script_fails")
    sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=1)))
    twin.advance(minutes=50)

    node = sagemaker.list_cluster_nodes(ClusterName="llama")["ClusterNodeSummaries"][0]

    assert node["InstanceStatus"]["Status"] == "Running"
    assert node["InstanceStatus"]["Message"].startswith("Lifecycle scripts did not run successfully")


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        pytest.param({"kind": "capacity_loss", "zone": "usw2-az1"}, "needs type, to", id="a member is missing"),
        pytest.param({"kind": "earthquake"}, "kind", id="an unknown kind"),
        pytest.param({"kind": "quota", "type": "x", "to": 1, "at": "noon"}, "moment 'noon'", id="an unknown moment"),
        pytest.param({"kind": "lost_response"}, "effect:CALL", id="a lost response of nothing"),
    ],
)
def test_a_bad_fault_is_refused_by_name(twin: TwinUnderTest, fault: dict[str, object], named: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        arm(twin, **fault)

    assert caught.value.code == 400
    assert named in caught.value.read().decode()


def test_a_fault_that_finds_nothing_says_so_and_breaks_nothing(twin: TwinUnderTest) -> None:
    arm(twin, kind="xid", cluster="nowhere", node=0, code=74)

    assert twin.control("GET", "faults")[0]["problem"] == "no cluster 'nowhere'"
