"""Which nodes count, and what a waiting pod says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.twin.jobs.world import SHELL, World, job_body, nodes_of
from tests.twin.jobs.world import world as make_world
from tests.twin.kube.serving import EKS_NAME
from twin.jobs.controller import JOBS
from twin.kube.nodes import HEALTH_LABEL
from twin.kube.objects import ObjectName, condition_of, put, text

LOOP = (*SHELL, "while true; do sleep 0.05; done")


def cordon(world: World, node: str) -> None:
    world.plane.resources.modify("nodes", ObjectName("", node), lambda n: put(n, True, "spec", "unschedulable"))


def label_unhealthy(world: World, node: str) -> None:
    world.planes.set_node_label(EKS_NAME, node, HEALTH_LABEL, "UnschedulablePendingReplacement")


def lose_contact(world: World, node: str) -> None:
    world.planes.set_node_ready(EKS_NAME, node, False, "NodeStatusUnknown")


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(cordon, id="cordoned"),
        pytest.param(label_unhealthy, id="labelled unhealthy"),
        pytest.param(lose_contact, id="not ready"),
    ],
)
def test_a_spoiled_node_takes_no_pod(world: World, spoil: object) -> None:
    bad, good = world.add_nodes(2)
    assert callable(spoil)
    spoil(world, bad)
    world.create(JOBS, job_body(*LOOP, replicas=1))

    world.until_job("Running")

    assert nodes_of(world.pods()) == {"train-pod-0": good}


def test_a_waiting_pod_says_what_is_lacking(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body(*LOOP, gpus=4))

    world.until(lambda: "FailedScheduling" in world.events())

    condition = condition_of(world.pod("train-pod-0"), "PodScheduled")
    assert condition["reason"] == "Unschedulable"
    assert "Insufficient nvidia.com/gpu" in text(condition, "message")
    assert condition["twinReason"] == "insufficient_resources"
    assert not world.is_job("Running")


def test_the_twins_own_bound_on_pods_is_named(tmp_path: Path) -> None:
    with make_world(tmp_path, most_pods=1) as world:
        world.add_nodes(2)
        world.create(JOBS, job_body(*LOOP))

        world.until(lambda: "FailedScheduling" in world.events())

        condition = condition_of(world.pod("train-pod-0"), "PodScheduled")
        assert condition["twinReason"] == "twin_pod_limit"
        assert "at most 1 pods" in text(condition, "message")


def test_a_second_job_waits_for_the_accelerators_of_the_first(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body(*LOOP, name="one", gpus=4))
    world.until_job("Running", "one")
    world.create(JOBS, job_body(*LOOP, name="two", gpus=4))
    world.until(lambda: "FailedScheduling" in world.events())

    world.delete(JOBS, "one")

    world.until_job("Running", "two")
