"""A cluster update must lose nothing of the groups that it touches."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest
from botocore.model import StructureShape

from core.json_value import JsonObject
from tests.fakes.aws import FakeAws, clients
from tests.fakes.clock import START
from tools.contract import Absent, CannotTell, Found, Intent
from tools.groups import UPDATE_GROUPS, UpdateGroupsArgs, as_specification

DESCRIBED: JsonObject = {
    "InstanceGroupName": "workers",
    "CurrentCount": 3,
    "TargetCount": 4,
    "MinCount": 2,
    "InstanceType": "ml.p5.48xlarge",
    "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-x/y", "OnCreate": "on_create.sh"},
    "ExecutionRole": "arn:aws:iam::123456789012:role/nodes",
    "ThreadsPerCore": 2,
    "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
    "OnStartDeepHealthChecks": ["InstanceStress"],
    "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/p",
    "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
    "ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 0 1 * ? *)"},
    "CurrentImageId": "ami-1",
    "DesiredImageId": "ami-2",
    "DesiredImageReleaseVersion": "1.2.3",
    "KubernetesConfig": {"DesiredLabels": {"a": "b"}, "DesiredTaints": [{"Key": "k", "Effect": "NoSchedule"}]},
    "CapacityRequirements": {"Spot": {}},
    "NetworkInterface": {"InterfaceType": "efa"},
    "SlurmConfig": {"NodeType": "Compute"},
    "AutoPatchConfig": {
        "PatchingStrategy": "WhenIdle",
        "CurrentPatchSchedule": {"NextPatchDate": "2026-01-01T00:00:00+00:00"},
        "DesiredPatchSchedule": {"NextPatchDate": "2026-02-01T00:00:00+00:00"},
    },
    "Status": "InService",
    "SoftwareUpdateStatus": "Succeeded",
}
OTHER: JsonObject = {
    "InstanceGroupName": "other",
    "TargetCount": 1,
    "ExecutionRole": "r",
    "InstanceType": "ml.m5.large",
}


def shape(name: str) -> StructureShape:
    model: Any = botocore.session.get_session().get_service_model("sagemaker")
    found = model.shape_for(name)
    assert isinstance(found, StructureShape)
    return found


def test_every_member_of_a_specification_is_carried_over() -> None:
    """From the installed model: a member that AWS adds makes this fail until it is carried over too."""
    known = set(shape("ClusterInstanceGroupSpecification").members)
    carried = set(as_specification(DESCRIBED)) | {"InstanceRequirements"}  # instead of InstanceType

    assert carried == known


def test_only_members_of_a_specification_are_sent() -> None:
    described: JsonObject = {name: {} for name in shape("ClusterInstanceGroupDetails").members} | dict(DESCRIBED)

    assert set(as_specification(described)) <= set(shape("ClusterInstanceGroupSpecification").members)


def test_what_is_wished_is_sent_again_not_what_is() -> None:
    specification = as_specification(DESCRIBED)

    assert specification["InstanceCount"] == 4
    assert specification["ImageId"] == "ami-2"
    assert specification["KubernetesConfig"] == {
        "Labels": {"a": "b"},
        "Taints": [{"Key": "k", "Effect": "NoSchedule"}],
    }
    assert specification["AutoPatchConfig"] == {
        "PatchingStrategy": "WhenIdle",
        "PatchSchedule": {"NextPatchDate": "2026-02-01T00:00:00+00:00"},
    }


def test_a_flexible_group_keeps_its_types_in_order() -> None:
    described: JsonObject = {
        "InstanceGroupName": "w",
        "TargetCount": 1,
        "InstanceRequirements": {"CurrentInstanceTypes": ["b", "a"], "DesiredInstanceTypes": ["a", "b"]},
    }

    assert as_specification(described)["InstanceRequirements"] == {"InstanceTypes": ["a", "b"]}


def test_an_update_sends_the_changed_group_in_full_and_no_other() -> None:
    world = clients(
        {
            "sagemaker:DescribeCluster": lambda params: {"InstanceGroups": [DESCRIBED, OTHER]},
            "sagemaker:UpdateCluster": lambda params: {},
        }
    )
    UPDATE_GROUPS.act(world, UpdateGroupsArgs(cluster="llama", counts={"workers": 2}), "token")

    assert isinstance(world.aws, FakeAws)
    name, params = world.aws.calls[-1]
    assert name == "sagemaker:UpdateCluster"
    assert params == {"ClusterName": "llama", "InstanceGroups": [{**as_specification(DESCRIBED), "InstanceCount": 2}]}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param(2, Found, id="as wished"),
        pytest.param(4, Absent, id="as before"),
        pytest.param(3, CannotTell, id="neither: somebody else"),
    ],
)
def test_an_update_is_recognised_by_what_was_there_before(target: int, expected: type[object]) -> None:
    world = clients(
        {"sagemaker:DescribeCluster": lambda params: {"InstanceGroups": [{**DESCRIBED, "TargetCount": target}]}}
    )
    intent = Intent(token="t", intended_at=START, before={"targets": {"workers": 4}})

    found = UPDATE_GROUPS.observe(world, UpdateGroupsArgs(cluster="llama", counts={"workers": 2}), intent)

    assert isinstance(found, expected)
