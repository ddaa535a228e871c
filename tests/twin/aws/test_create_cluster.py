"""Creating a cluster under Continuous provisioning, with real boto3 over loopback."""

from __future__ import annotations

from typing import Any

import pytest

from tests.twin.aws.account import Account, make_control_plane, refusal
from tests.twin.aws.serving import TwinUnderTest


def test_a_cluster_is_in_service_before_its_nodes_are(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster())
    twin.advance(minutes=7)

    cluster = sagemaker.describe_cluster(ClusterName="llama")

    group = cluster["InstanceGroups"][0]
    assert (cluster["ClusterStatus"], group["CurrentCount"], group["TargetCount"]) == ("InService", 0, 4)


def test_all_nodes_run_within_the_time_that_creating_takes(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    sagemaker.create_cluster(**account.cluster())
    twin.advance(minutes=25)

    nodes = sagemaker.list_cluster_nodes(ClusterName="llama")["ClusterNodeSummaries"]

    assert [node["InstanceStatus"]["Status"] for node in nodes] == ["Running"] * 4


def test_the_arn_ends_in_twelve_random_characters_not_in_the_name(account: Account, sagemaker: Any) -> None:
    arn = sagemaker.create_cluster(**account.cluster())["ClusterArn"]

    last = arn.rpartition("/")[2]
    assert len(last) == 12
    assert last != "llama"


def test_the_same_name_again_is_refused_and_makes_no_second_cluster(account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster())

    assert refusal(sagemaker.create_cluster, **account.cluster())[0] == "ResourceInUse"
    assert len(list(sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName="llama"))) == 1


def test_a_shortage_gives_a_partial_group_and_keeps_trying(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=3), zone="usw2-az1"))
    twin.advance(minutes=40)

    cluster = sagemaker.describe_cluster(ClusterName="llama")

    assert cluster["ClusterStatus"] == "InService"
    assert cluster["InstanceGroups"][0]["CurrentCount"] == 2


def test_the_reason_of_a_shortage_stands_only_in_the_described_event(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=3), zone="usw2-az1"))
    twin.advance(minutes=10)
    errors = [e for e in sagemaker.list_cluster_events(ClusterName="llama")["Events"] if e["EventLevel"] == "Error"]

    told = sagemaker.describe_cluster_event(ClusterName="llama", EventId=errors[-1]["EventId"])["EventDetails"]

    assert "EventDetails" not in errors[-1]
    failure = told["EventDetails"]["EventMetadata"]["Instance"]["FailureMessage"]
    assert failure.startswith("We currently do not have sufficient capacity")


def test_one_fault_writes_two_events(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=3), zone="usw2-az1"))
    twin.advance(minutes=9)

    events = sagemaker.list_cluster_events(ClusterName="llama", SortOrder="Ascending")["Events"]

    errors = [event for event in events if event["EventLevel"] == "Error"]
    assert [event["ResourceType"] for event in errors] == ["Instance", "InstanceGroup"]


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        pytest.param({"InstanceCount": 6759}, "less than or equal to 6758", id="more nodes than a group may have"),
        pytest.param({"InstanceType": "ml.p99.huge"}, "enum value set", id="a type that does not exist"),
        pytest.param({"InstanceGroupName": "-bad-"}, "regular expression pattern", id="a name AWS refuses"),
        pytest.param({"ExecutionRole": "arn:aws:iam::12:role/nobody"}, "regular expression pattern", id="no role ARN"),
    ],
)
def test_what_botocore_lets_pass_the_service_refuses(
    account: Account, sagemaker: Any, changes: dict[str, object], constraint: str
) -> None:
    request = account.cluster(account.group(**changes))

    code, message = refusal(sagemaker.create_cluster, **request)

    assert code == "ValidationException"
    assert constraint in message


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param({"InstanceType": None}, "exactly one of InstanceType", id="no type at all"),
        pytest.param(
            {"InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge"]}}, "exactly one of InstanceType", id="both"
        ),
        pytest.param({"MinInstanceCount": 5}, "MinInstanceCount must not be greater", id="minimum over count"),
        pytest.param(
            {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": True, "VolumeSizeInGB": 100}}]},
            "root volume",
            id="root volume with a size",
        ),
        pytest.param({"CapacityRequirements": {"Spot": {}, "OnDemand": {}}}, "at most one", id="spot and on demand"),
    ],
)
def test_rules_across_members_are_kept(account: Account, sagemaker: Any, changes: dict[str, object], text: str) -> None:
    code, message = refusal(sagemaker.create_cluster, **account.cluster(account.group(**changes)))

    assert code == "ValidationException"
    assert text in message


def test_more_nodes_than_the_quota_are_refused_with_its_figures(account: Account, sagemaker: Any) -> None:
    code, message = refusal(sagemaker.create_cluster, **account.cluster(account.group(InstanceCount=17)))

    assert code == "ResourceLimitExceeded"
    assert "'ml.p5.48xlarge for cluster usage' is 16 Instances" in message


def test_a_role_that_was_made_a_moment_ago_cannot_be_assumed_yet(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    role = twin.client("iam").create_role(RoleName="young", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    request = account.cluster(account.group(ExecutionRole=role))

    early = refusal(sagemaker.create_cluster, **request)
    twin.advance(minutes=0.5)

    assert "Unable to assume the execution role" in early[1]
    assert sagemaker.create_cluster(**request)["ClusterArn"]


def test_a_control_plane_that_authenticates_by_config_map_is_refused(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    subnets = list(account.subnets.values())
    arn = make_control_plane(twin.client("eks"), "old", account.role, subnets, mode="CONFIG_MAP")
    twin.advance(minutes=13)

    code, message = refusal(sagemaker.create_cluster, **account.cluster(Orchestrator={"Eks": {"ClusterArn": arn}}))

    assert (code, "CONFIG_MAP" in message) == ("ValidationException", True)


def test_a_refused_call_took_no_effect(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    refusal(sagemaker.create_cluster, **account.cluster(account.group(InstanceCount=17)))

    assert "sagemaker:CreateCluster" not in twin.effects()


def test_security_groups_that_do_not_admit_themselves_stop_efa_nodes(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    twin.client("ec2").revoke_security_group_egress(
        GroupId=account.security_group,
        IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": account.security_group}]}],
    )
    sagemaker.create_cluster(**account.cluster())
    twin.advance(minutes=22)

    nodes = sagemaker.list_cluster_nodes(ClusterName="llama", IncludeNodeLogicalIds=True)["ClusterNodeSummaries"]

    assert {node["InstanceStatus"]["Status"] for node in nodes} == {"Failure"}
    assert nodes[0]["InstanceStatus"]["Message"].startswith("EFA health checks did not run successfully")


def test_a_lifecycle_script_that_is_not_in_s3_stops_nodes(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    script = {"SourceS3Uri": "s3://sagemaker-scripts/", "OnCreate": "missing.sh"}
    sagemaker.create_cluster(**account.cluster(account.group(LifeCycleConfig=script)))
    twin.advance(minutes=22)

    node = sagemaker.list_cluster_nodes(ClusterName="llama", IncludeNodeLogicalIds=True)["ClusterNodeSummaries"][0]

    assert node["InstanceStatus"]["Message"].startswith("Lifecycle scripts did not run successfully")


def test_a_subnet_runs_out_of_addresses_before_its_zone_runs_out_of_nodes(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    ec2 = twin.client("ec2")
    vpc = ec2.describe_subnets(SubnetIds=[account.subnets["usw2-az2"]])["Subnets"][0]["VpcId"]
    narrow = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.200.0/24", AvailabilityZoneId="usw2-az2")["Subnet"][
        "SubnetId"
    ]
    network = {"SecurityGroupIds": [account.security_group], "Subnets": [narrow]}

    sagemaker.create_cluster(**account.cluster(VpcConfig=network))
    twin.advance(minutes=25)

    nodes = sagemaker.list_cluster_nodes(ClusterName="llama", IncludeNodeLogicalIds=True)["ClusterNodeSummaries"]
    failures = [n["InstanceStatus"]["Message"] for n in nodes if n["InstanceStatus"]["Status"] == "Failure"]
    assert [text.startswith("Insufficient free addresses") for text in failures] == [True]
    assert ec2.describe_subnets(SubnetIds=[narrow])["Subnets"][0]["AvailableIpAddressCount"] == 251 - 3 * 81
