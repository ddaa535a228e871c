"""Who is let in, and what an operation that is not there answers."""

from __future__ import annotations

import urllib.error

import pytest
from botocore.exceptions import ClientError

from tests.twin.aws.serving import TwinUnderTest


@pytest.mark.parametrize(
    ("service", "operation", "code"),
    [
        pytest.param("sagemaker", "list_clusters", "UnrecognizedClientException", id="json"),
        pytest.param("eks", "list_clusters", "UnrecognizedClientException", id="rest-json"),
        pytest.param("ec2", "describe_vpcs", "AuthFailure", id="ec2"),
        pytest.param("sts", "get_caller_identity", "InvalidClientTokenId", id="query"),
        pytest.param("s3", "list_buckets", "InvalidAccessKeyId", id="s3"),
    ],
)
def test_a_strange_access_key_is_refused_in_the_protocols_own_form(
    twin: TwinUnderTest, service: str, operation: str, code: str
) -> None:
    with pytest.raises(ClientError) as caught:
        getattr(twin.client(service, key="AKIASTRANGER"), operation)()

    assert caught.value.response["Error"]["Code"] == code
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_another_region_is_refused(twin: TwinUnderTest) -> None:
    with pytest.raises(ClientError, match="region us-west-2 only"):
        twin.client("sagemaker", region="eu-west-1").list_clusters()


def test_the_control_endpoint_wants_the_token(twin: TwinUnderTest) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        twin.control("GET", "state", token="wrong")


@pytest.mark.parametrize(
    ("service", "operation", "named"),
    [
        pytest.param("sagemaker", "list_training_jobs", "sagemaker:ListTrainingJobs", id="an operation"),
        pytest.param("eks", "list_nodegroups", "eks:ListNodegroups", id="a REST route"),
        pytest.param("cloudformation", "list_stacks", "cloudformation", id="a service"),
    ],
)
def test_what_the_twin_does_not_have_is_named_never_a_silent_success(
    twin: TwinUnderTest, service: str, operation: str, named: str
) -> None:
    request = {"clusterName": "llama"} if operation == "list_nodegroups" else {}

    with pytest.raises(ClientError) as caught:
        getattr(twin.client(service), operation)(**request)

    assert caught.value.response["Error"]["Code"] == "NotImplementedInTwin"
    assert named in caught.value.response["Error"]["Message"]


def test_a_role_that_was_assumed_lets_its_session_in(twin: TwinUnderTest) -> None:
    role = twin.client("iam").create_role(RoleName="ops", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    session = twin.client("sts").assume_role(RoleArn=role, RoleSessionName="ana")["Credentials"]

    assert twin.client("sagemaker", key=session["AccessKeyId"]).list_clusters()["ClusterSummaries"] == []
