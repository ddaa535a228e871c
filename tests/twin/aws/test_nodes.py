"""What happens to the nodes of a healthy cluster: added, deleted, rebooted, replaced, checked, updated, moved."""

from __future__ import annotations

from typing import Any

import pytest

from tests.twin.aws.account import Account, refusal
from tests.twin.aws.serving import WORLD, TwinUnderTest
from twin.world.specification import ClusterSpec, GroupSpec

TWO_CLUSTERS = WORLD.model_copy(
    update={
        "clusters": tuple(
            ClusterSpec(
                name=name, zone="usw2-az2", groups=(GroupSpec(name="workers", type="ml.p5.48xlarge", count=count),)
            )
            for name, count in (("base", 4), ("other", 1))
        )
    }
)


@pytest.fixture
def clusters(twin: TwinUnderTest) -> TwinUnderTest:
    """`base` with four running nodes and `other` with one."""
    twin.reset(TWO_CLUSTERS)
    return twin


def nodes(sagemaker: Any, cluster: str = "base") -> list[dict[str, Any]]:
    answer = sagemaker.list_cluster_nodes(ClusterName=cluster, IncludeNodeLogicalIds=True)
    return list(answer["ClusterNodeSummaries"])


def counts(sagemaker: Any, cluster: str = "base") -> tuple[int, int]:
    group = sagemaker.describe_cluster(ClusterName=cluster)["InstanceGroups"][0]
    return group["CurrentCount"], group["TargetCount"]


def live(twin: TwinUnderTest, cluster: str = "base") -> dict[str, Any]:
    return dict(twin.control("GET", "state")["clusters"][cluster])


def add(sagemaker: Any, count: int, token: str = "t1") -> dict[str, Any]:
    spec = {"InstanceGroupName": "workers", "IncrementTargetCountBy": count}
    return dict(sagemaker.batch_add_cluster_nodes(ClusterName="base", ClientToken=token, NodesToAdd=[spec]))


def test_nodes_that_a_world_begins_with_stay_running_in_the_list(clusters: TwinUnderTest, sagemaker: Any) -> None:
    clusters.advance(10)

    assert {node["InstanceStatus"]["Status"] for node in nodes(sagemaker)} == {"Running"}


def test_added_nodes_have_a_logical_id_before_they_have_an_instance(clusters: TwinUnderTest, sagemaker: Any) -> None:
    added = add(sagemaker, 2)["Successful"]

    assert counts(sagemaker) == (4, 6)
    assert [node["Status"] for node in added] == ["Pending", "Pending"]
    assert len({node["NodeLogicalId"] for node in added}) == 2


def test_the_same_token_again_adds_nothing_and_names_the_same_nodes(clusters: TwinUnderTest, sagemaker: Any) -> None:
    first = add(sagemaker, 2)

    again = add(sagemaker, 2)

    assert [n["NodeLogicalId"] for n in again["Successful"]] == [n["NodeLogicalId"] for n in first["Successful"]]
    assert counts(sagemaker) == (4, 6)
    assert clusters.effects()["sagemaker:BatchAddClusterNodes"] == 1


def test_a_token_is_forgotten_after_eight_hours(clusters: TwinUnderTest, sagemaker: Any) -> None:
    add(sagemaker, 2)
    clusters.advance(minutes=8 * 60 + 1)

    add(sagemaker, 2)

    assert counts(sagemaker)[1] == 8


def test_the_same_token_for_another_request_fails(clusters: TwinUnderTest, sagemaker: Any) -> None:
    add(sagemaker, 2)

    spec = {"InstanceGroupName": "workers", "IncrementTargetCountBy": 3}
    code, _ = refusal(sagemaker.batch_add_cluster_nodes, ClusterName="base", ClientToken="t1", NodesToAdd=[spec])

    assert code == "ValidationException"


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        pytest.param({"InstanceGroupName": "nobody"}, "InstanceGroupNotFound", id="no such group"),
        pytest.param({"InstanceTypes": ["ml.g5.12xlarge"]}, "IncompatibleInstanceTypes", id="a type it has not"),
        pytest.param({"AvailabilityZones": ["us-west-2b"]}, "IncompatibleAvailabilityZones", id="a zone it has not"),
    ],
)
def test_a_batch_succeeds_in_part_and_says_why_not_in_full(
    clusters: TwinUnderTest, sagemaker: Any, spec: dict[str, object], code: str
) -> None:
    good = {"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}

    answer = sagemaker.batch_add_cluster_nodes(ClusterName="base", NodesToAdd=[good, good | spec])

    assert len(answer["Successful"]) == 1
    assert [failure["ErrorCode"] for failure in answer["Failed"]] == [code]


def test_deleted_nodes_lower_the_target_and_go_after_a_while(clusters: TwinUnderTest, sagemaker: Any) -> None:
    doomed = nodes(sagemaker)[0]["InstanceId"]

    answer = sagemaker.batch_delete_cluster_nodes(ClusterName="base", NodeIds=[doomed, "i-0123456789abcdef0"])
    at_once = counts(sagemaker)
    clusters.advance(minutes=21)

    assert answer["Successful"] == [doomed]
    assert [failure["Code"] for failure in answer["Failed"]] == ["NodeIdNotFound"]
    assert (at_once, counts(sagemaker)) == ((4, 3), (3, 3))


def test_a_deleted_instance_goes_back_to_its_pool(clusters: TwinUnderTest, sagemaker: Any) -> None:
    before = clusters.control("GET", "state")["free"]["usw2-az2"]["ml.p5.48xlarge"]
    sagemaker.batch_delete_cluster_nodes(ClusterName="base", NodeIds=[nodes(sagemaker)[0]["InstanceId"]])
    clusters.advance(minutes=21)

    assert clusters.control("GET", "state")["free"]["usw2-az2"]["ml.p5.48xlarge"] == before + 1


def test_a_batch_of_which_nothing_succeeds_took_no_effect(clusters: TwinUnderTest, sagemaker: Any) -> None:
    sagemaker.batch_reboot_cluster_nodes(ClusterName="base", NodeIds=["i-0123456789abcdef0"])

    assert "sagemaker:BatchRebootClusterNodes" not in clusters.effects()


def test_a_reboot_keeps_the_instance(clusters: TwinUnderTest, sagemaker: Any) -> None:
    before = sorted(node["InstanceId"] for node in nodes(sagemaker))

    sagemaker.batch_reboot_cluster_nodes(ClusterName="base", NodeIds=before[:1])
    clusters.advance(minutes=6)

    assert sorted(node["InstanceId"] for node in nodes(sagemaker)) == before
    assert (live(clusters)["nodes_rebooted"], live(clusters)["nodes_ready"]) == (1, 4)


def test_a_replacement_needs_capacity_like_a_new_node(clusters: TwinUnderTest, sagemaker: Any) -> None:
    fault = {"kind": "capacity_loss", "zone": "usw2-az2", "type": "ml.p5.48xlarge", "to": 0}
    clusters.control("POST", "faults", [fault])
    chosen = nodes(sagemaker)[:2]

    sagemaker.batch_replace_cluster_nodes(ClusterName="base", NodeLogicalIds=[n["NodeLogicalId"] for n in chosen])
    clusters.advance(minutes=40)

    # Both instances that went back are there to be given again, and nothing else.
    assert live(clusters)["nodes_running"] == 4
    assert live(clusters)["nodes_replaced"] == 2


def test_a_node_that_is_already_on_its_way_cannot_be_rebooted(clusters: TwinUnderTest, sagemaker: Any) -> None:
    node_id = nodes(sagemaker)[0]["InstanceId"]
    sagemaker.batch_reboot_cluster_nodes(ClusterName="base", NodeIds=[node_id])

    answer = sagemaker.batch_reboot_cluster_nodes(ClusterName="base", NodeIds=[node_id])

    assert [failure["ErrorCode"] for failure in answer["Failed"]] == ["InvalidInstanceStatus"]


def test_a_deep_health_check_finds_what_nobody_acted_on(clusters: TwinUnderTest, sagemaker: Any) -> None:
    clusters.control("POST", "faults", [{"kind": "efa_down", "cluster": "base", "node": 2}])
    configuration = [{"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress", "InstanceConnectivity"]}]

    sagemaker.start_cluster_health_check(ClusterName="base", DeepHealthCheckConfigurations=configuration)
    running = sagemaker.list_cluster_operations(ClusterName="base", Type="DeepHealthCheck", Status="InProgress")
    clusters.advance(minutes=130)

    assert len(running["ClusterOperationSummaries"]) == 1
    assert (live(clusters)["nodes_replaced"], live(clusters)["nodes_running"]) == (1, 4)
    done = sagemaker.list_cluster_operations(ClusterName="base", Type="DeepHealthCheck", Status="Done")
    assert len(done["ClusterOperationSummaries"]) == 1


def test_software_is_updated_batch_after_batch(clusters: TwinUnderTest, sagemaker: Any) -> None:
    policy = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2}}}
    group = {"InstanceGroupName": "workers", "ImageReleaseVersion": "2.0.0"}
    sagemaker.update_cluster_software(ClusterName="base", InstanceGroups=[group], DeploymentConfig=policy)
    first = sagemaker.describe_cluster(ClusterName="base")

    updating = live(clusters)["nodes_running"]
    clusters.advance(minutes=65)

    assert (first["ClusterStatus"], first["InstanceGroups"][0]["SoftwareUpdateStatus"], updating) == (
        "SystemUpdating",
        "InProgress",
        2,
    )
    last = sagemaker.describe_cluster(ClusterName="base")
    assert (last["ClusterStatus"], last["InstanceGroups"][0]["SoftwareUpdateStatus"]) == ("InService", "Succeeded")
    assert {node["CurrentImageReleaseVersion"] for node in nodes(sagemaker)} == {"2.0.0"}


def test_a_software_update_whose_scripts_fail_is_rolled_back(clusters: TwinUnderTest, sagemaker: Any) -> None:
    clusters.control("POST", "faults", [{"kind": "lifecycle_script_fails"}])
    group = {"InstanceGroupName": "workers", "ImageReleaseVersion": "2.0.0"}
    sagemaker.update_cluster_software(ClusterName="base", InstanceGroups=[group])
    clusters.advance(minutes=65)

    cluster = sagemaker.describe_cluster(ClusterName="base")

    assert cluster["InstanceGroups"][0]["SoftwareUpdateStatus"] == "RollbackComplete"
    assert {node["CurrentImageReleaseVersion"] for node in nodes(sagemaker)} == {"1.4.0"}


def test_a_moved_node_keeps_its_instance(clusters: TwinUnderTest, sagemaker: Any) -> None:
    arns = {c["ClusterName"]: c["ClusterArn"] for c in sagemaker.list_clusters()["ClusterSummaries"]}
    moved = sagemaker.move_cluster_nodes(
        SourceClusterArn=arns["base"],
        SourceInstanceGroupName="workers",
        TargetClusterArn=arns["other"],
        TargetInstanceGroupName="workers",
        InstanceCount=2,
    )["Successful"]
    clusters.advance(minutes=20)

    assert set(moved) <= {node["InstanceId"] for node in nodes(sagemaker, "other")}
    assert (counts(sagemaker), counts(sagemaker, "other")) == ((2, 2), (3, 3))


def test_an_update_replaces_a_listed_group_and_leaves_the_others(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    head = account.group(InstanceGroupName="head", InstanceType="ml.g5.12xlarge", InstanceCount=1)
    sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=2, ThreadsPerCore=2), head))
    twin.advance(minutes=25)

    sagemaker.update_cluster(ClusterName="llama", InstanceGroups=[account.group(InstanceCount=1)])
    twin.advance(minutes=21)

    groups = {g["InstanceGroupName"]: g for g in sagemaker.describe_cluster(ClusterName="llama")["InstanceGroups"]}
    assert {name: group["CurrentCount"] for name, group in groups.items()} == {"workers": 1, "head": 1}
    assert groups["workers"]["ThreadsPerCore"] == 1


def test_a_flexible_group_falls_back_to_its_next_type(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    types = {"InstanceTypes": ["ml.p5.48xlarge", "ml.g5.12xlarge"]}
    group = account.group(InstanceCount=4, InstanceType=None, InstanceRequirements=types)
    sagemaker.create_cluster(**account.cluster(group, zone="usw2-az1"))
    twin.advance(minutes=25)

    described = sagemaker.describe_cluster(ClusterName="llama")["InstanceGroups"][0]

    details = {item["InstanceType"]: item["CurrentCount"] for item in described["InstanceTypeDetails"]}
    assert details == {"ml.p5.48xlarge": 2, "ml.g5.12xlarge": 2}


def test_a_group_that_never_reaches_its_minimum_is_rolled_back_after_three_hours(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    group = account.group(InstanceCount=4, MinInstanceCount=3)
    sagemaker.create_cluster(**account.cluster(group, zone="usw2-az1"))
    twin.advance(minutes=3 * 60 - 5)
    before = sagemaker.describe_cluster(ClusterName="llama")["InstanceGroups"][0]["Status"]
    twin.advance(minutes=40)

    described = sagemaker.describe_cluster(ClusterName="llama")["InstanceGroups"][0]

    assert before == "Creating"
    assert (described["Status"], described["CurrentCount"], described["TargetCount"]) == ("Failed", 0, 0)


def test_a_classic_cluster_gets_all_of_its_nodes_or_none(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    request = account.cluster(account.group(InstanceCount=3), zone="usw2-az1", NodeProvisioningMode=None)
    sagemaker.create_cluster(**request)
    twin.advance(minutes=25)

    cluster = sagemaker.describe_cluster(ClusterName="llama")

    assert cluster["ClusterStatus"] == "Failed"
    assert "sufficient capacity" in cluster["FailureMessage"]
    assert nodes(sagemaker, "llama") == []


def test_operations_of_continuous_mode_are_refused_on_a_classic_cluster(account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster(NodeProvisioningMode=None))

    assert refusal(sagemaker.list_cluster_events, ClusterName="llama")[0] == "ValidationException"


def test_a_deleted_cluster_gives_its_name_and_its_capacity_back(
    twin: TwinUnderTest, account: Account, sagemaker: Any
) -> None:
    sagemaker.create_cluster(**account.cluster())
    twin.advance(minutes=25)
    sagemaker.delete_cluster(ClusterName="llama")
    deleting = sagemaker.describe_cluster(ClusterName="llama")["ClusterStatus"]
    twin.advance(minutes=13)

    assert deleting == "Deleting"
    assert refusal(sagemaker.describe_cluster, ClusterName="llama")[0] == "ResourceNotFound"
    assert twin.control("GET", "state")["free"]["usw2-az2"]["ml.p5.48xlarge"] == 16


def test_a_cluster_that_is_being_made_cannot_be_deleted(account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster())

    assert refusal(sagemaker.delete_cluster, ClusterName="llama")[0] == "ConflictException"


def test_a_list_lags_behind_describe(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster())

    listed_at_once = sagemaker.list_clusters()["ClusterSummaries"]
    twin.advance(minutes=1)

    assert sagemaker.describe_cluster(ClusterName="llama")["ClusterName"] == "llama"
    assert listed_at_once == []
    assert len(sagemaker.list_clusters()["ClusterSummaries"]) == 1
