"""What the Kubernetes adapter sends, and what it makes of the answers."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from core.reasons import FailureClass
from tests.fakes.scripted_http import Received, Reply, Script, serving
from tests.tools.clients.test_aws import aws
from tools.clients.eks_token import TOKEN_PREFIX, EksTokens
from tools.clients.kubernetes import EksConnector, EksKubernetes
from tools.errors import (
    Conflict,
    EndpointRefused,
    OutcomeUnknown,
    RejectedByPlatform,
    RetryableToolError,
    TargetNotFound,
    ToolError,
)

JOBS = "sagemaker.amazonaws.com/v1/hyperpodpytorchjobs"


class HandClock:
    def __init__(self) -> None:
        self.time = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


def connect(script: Script) -> EksKubernetes:
    """The EKS answer is put before whatever the script says."""
    script.replies.insert(0, Reply(body=json.dumps({"cluster": {"name": "llama-eks", "endpoint": script.url}})))
    return EksConnector(aws(script.url), HandClock()).connect("llama-eks")


def status(code: int, reason: str = "Because") -> Reply:
    return Reply(status=code, body=json.dumps({"kind": "Status", "code": code, "reason": reason, "message": "no"}))


def test_a_named_object_is_read_from_its_namespace() -> None:
    with serving(Reply(body='{"kind": "Pod"}')) as server:
        assert connect(server).get("v1/pods", "a", "team")["kind"] == "Pod"

    assert server.received[-1].path == "/api/v1/namespaces/team/pods/a"


def test_a_kind_of_a_group_lives_under_apis() -> None:
    with serving(Reply(body='{"metadata": {"name": "a"}}')) as server:
        connect(server).create(JOBS, {"metadata": {"name": "a"}}, "team")

    request = server.received[-1]
    assert request.method == "POST"
    assert request.path.startswith("/apis/sagemaker.amazonaws.com/v1/namespaces/team/hyperpodpytorchjobs?")
    assert request.json() == {"metadata": {"name": "a"}}


def test_a_list_follows_its_pages() -> None:
    first = Reply(body=json.dumps({"items": [{"a": 1}], "metadata": {"continue": "t"}}))
    with serving(first, Reply(body=json.dumps({"items": [{"a": 2}], "metadata": {}}))) as server:
        assert connect(server).list("v1/pods", label_selector="job=a") == [{"a": 1}, {"a": 2}]

    assert parse_qs(urlsplit(server.received[-1].path).query)["continue"] == ["t"]


def test_applying_names_the_field_manager() -> None:
    with serving(Reply()) as server:
        connect(server).apply("v1/namespaces", {"metadata": {"name": "team"}})

    request = server.received[-1]
    assert (request.method, request.headers["content-type"]) == ("PATCH", "application/apply-patch+yaml")
    assert request.path == "/api/v1/namespaces/team?fieldManager=muster"


def test_logs_come_as_text() -> None:
    with serving(Reply(body="step 1 loss 2.5\n")) as server:
        assert connect(server).logs("pod-0", "team", tail_lines=10) == "step 1 loss 2.5\n"


@pytest.mark.parametrize(
    ("reply", "on_change", "on_read"),
    [
        pytest.param(status(404), TargetNotFound, TargetNotFound, id="absent"),
        pytest.param(status(409, "AlreadyExists"), Conflict, Conflict, id="exists"),
        pytest.param(status(422), RejectedByPlatform, RejectedByPlatform, id="invalid"),
        pytest.param(status(429), RetryableToolError, RetryableToolError, id="throttled"),
        pytest.param(status(500), OutcomeUnknown, RetryableToolError, id="server error"),
        pytest.param(Reply(hang_up=True), OutcomeUnknown, RetryableToolError, id="no answer"),
        pytest.param(Reply(body='{"a', cut=True), OutcomeUnknown, RetryableToolError, id="cut answer"),
    ],
)
def test_an_error_says_whether_anything_happened(
    reply: Reply, on_change: type[ToolError], on_read: type[ToolError]
) -> None:
    with serving(reply) as server:
        kubernetes = connect(server)
        with pytest.raises(on_change):
            kubernetes.create(JOBS, {}, "team")
        with pytest.raises(on_read):
            kubernetes.get(JOBS, "a", "team")


def test_no_permission_is_told_as_such() -> None:
    with serving(status(403)) as server, pytest.raises(RejectedByPlatform) as raised:
        connect(server).get(JOBS, "a", "team")

    assert raised.value.failure_class is FailureClass.PERMISSION


def test_a_local_session_never_reaches_a_real_cluster() -> None:
    answer = Reply(body=json.dumps({"cluster": {"endpoint": "https://abc.eks.amazonaws.com"}}))
    with serving(answer) as server, pytest.raises(EndpointRefused):
        EksConnector(aws(server.url), HandClock()).connect("llama-eks")


def test_a_control_plane_without_an_endpoint_is_not_ready() -> None:
    with serving(Reply(body='{"cluster": {"status": "CREATING"}}')) as server, pytest.raises(Conflict):
        EksConnector(aws(server.url), HandClock()).connect("llama-eks")


def token_url(request: Received) -> str:
    token = request.headers["authorization"].removeprefix(f"Bearer {TOKEN_PREFIX}")
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()


def test_the_token_is_a_presigned_identity_request_for_this_cluster() -> None:
    with serving(Reply()) as server:
        connect(server).get("v1/pods", "a", "team")

    query = parse_qs(urlsplit(token_url(server.received[-1])).query)
    assert query["Action"] == ["GetCallerIdentity"]
    assert query["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]


def test_a_token_is_made_again_before_it_expires() -> None:
    clock = HandClock()
    url = "http://127.0.0.1:1"
    tokens = EksTokens(aws(url).session, region="us-west-2", endpoint_url=url, clock=clock)

    first = tokens.token("a")
    clock.time += timedelta(minutes=9)
    same = tokens.token("a")
    tokens.forget("a")
    clock.time += timedelta(minutes=11)

    assert first == same
    assert tokens.token("a").startswith(TOKEN_PREFIX)


def test_a_refused_token_is_not_used_again() -> None:
    with serving(status(401), Reply()) as server:
        kubernetes = connect(server)
        with pytest.raises(RejectedByPlatform):
            kubernetes.get("v1/pods", "a", "team")
        assert kubernetes.get("v1/pods", "a", "team") == {}
