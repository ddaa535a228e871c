"""submit_job against the twin: its pods are real processes, so these tests wait for them."""

from __future__ import annotations

import pytest

from core.cluster.workloads import JobState
from core.json_value import JsonObject
from state.records import EffectStatus, RunStatus
from state.repository import Repository
from tests.builders.worlds import world_with_cluster
from tests.fakes.losing_clients import Losses, losing
from tests.polling import eventually
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.runs import Bench
from tools.jobs import DESCRIBE_JOB, JOBS, JobName

QUICK = ("python", "-m", "twin.sample_job.train", "--steps", "3", "--step-seconds", "0.01")
BROKEN = ("python", "-c", "print('loading data'); raise SystemExit(3)")


def job(name: str = "sft", **changed: object) -> JsonObject:
    base = {
        "cluster": "base",
        "name": name,
        "image": "muster/sample-job",
        "nodes": 2,
        "instance_type": "ml.g5.12xlarge",
        "accelerator_resource": "nvidia.com/gpu",
        "accelerators_per_node": 4,
        "command": QUICK,
        "team": "vision",
    }
    merged: JsonObject = {**base, **changed}  # type: ignore[dict-item]
    return merged


@pytest.fixture
def base(twin: WholeTwin) -> WholeTwin:
    twin.reset(world_with_cluster("base"))
    return twin


def test_a_job_trains_on_its_nodes_and_ends(base: WholeTwin, bench: Bench) -> None:
    run = bench.work_with_processes(bench.start("submit_job", job(), cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    assert run.data["job_state"] == JobState.SUCCEEDED.value
    assert run.data["last_step"] == 3
    live = base.live()["clusters"]["base"]["jobs"]["sft"]
    assert (live["state"], live["nodes"]) == ("Succeeded", 2)


@pytest.mark.parametrize("offset", [0, 1], ids=["first answer", "second answer"])
def test_a_lost_answer_submits_no_second_job(base: WholeTwin, rows: Repository, offset: int) -> None:
    losses = Losses(lambda call, number: number == offset)
    bench = Bench(base, rows, losing(base.clients, losses))
    run = bench.work_with_processes(bench.start("submit_job", job(), cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    assert len(losses.lost) == 1
    assert base.effects()["k8s:create:hyperpodpytorchjobs"] == 1
    assert {effect.status for effect in rows.list_effects(run.id)} == {EffectStatus.APPLIED}


def test_a_failing_job_ends_the_run_with_exit_code_and_log(base: WholeTwin, bench: Bench) -> None:
    run = bench.work_with_processes(bench.start("submit_job", job(command=BROKEN, max_restarts=0), cluster="base"))

    assert run.status is RunStatus.FAILED
    assert run.failure is not None
    assert run.failure.message.params["code"] == "3"
    evidence = [bench.repository.get_evidence(item).text for item in run.failure.evidence]
    assert "loading data" in evidence[-1]


def test_a_job_that_waits_for_room_says_why(base: WholeTwin, bench: Bench) -> None:
    sleeper = job("first", nodes=4, command=("sleep", "60"))
    bench.work(bench.start("submit_job", sleeper, cluster="base"), most_looks=6)
    second = bench.start("submit_job", job("second"), cluster="base")

    def says_why() -> bool:
        waiting = bench.work(second, most_looks=1)
        assert waiting.status is RunStatus.WAITING
        return waiting.reason is not None and waiting.reason.key == "submit_job.starting_because"

    eventually(says_why, within_seconds=20, what="the reason for which the gang waits")


def test_a_job_of_somebody_else_is_not_taken_over(base: WholeTwin, bench: Bench) -> None:
    kubernetes = base.clients.kubernetes.connect("base-eks")
    body: JsonObject = {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": "HyperPodPyTorchJob",
        "metadata": {"name": "sft", "namespace": "default"},
        "spec": {"replicaSpecs": []},
    }
    kubernetes.create(JOBS, body, "default")
    run = bench.work(bench.start("submit_job", job(team=""), cluster="base"))

    assert run.status is RunStatus.WAITING
    assert run.waiting_for is not None
    assert bench.open_question().name.startswith("outcome")


def test_too_few_nodes_fail_before_anything_is_submitted(base: WholeTwin, bench: Bench) -> None:
    run = bench.work(bench.start("submit_job", job(nodes=9), cluster="base"))

    assert run.status is RunStatus.FAILED
    assert base.effects() == {}


def test_the_specification_asks_for_whole_nodes_and_goes_to_the_team(base: WholeTwin, bench: Bench) -> None:
    bench.work_with_processes(bench.start("submit_job", job(), cluster="base"))
    name = JobName(eks_name="base-eks", namespace="hyperpod-ns-vision", name="sft")
    found = DESCRIBE_JOB.read(base.clients, name)

    assert found is not None
    assert [pod.exit_code for pod in found.pods] == [0, 0]
    assert len({pod.node for pod in found.pods}) == 2
