"""HyperPodPyTorchJobs with real processes: from Created to an end, through failures and lost nodes."""

from __future__ import annotations

import os
import re
import signal

import pytest

from core.json_value import JsonObject
from tests.twin.jobs.world import SHELL, World, exit_codes, job_body, nodes_of, sample_job
from tests.twin.kube.serving import EKS_NAME, FakeAgent
from twin.jobs.controller import JOBS
from twin.jobs.live import live_jobs
from twin.kube.objects import array, condition_of, dig, mapping, number, objects, text, uid_of

LOOP = (*SHELL, "while true; do sleep 0.05; done")


def losses(log: str) -> dict[int, str]:
    return {int(step): loss for step, loss in re.findall(r"^step (\d+) loss (\S+)$", log, re.MULTILINE)}


def test_a_job_trains_to_its_end(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body())

    world.until_job("Completed")

    assert [text(pod, "status", "phase") for pod in world.pods()] == ["Succeeded", "Succeeded"]
    assert losses(world.log("train-pod-0")) == losses(world.log("train-pod-1"))
    assert list(losses(world.log("train-pod-0"))) == list(range(1, 9))
    assert text(world.job(), "status", "completionTime")
    assert {"JobCreated", "Scheduled", "Started", "Running", "JobCompleted"} <= set(world.events())


def test_each_pod_gets_the_launchers_variables_and_its_own(world: World) -> None:
    world.add_nodes(2)
    body = job_body(*SHELL, "env")
    template = dig(objects(body, "spec", "replicaSpecs")[0], "template", "spec")
    container: JsonObject = {
        **objects(template, "containers")[0],
        "env": [{"name": "MINE", "value": "$(NOT_EXPANDED)"}],
    }
    replica: JsonObject = {"name": "pod", "replicas": 2, "template": {"spec": {"containers": [container]}}}
    world.create(JOBS, {**body, "spec": {"replicaSpecs": [replica], "runPolicy": {"cleanPodPolicy": "None"}}})

    world.until_job("Completed")

    seen = dict(line.split("=", 1) for line in world.log("train-pod-1").splitlines() if "=" in line)
    assert (seen["RANK"], seen["WORLD_SIZE"], seen["LOCAL_RANK"], seen["MASTER_ADDR"]) == ("1", "2", "0", "127.0.0.1")
    assert int(seen["MASTER_PORT"]) == number(world.job(), "status", "masterPort")
    assert seen["MINE"] == "$(NOT_EXPANDED)"
    assert seen["HOSTNAME"] == "train-pod-1"
    assert "AWS_ENDPOINT_URL" not in seen
    assert "VIRTUAL_ENV" not in seen


def test_a_killed_rank_restarts_all_ranks_from_the_checkpoint_with_the_same_final_loss(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body(*sample_job(steps=30), name="calm"))
    world.until_job("Completed", "calm")
    calm = losses(world.log("calm-pod-0"))[30]
    world.create(JOBS, job_body(*sample_job(steps=30), policy={"jobMaxRetryCount": 1}))
    world.until(lambda: "checkpoint saved at step 4" in world.log("train-pod-0"))

    os.kill(world.process_ids()[-1], signal.SIGKILL)
    world.until_job("Completed")

    log = world.log("train-pod-0")
    resumed = re.search(r"^resumed from step (\d+)$", log, re.MULTILINE)
    assert resumed is not None
    assert int(resumed[1]) >= 4
    assert losses(log)[30] == calm
    assert number(world.job(), "status", "restartCount") == 1
    assert [number(c, "restartCount") for pod in world.pods() for c in objects(pod, "status", "containerStatuses")][
        -2:
    ] == [1, 1]
    assert live_jobs(world.plane, world.planes.config.pods)["train"] == {
        "state": "Succeeded",
        "nodes": 2,
        "resumed_from_step": int(resumed[1]),
    }


def test_the_log_of_the_failed_run_stays_readable(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body(*SHELL, "echo run $RESTART_COUNT; test $RESTART_COUNT = 1", replicas=1,
                                policy={"jobMaxRetryCount": 1}))  # fmt: skip

    world.until_job("Completed")

    assert (world.log("train-pod-0", 0), world.log("train-pod-0", 1)) == ("run 0\n", "run 1\n")
    status = objects(world.pod("train-pod-0"), "status", "containerStatuses")[0]
    assert number(status, "lastState", "terminated", "exitCode") == 1


def test_a_job_without_retries_left_fails_with_its_exit_code(world: World) -> None:
    world.add_nodes(2)
    script = "test $RANK = 0 && while true; do sleep 0.05; done; exit 3"
    world.create(JOBS, job_body(*SHELL, script, policy={"jobMaxRetryCount": 0}))

    world.until_job("Failed")

    assert [exit_codes(pod) for pod in world.pods()] == [[137], [3]]
    assert [text(pod, "status", "phase") for pod in world.pods()] == ["Failed", "Failed"]
    assert "rank 1" in text(condition_of(world.job(), "Failed"), "message")
    assert not world.process_ids()


def test_an_unknown_program_fails_like_a_container(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body("no-such-program", replicas=1))

    world.until_job("Failed")

    state = mapping(objects(world.pod("train-pod-0"), "status", "containerStatuses")[0], "state", "terminated")
    assert (state["exitCode"], state["reason"]) == (128, "StartError")
    assert "executable file not found" in text(state, "message")


def test_a_job_restarts_elsewhere_when_its_node_leaves(world: World) -> None:
    world.add_nodes(3)
    world.create(JOBS, job_body(*LOOP, gpus=4))
    world.until_job("Running")
    before = nodes_of(world.pods())

    world.planes.node_left(EKS_NAME, before["train-pod-1"])
    world.until(lambda: number(world.job(), "status", "restartCount") == 1)
    world.until_job("Running")

    after = nodes_of(world.pods())
    assert before["train-pod-1"] not in after.values()
    assert len(set(after.values())) == 2
    assert text(world.job(), "status", "latestFaultyPodInstanceList", "restartType") == "JLR"


def test_a_job_waits_whole_when_a_node_leaves_and_nothing_is_free(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body(*LOOP, gpus=4))
    world.until_job("Running")

    world.planes.node_left(EKS_NAME, nodes_of(world.pods())["train-pod-1"])
    world.until(lambda: "FailedScheduling" in world.events())

    assert set(nodes_of(world.pods()).values()) == {""}
    assert not world.process_ids()
    world.add_nodes(1)
    world.until_job("Running")


def test_a_pod_lost_before_the_job_runs_is_made_again_uncounted(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body(*LOOP, gpus=4))
    world.until(lambda: len(world.pods()) == 2)

    world.delete("pods", "train-pod-1", grace_seconds=0)
    world.add_nodes(1)
    world.until_job("Running")

    assert number(world.job(), "status", "restartCount") is None


def test_suspending_ends_the_pods_and_resuming_starts_them_again(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body(*LOOP, policy={"suspend": True}))
    world.until_job("Suspended")
    assert world.pods() == []

    world.change(JOBS, "train", False, "spec", "runPolicy", "suspend")
    world.until_job("Running")
    world.change(JOBS, "train", True, "spec", "runPolicy", "suspend")
    world.until(lambda: not world.pods())

    assert not world.process_ids()
    assert world.is_job("Suspended")
    assert number(world.job(), "status", "restartCount") is None


def test_deleting_a_job_kills_its_processes(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body(*LOOP))
    world.until_job("Running")
    running = world.process_ids()

    world.delete(JOBS, "train")
    world.until(lambda: not world.pods())

    assert len(running) == 2
    assert all(not os.path.exists(f"/proc/{pid}/environ") for pid in running)
    assert list(world.planes.config.pods.iterdir()) == []


def test_the_aws_half_hears_once_that_a_job_runs(world: World) -> None:
    world.add_nodes(2)
    agent = world.planes.agent = FakeAgent()
    world.create(JOBS, job_body(*LOOP, policy={"jobMaxRetryCount": 1}))
    world.until_job("Running")

    os.kill(world.process_ids()[0], signal.SIGKILL)
    world.until(lambda: number(world.job(), "status", "restartCount") == 1)
    world.until_job("Running")

    assert agent.running == [(EKS_NAME, "train")]


def test_a_changed_size_restarts_the_job_uncounted(world: World) -> None:
    world.add_nodes(3)
    body = job_body(*LOOP)
    world.create(JOBS, body)
    world.until_job("Running")
    replica = {**objects(body, "spec", "replicaSpecs")[0], "replicas": 3}

    world.change(JOBS, "train", [replica], "spec", "replicaSpecs")
    world.until(lambda: len(world.process_ids()) == 3)

    assert number(world.job(), "status", "restartCount") is None


def test_a_job_past_its_deadline_fails(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body(*LOOP, replicas=1, policy={"activeDeadlineSeconds": 60}))
    world.until_job("Running")

    world.clock.advance(61)
    world.until_job("Failed")

    assert text(condition_of(world.job(), "Failed"), "reason") == "DeadlineExceeded"


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        pytest.param("All", 0, id="all"),
        pytest.param("OnlyComplete", 0, id="complete"),
        pytest.param("None", 1, id="none"),
    ],
)
def test_pods_are_cleaned_up_by_policy(world: World, policy: str, left: int) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body(*SHELL, "true", replicas=1, policy={"cleanPodPolicy": policy}))

    world.until_job("Completed")
    world.until(lambda: len(world.pods()) == left)


def test_a_finished_job_goes_after_its_time_to_live(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body(*SHELL, "true", replicas=1, policy={"ttlSecondsAfterFinished": 30}))
    world.until_job("Completed")

    world.clock.advance(31)

    world.until(lambda: not world.job())


def test_the_job_names_its_pods_and_its_master(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body(*LOOP))

    world.until_job("Running")

    status = mapping(world.job(), "status")
    assert array(status, "jobPods") == ["train-pod-0", "train-pod-1"]
    assert status["masterAddr"] == "127.0.0.1"
    assert uid_of(world.job()) == text(objects(world.pod("train-pod-0"), "metadata", "ownerReferences")[0], "uid")
