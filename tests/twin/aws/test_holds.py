"""An answer kept back after its effect: what stands, and what others see meanwhile."""

from __future__ import annotations

import threading
import urllib.error

import pytest

from tests.builders.deadlines import eventually
from tests.twin.aws.serving import TwinUnderTest

CALL = "s3:CreateBucket"


@pytest.fixture
def caller(twin: TwinUnderTest) -> threading.Thread:
    """Makes one bucket, in a thread that blocks while its answer is held."""
    client = twin.client("s3")

    def create() -> None:
        client.create_bucket(Bucket="held", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})

    return threading.Thread(target=create, daemon=True)


def test_a_held_answer_has_taken_effect_and_keeps_its_caller_waiting(
    twin: TwinUnderTest, caller: threading.Thread
) -> None:
    twin.control("POST", "holds", {"call": CALL})
    caller.start()

    eventually(lambda: twin.control("GET", "holds")["held"] == [CALL])
    assert caller.is_alive()
    assert twin.effects()[CALL] == 1
    assert [bucket["Name"] for bucket in twin.client("s3").list_buckets()["Buckets"]] == ["held"]

    assert twin.control("POST", "release") == {"released": 1}
    caller.join(10)
    assert not caller.is_alive()
    assert twin.control("GET", "holds") == {"armed": [], "held": []}


def test_only_the_named_call_is_held_and_only_once(twin: TwinUnderTest, caller: threading.Thread) -> None:
    twin.control("POST", "holds", {"call": "sagemaker:CreateCluster"})

    caller.start()
    caller.join(10)

    assert not caller.is_alive()
    assert twin.control("POST", "release") == {"released": 0}


@pytest.mark.parametrize("body", [{}, {"call": "CreateCluster"}, {"call": "s3:CreateBucket", "more": 1}])
def test_a_wrong_hold_is_refused(twin: TwinUnderTest, body: dict[str, object]) -> None:
    with pytest.raises(urllib.error.HTTPError, match="400"):
        twin.control("POST", "holds", body)
