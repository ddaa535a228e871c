"""What the AWS adapter makes of good answers, refusals and lost answers."""

from __future__ import annotations

import json

import boto3
import pytest

from core.json_value import JsonObject
from core.reasons import FailureClass
from tests.fakes.scripted_http import Reply, serving
from tools.clients.aws import BotoAws
from tools.errors import (
    Conflict,
    EndpointRefused,
    OutcomeUnknown,
    RejectedByPlatform,
    RetryableToolError,
    TargetNotFound,
    ToolError,
)

GROUP: JsonObject = {
    "InstanceGroupName": "workers",
    "InstanceCount": 1,
    "ExecutionRole": "arn:aws:iam::123456789012:role/nodes",
    "InstanceType": "ml.p5.48xlarge",
}
CREATE: JsonObject = {"ClusterName": "llama", "InstanceGroups": [GROUP]}


def aws(url: str) -> BotoAws:
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="y", region_name="us-west-2")
    return BotoAws(
        session,
        region="us-west-2",
        endpoint_url=url,
        allow_loopback=True,
        read_timeout_seconds=2,
        sleep=lambda _: None,
    )


def refusal(code: str, text: str = "no", status: int = 400) -> Reply:
    return Reply(status=status, body=json.dumps({"__type": code, "message": text}))


LOST = Reply(hang_up=True)


@pytest.mark.parametrize(
    ("reply", "expected", "failure_class"),
    [
        pytest.param(LOST, OutcomeUnknown, FailureClass.UNKNOWN, id="no answer"),
        pytest.param(Reply(body="{", cut=True), OutcomeUnknown, FailureClass.UNKNOWN, id="cut answer"),
        pytest.param(refusal("InternalFailure", status=500), OutcomeUnknown, FailureClass.UNKNOWN, id="500"),
        pytest.param(refusal("NotImplementedInTwin", status=501), RejectedByPlatform, FailureClass.CONFIG, id="501"),
        pytest.param(refusal("ThrottlingException"), RetryableToolError, FailureClass.TRANSIENT, id="throttled"),
        pytest.param(refusal("ResourceInUse"), Conflict, FailureClass.TRANSIENT, id="name taken"),
        pytest.param(refusal("ResourceLimitExceeded"), RejectedByPlatform, FailureClass.QUOTA, id="quota"),
        pytest.param(refusal("AccessDeniedException"), RejectedByPlatform, FailureClass.PERMISSION, id="permission"),
        pytest.param(refusal("ValidationException"), RejectedByPlatform, FailureClass.CONFIG, id="validation"),
        pytest.param(
            refusal("ValidationException", "SageMaker cannot assume the execution role"),
            RetryableToolError,
            FailureClass.TRANSIENT,
            id="role not yet known",
        ),
        pytest.param(refusal("SomethingNew"), RejectedByPlatform, FailureClass.UNKNOWN, id="unlisted code"),
    ],
)
def test_a_change_that_fails_says_whether_it_happened(
    reply: Reply, expected: type[ToolError], failure_class: FailureClass
) -> None:
    with serving(reply) as server, pytest.raises(expected) as raised:
        aws(server.url).call("sagemaker", "CreateCluster", CREATE)

    assert type(raised.value) is expected
    assert raised.value.failure_class is failure_class
    assert raised.value.call == "sagemaker:CreateCluster"
    assert len(server.received) == 1


def test_a_change_whose_server_cannot_be_reached_certainly_did_not_happen() -> None:
    with serving(Reply()) as server:
        url = server.url

    with pytest.raises(RetryableToolError):
        aws(url).call("sagemaker", "CreateCluster", CREATE)


def test_a_throttled_read_is_repeated() -> None:
    with serving(refusal("ThrottlingException"), refusal("ThrottlingException"), Reply(body='{"a": 1}')) as server:
        aws(server.url).call("sagemaker", "ListClusters", {})

    assert len(server.received) == 3


def test_a_read_that_stays_throttled_gives_up() -> None:
    with serving(refusal("ThrottlingException")) as server, pytest.raises(RetryableToolError):
        aws(server.url).call("sagemaker", "ListClusters", {})

    assert len(server.received) == 5


@pytest.mark.parametrize("reply", [LOST, refusal("InternalFailure", status=503)], ids=["no answer", "503"])
def test_a_read_without_an_answer_can_be_tried_again(reply: Reply) -> None:
    with serving(reply) as server, pytest.raises(RetryableToolError):
        aws(server.url).call("sagemaker", "DescribeCluster", {"ClusterName": "llama"})


def test_a_missing_cluster_is_told_as_such() -> None:
    with serving(refusal("ResourceNotFound")) as server, pytest.raises(TargetNotFound):
        aws(server.url).call("sagemaker", "DescribeCluster", {"ClusterName": "llama"})


@pytest.mark.parametrize(
    ("changed", "member"),
    [
        pytest.param({"ClusterName": "-bad-"}, "ClusterName", id="name against the pattern"),
        pytest.param({"ClusterName": "a" * 64}, "ClusterName", id="name too long"),
        pytest.param({"NodeRecovery": "Sometimes"}, "NodeRecovery", id="no such enum value"),
        pytest.param(
            {"InstanceGroups": [{**GROUP, "InstanceCount": 99_999}]}, "InstanceGroups[0].InstanceCount", id="too many"
        ),
        pytest.param(
            {"InstanceGroups": [{**GROUP, "InstanceType": "ml.z9.huge"}]},
            "InstanceGroups[0].InstanceType",
            id="no such type",
        ),
        pytest.param({"InstanceGroups": [GROUP] * 101}, "InstanceGroups", id="too many groups"),
    ],
)
def test_a_request_that_the_model_forbids_is_not_sent(changed: JsonObject, member: str) -> None:
    with serving(Reply()) as server, pytest.raises(RejectedByPlatform) as raised:
        aws(server.url).call("sagemaker", "CreateCluster", {**CREATE, **changed})

    assert raised.value.message.params["member"] == member
    assert server.received == []


def test_a_missing_required_member_is_not_sent() -> None:
    with serving(Reply()) as server, pytest.raises(RejectedByPlatform) as raised:
        aws(server.url).call("sagemaker", "CreateCluster", {})

    assert "ClusterName" in raised.value.raw
    assert server.received == []


def test_pages_follow_the_token_to_the_end() -> None:
    first = Reply(body=json.dumps({"ClusterSummaries": [{"ClusterName": "a"}], "NextToken": "t"}))
    second = Reply(body=json.dumps({"ClusterSummaries": [{"ClusterName": "b"}]}))
    with serving(first, second) as server:
        names = [
            page["ClusterName"] for page in aws(server.url).pages("sagemaker", "ListClusters", {}, "ClusterSummaries")
        ]

    assert names == ["a", "b"]
    assert server.received[1].json()["NextToken"] == "t"


def test_time_stamps_come_back_as_iso_text() -> None:
    reply = Reply(body=json.dumps({"ClusterArn": "a", "ClusterStatus": "InService", "CreationTime": 0.0}))
    with serving(reply) as server:
        answer = aws(server.url).call("sagemaker", "DescribeCluster", {"ClusterName": "llama"})

    assert answer["CreationTime"] == "1970-01-01T00:00:00+00:00"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "http://127.9.9.9"])
def test_production_refuses_an_endpoint_on_this_machine(url: str) -> None:
    with pytest.raises(EndpointRefused):
        BotoAws(boto3.Session(), region="us-west-2", endpoint_url=url)


def test_the_real_cloud_is_not_local() -> None:
    assert not BotoAws(boto3.Session(), region="us-west-2").is_local
