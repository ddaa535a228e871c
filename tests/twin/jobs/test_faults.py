"""Faults at the Kubernetes side, and what they look like from outside."""

from __future__ import annotations

import pytest

from tests.polling import eventually
from tests.twin.jobs.test_jobs import losses
from tests.twin.jobs.world import SHELL, World, exit_codes, job_body, nodes_of, sample_job
from tests.twin.kube.serving import EKS_NAME
from twin.jobs.controller import JOBS
from twin.jobs.faults import PodFaults
from twin.kube.objects import number
from twin.kube.planes import REBOOTING

ENDLESS = sample_job(steps=100_000, step_seconds=0.01, every=5)


@pytest.fixture
def faults(world: World) -> PodFaults:
    world.add_nodes(2)
    return PodFaults(world.planes, world.runtime)


def steps_of(world: World, pod: str = "train-pod-0") -> int:
    return max(losses(world.log(pod)), default=0)


def test_an_xid_fails_its_rank_with_the_matching_cuda_error(world: World, faults: PodFaults) -> None:
    world.create(JOBS, job_body(*ENDLESS))
    world.until(lambda: steps_of(world) > 3)

    faults.xid(EKS_NAME, nodes_of(world.pods())["train-pod-1"], 74)
    world.until_job("Failed")

    assert "CUDA error: uncorrectable NVLink error" in world.log("train-pod-1")
    assert exit_codes(world.pod("train-pod-1")) == [134]


def test_an_unreachable_node_silences_its_ranks(world: World, faults: PodFaults) -> None:
    world.create(JOBS, job_body(*ENDLESS))
    world.until(lambda: steps_of(world) > 3)

    faults.silence(EKS_NAME, nodes_of(world.pods())["train-pod-1"])

    eventually(lambda: _steps_in_a_while(world) == 0)
    assert len(world.process_ids()) == 2


def test_a_hung_rank_stops_all_without_ending_any(world: World, faults: PodFaults) -> None:
    world.create(JOBS, job_body(*ENDLESS))
    world.until(lambda: steps_of(world) > 3)

    faults.job_hang(EKS_NAME, "default", "train", rank=1)

    eventually(lambda: _steps_in_a_while(world) == 0)
    world.runtime.tick()
    assert world.is_job("Running")
    assert len(world.process_ids()) == 2


def test_a_spoiled_gradient_shows_as_a_loss_that_is_no_number(world: World, faults: PodFaults) -> None:
    world.create(JOBS, job_body(*ENDLESS))
    world.until(lambda: steps_of(world) > 3)

    faults.loss_nan(EKS_NAME, "default", "train")

    world.until(lambda: "loss nan" in world.log("train-pod-1"))
    assert world.is_job("Running")


def test_a_killed_pod_is_restarted_by_its_job(world: World, faults: PodFaults) -> None:
    world.create(JOBS, job_body(*ENDLESS, policy={"jobMaxRetryCount": 3}))
    world.until(lambda: "checkpoint saved" in world.log("train-pod-0"))

    faults.kill_pod(EKS_NAME, "default", "train-pod-0")

    world.until(lambda: number(world.job(), "status", "restartCount") == 1)
    world.until(lambda: "resumed from step" in world.log("train-pod-1"))


@pytest.mark.usefixtures("faults")
def test_a_rebooting_node_ends_what_runs_there(world: World) -> None:
    world.create(JOBS, job_body(*SHELL, "while true; do sleep 0.05; done", policy={"jobMaxRetryCount": 1}))
    world.until_job("Running")

    world.planes.set_node_ready(EKS_NAME, nodes_of(world.pods())["train-pod-1"], False, REBOOTING)

    world.until(lambda: number(world.job(), "status", "restartCount") == 1)


def test_a_slow_node_slows_the_whole_job(world: World, faults: PodFaults) -> None:
    world.create(JOBS, job_body(*ENDLESS))
    world.until(lambda: steps_of(world) > 3)
    node = nodes_of(world.pods())["train-pod-1"]

    faults.slow_node(EKS_NAME, node, 4.0)
    slow = _steps_in_a_while(world)
    faults.clear()
    fast = _steps_in_a_while(world)

    assert slow > 0
    assert fast > 2 * slow


def _steps_in_a_while(world: World) -> int:
    begin = steps_of(world)
    rounds = iter(range(40))
    eventually(lambda: next(rounds, None) is None)
    return steps_of(world) - begin


@pytest.mark.parametrize("job", ["none", "train"])
def test_a_fault_without_a_target_says_so(faults: PodFaults, job: str, world: World) -> None:
    world.create(JOBS, job_body(*ENDLESS))

    with pytest.raises(LookupError):
        faults.job_hang(EKS_NAME, "default", job, rank=9)
