"""Both halves behind the twin's one port: nodes come from AWS, pods run on them, faults go through the control."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from core.clock import SystemClock
from core.json_value import JsonObject
from tests.polling import eventually
from tests.twin.jobs.world import SHELL, job_body
from twin.kube.objects import condition_of, name_of, objects, text
from twin.server import RunningTwin, TwinConfig, serve
from twin.world.specification import WorldSpec

TOKEN = "WHOLETWINTOKEN"
JOBS = "/k8s/base-eks/apis/sagemaker.amazonaws.com/v1/namespaces/default/hyperpodpytorchjobs"
LOOP = (*SHELL, "while true; do sleep 0.05; done")
WORLD: dict[str, Any] = {
    "region": "us-west-2",
    "zones": {"usw2-az2": {"ml.g5.12xlarge": 4}},
    "quotas": {"ml.g5.12xlarge": 4},
    "clusters": [
        {"name": "base", "zone": "usw2-az2", "groups": [{"name": "workers", "type": "ml.g5.12xlarge", "count": 2}]}
    ],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole")


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[RunningTwin]:
    ready, found = threading.Event(), []
    config = TwinConfig(
        folder=folder, port=0, token=TOKEN, time_factor=60.0, seed=0, world=WorldSpec.model_validate(WORLD)
    )

    def announce(twin: RunningTwin) -> None:
        found.append(twin)
        ready.set()

    thread = threading.Thread(target=lambda: serve(config, clock=SystemClock(), on_ready=announce))
    thread.start()
    try:
        assert ready.wait(40)
        yield found[0]
    finally:
        for twin in found:
            twin.stop()
        thread.join(20)


@pytest.fixture
def http(running: RunningTwin) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=running.endpoint, headers=headers, timeout=20, trust_env=False) as client:
        yield client


@pytest.fixture
def job(http: httpx.Client) -> Iterator[str]:
    """A name for a job that is gone, with its pods, after the test."""
    yield "train"
    http.delete(f"{JOBS}/train")
    eventually(lambda: pods(http) == [])


def pods(http: httpx.Client) -> list[JsonObject]:
    found: JsonObject = http.get("/k8s/base-eks/api/v1/namespaces/default/pods").json()
    return objects(found, "items")


def is_running(http: httpx.Client, name: str) -> bool:
    return condition_of(http.get(f"{JOBS}/{name}").json(), "Running").get("status") == "True"


def test_the_worlds_nodes_are_ready_for_pods(http: httpx.Client) -> None:
    nodes = objects(http.get("/k8s/base-eks/api/v1/nodes").json(), "items")

    assert [condition_of(node, "Ready")["status"] for node in nodes] == ["True", "True"]


def test_a_submitted_job_runs_and_is_one_effect(http: httpx.Client, job: str) -> None:
    before = http.get("/_twin/effects").json().get("k8s:create:hyperpodpytorchjobs", 0)
    assert http.post(JOBS, json=job_body(*LOOP, name=job, gpus=4)).status_code == 201

    eventually(lambda: is_running(http, job), within_seconds=20)

    assert http.get("/_twin/effects").json()["k8s:create:hyperpodpytorchjobs"] == before + 1
    assert {text(pod, "spec", "nodeName") for pod in pods(http)} == {
        name_of(node).name for node in objects(http.get("/k8s/base-eks/api/v1/nodes").json(), "items")
    }


def test_a_kept_back_answer_has_taken_effect(http: httpx.Client, job: str) -> None:
    http.post("/_twin/holds", json={"call": "k8s:create:hyperpodpytorchjobs"}).raise_for_status()
    answers: list[int] = []
    body = job_body(*LOOP, name=job)
    caller = threading.Thread(target=lambda: answers.append(http.post(JOBS, json=body).status_code))
    caller.start()

    eventually(lambda: http.get("/_twin/holds").json()["held"])
    assert http.get(f"{JOBS}/{job}").status_code == 200
    assert answers == []
    http.post("/_twin/release")
    caller.join(10)

    assert answers == [201]


def test_a_lost_answer_has_taken_effect(http: httpx.Client, job: str) -> None:
    fault = {"kind": "lost_response", "at": "effect:k8s:create:hyperpodpytorchjobs"}
    http.post("/_twin/faults", content=json.dumps([fault])).raise_for_status()

    with pytest.raises(httpx.TransportError):
        http.post(JOBS, json=job_body(*LOOP, name=job))

    assert http.get(f"{JOBS}/{job}").status_code == 200
    assert http.post(JOBS, json=job_body(*LOOP, name=job)).status_code == 409


def test_a_kubeconfig_for_people_lies_in_the_folder(folder: Path, running: RunningTwin) -> None:
    path = folder / "kubernetes" / "kubeconfig"

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"@{running.endpoint.removeprefix('http://')}/k8s/base-eks" in path.read_text()


def test_a_replaced_node_moves_its_job(http: httpx.Client, job: str) -> None:
    http.post(JOBS, json=job_body(*LOOP, name=job, gpus=4, policy={"jobMaxRetryCount": 3}))
    eventually(lambda: is_running(http, job), within_seconds=20)
    lost = text(pods(http)[1], "spec", "nodeName")

    label = {"metadata": {"labels": {"sagemaker.amazonaws.com/node-health-status": "UnschedulablePendingReplacement"}}}
    headers = {"content-type": "application/merge-patch+json"}
    http.patch(f"/k8s/base-eks/api/v1/nodes/{lost}", json=label, headers=headers).raise_for_status()
    eventually(lambda: not is_running(http, job), within_seconds=30)
    http.post("/_twin/clock", json={"advance_seconds": 3600})
    eventually(lambda: is_running(http, job), within_seconds=30)

    assert lost not in {text(pod, "spec", "nodeName") for pod in pods(http)}
