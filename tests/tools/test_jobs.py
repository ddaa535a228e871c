"""What a job's object says about where it stands, and what is submitted."""

from __future__ import annotations

import pytest

from core.cluster.workloads import JobState
from core.json_value import JsonObject
from tools.jobs import JobArgs, manifest, state_of
from tools.reading import at, children


def job(*conditions: tuple[str, str], suspend: bool = False) -> JsonObject:
    return {
        "spec": {"runPolicy": {"suspend": suspend}},
        "status": {
            "conditions": [
                {"type": kind, "status": status, "lastTransitionTime": f"2026-03-02T09:00:{number:02d}Z"}
                for number, (kind, status) in enumerate(conditions)
            ]
        },
    }


@pytest.mark.parametrize(
    ("row", "state"),
    [
        pytest.param(job(), JobState.PENDING, id="nothing yet"),
        pytest.param(job(("Created", "True")), JobState.PENDING, id="created"),
        pytest.param(job(("Created", "True"), ("Running", "True")), JobState.RUNNING, id="running"),
        pytest.param(job(("Running", "False"), ("Completed", "True")), JobState.SUCCEEDED, id="completed"),
        pytest.param(job(("Running", "True"), ("Failed", "True")), JobState.FAILED, id="failed"),
        pytest.param(job(("Created", "True"), suspend=True), JobState.SUSPENDED, id="held back"),
        pytest.param(job(("Running", "True"), ("Suspended", "False")), JobState.RUNNING, id="no longer held back"),
        pytest.param(job(("Created", "True"), ("SomethingNew", "True")), JobState.PENDING, id="a condition not known"),
    ],
)
def test_the_state_follows_the_conditions(row: JsonObject, state: JobState) -> None:
    assert state_of(row) is state


def test_a_job_asks_for_accelerators_and_efa_once_per_node() -> None:
    args = JobArgs(
        eks_name="base-eks",
        namespace="default",
        name="sft",
        image="i",
        command=("python", "train.py"),
        nodes=4,
        accelerator_resource="nvidia.com/gpu",
        accelerators=8,
        efa=32,
        queue="q",
        priority_class="training-priority",
    )
    (replica,) = children(manifest(args, "token"), "spec", "replicaSpecs")
    (container,) = children(replica, "template", "spec", "containers")

    assert replica["replicas"] == 4
    assert at(container, "resources", "requests") == {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"}
    assert at(container, "resources", "limits") == at(container, "resources", "requests")
    assert at(manifest(args, "token"), "metadata", "labels") == {
        "muster/job": "sft",
        "kueue.x-k8s.io/queue-name": "q",
        "kueue.x-k8s.io/priority-class": "training-priority",
    }
    assert at(manifest(args, "token"), "metadata", "annotations") == {"muster/token": "token"}


def test_restarts_are_left_to_the_operator_unless_somebody_said() -> None:
    args = JobArgs(eks_name="e", namespace="n", name="j", image="i", command=(), nodes=1)

    assert "jobMaxRetryCount" not in str(manifest(args, "t"))
    assert "jobMaxRetryCount" in str(manifest(args.model_copy(update={"max_restarts": 0}), "t"))
