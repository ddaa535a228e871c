"""Compute quotas and scheduler configs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.twin.aws.account import refusal
from tests.twin.aws.serving import WORLD, TwinUnderTest
from twin.world.specification import ClusterSpec, GroupSpec, TeamSpec

GOVERNED = ClusterSpec(
    name="base",
    zone="usw2-az2",
    groups=(GroupSpec(name="workers", type="ml.p5.48xlarge", count=4),),
    teams=(TeamSpec(name="vision", accelerators=16),),
)


@pytest.fixture
def arn(twin: TwinUnderTest, sagemaker: Any) -> str:
    """Of a cluster with task governance and one team."""
    twin.reset(WORLD.model_copy(update={"clusters": (GOVERNED,)}))
    return str(sagemaker.list_clusters()["ClusterSummaries"][0]["ClusterArn"])


def quota(arn: str, name: str = "nlp", **resource: object) -> dict[str, object]:
    resources = [{"InstanceType": "ml.p5.48xlarge", **(resource or {"Accelerators": 8})}]
    return {
        "Name": name,
        "ClusterArn": arn,
        "ComputeQuotaConfig": {"ComputeQuotaResources": resources},
        "ComputeQuotaTarget": {"TeamName": name},
    }


def test_a_quota_is_created_after_a_while(twin: TwinUnderTest, arn: str, sagemaker: Any) -> None:
    made = sagemaker.create_compute_quota(**quota(arn))["ComputeQuotaId"]
    before = sagemaker.describe_compute_quota(ComputeQuotaId=made)["Status"]
    twin.advance(minutes=1)

    assert (before, sagemaker.describe_compute_quota(ComputeQuotaId=made)["Status"]) == ("Creating", "Created")


def test_the_same_name_in_the_same_cluster_is_a_conflict(arn: str, sagemaker: Any) -> None:
    sagemaker.create_compute_quota(**quota(arn))

    assert refusal(sagemaker.create_compute_quota, **quota(arn))[0] == "ConflictException"


def test_an_update_needs_the_version_that_is_current(twin: TwinUnderTest, arn: str, sagemaker: Any) -> None:
    made = sagemaker.create_compute_quota(**quota(arn))["ComputeQuotaId"]
    twin.advance(minutes=1)
    change = {"ComputeQuotaId": made, "TargetVersion": 1, "ActivationState": "Disabled"}

    version = sagemaker.update_compute_quota(**change)["ComputeQuotaVersion"]

    assert version == 2
    assert refusal(sagemaker.update_compute_quota, **change)[0] == "ConflictException"


def test_accelerators_bring_their_share_of_processors_and_memory(arn: str, sagemaker: Any) -> None:
    made = sagemaker.create_compute_quota(**quota(arn, Accelerators=4))["ComputeQuotaId"]

    config = sagemaker.describe_compute_quota(ComputeQuotaId=made)["ComputeQuotaConfig"]

    resource = config["ComputeQuotaResources"][0]
    assert (resource["VCpu"], resource["MemoryInGiB"]) == (96.0, 1024.0)


def test_memory_alone_brings_no_accelerator(arn: str, sagemaker: Any) -> None:
    made = sagemaker.create_compute_quota(**quota(arn, MemoryInGiB=1024))["ComputeQuotaId"]

    config = sagemaker.describe_compute_quota(ComputeQuotaId=made)["ComputeQuotaConfig"]

    assert config["ComputeQuotaResources"][0] | {"InstanceType": ""} == {
        "InstanceType": "",
        "Accelerators": 0,
        "VCpu": 96.0,
        "MemoryInGiB": 1024.0,
    }


def test_a_deleted_quota_is_still_listed_as_deleted(twin: TwinUnderTest, arn: str, sagemaker: Any) -> None:
    made = sagemaker.create_compute_quota(**quota(arn))["ComputeQuotaId"]
    sagemaker.delete_compute_quota(ComputeQuotaId=made)
    twin.advance(minutes=1)

    listed = sagemaker.list_compute_quotas(ClusterArn=arn, NameContains="nlp")["ComputeQuotaSummaries"]

    assert [item["Status"] for item in listed] == ["Deleted"]
    assert refusal(sagemaker.describe_compute_quota, ComputeQuotaId=made)[0] == "ResourceNotFound"


def test_a_scheduler_config_tells_the_status_of_each_part(twin: TwinUnderTest, arn: str, sagemaker: Any) -> None:
    old = sagemaker.list_cluster_scheduler_configs(ClusterArn=arn)["ClusterSchedulerConfigSummaries"][0]
    config = {"FairShare": "Disabled", "PriorityClasses": [{"Name": "urgent", "Weight": 100}]}
    sagemaker.update_cluster_scheduler_config(
        ClusterSchedulerConfigId=old["ClusterSchedulerConfigId"], TargetVersion=1, SchedulerConfig=config
    )
    twin.advance(minutes=1)

    described = sagemaker.describe_cluster_scheduler_config(ClusterSchedulerConfigId=old["ClusterSchedulerConfigId"])

    assert described["StatusDetails"] == {"FairShare": "Updated", "PriorityClasses": "Updated"}


def test_the_teams_of_a_world_are_quotas(twin: TwinUnderTest, arn: str) -> None:
    assert twin.control("GET", "state")["clusters"]["base"]["teams"] == {
        "vision": {"accelerators": 16, "borrow_percent": 50}
    }


def test_without_the_add_on_a_quota_fails(twin: TwinUnderTest, sagemaker: Any) -> None:
    ungoverned = GOVERNED.model_copy(update={"teams": ()})
    twin.reset(WORLD.model_copy(update={"clusters": (ungoverned,)}))
    arn = sagemaker.list_clusters()["ClusterSummaries"][0]["ClusterArn"]
    made = sagemaker.create_compute_quota(**quota(arn))["ComputeQuotaId"]
    twin.advance(minutes=1)

    described = sagemaker.describe_compute_quota(ComputeQuotaId=made)

    assert described["Status"] == "CreateFailed"
    assert "amazon-sagemaker-hyperpod-taskgovernance" in described["FailureReason"]
