"""Whatever the API accepts, the loop can carry out; whatever it cannot, the API refuses."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.json_value import JsonObject, JsonValue
from tests.twin.jobs.world import World, job_body, pod_spec
from tests.twin.jobs.world import world as make_world
from twin.jobs.controller import JOBS
from twin.kube.errors import ApiError
from twin.kube.objects import array, is_array, is_object, mapping, name_of, objects, put, text
from twin.kube.resources import DeleteOptions

JUNK: Sequence[JsonValue] = (
    None, True, -1, 0, 10**9, 1.5, "", "x" * 300, "../..", "a=b", "\0", "ü", [], ["x"], [None], {}, {"a": None},
)  # fmt: skip
FULL_SPEC: JsonObject = {
    **pod_spec(("true",), gpus=1),
    "restartPolicy": "Never",
    "volumes": [{"name": "v", "hostPath": {"path": "/fsx"}}, {"name": "w", "emptyDir": {}}],
    "tolerations": [{"key": "a", "operator": "Exists"}],
    "nodeSelector": {},
    "terminationGracePeriodSeconds": 0,
}
VARIABLES: JsonObject = {
    "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    "volumeMounts": [{"name": "v", "mountPath": "/fsx", "subPath": "a"}],
}


def full_pod() -> JsonObject:
    container = {**objects(FULL_SPEC, "containers")[0], **VARIABLES}
    return {"metadata": {"name": "pod", "labels": {"a": "b"}}, "spec": put(FULL_SPEC, [container], "containers")}


def full_job() -> JsonObject:
    policy: JsonObject = {
        "jobMaxRetryCount": 1,
        "activeDeadlineSeconds": 60,
        "ttlSecondsAfterFinished": 5,
        "suspend": False,
    }
    body = job_body("true", replicas=1, policy=policy)
    replica = put(objects(body, "spec", "replicaSpecs")[0], {"spec": mapping(full_pod(), "spec")}, "template")
    return put(body, [replica], "spec", "replicaSpecs")


def spoiled(value: JsonValue, junk: JsonValue, dice: random.Random) -> JsonValue:
    """A copy with `junk` at a random place."""
    if is_object(value) and mapping(value) and dice.random() > 0.03:
        key = dice.choice(sorted(mapping(value)))
        return {**mapping(value), key: spoiled(mapping(value)[key], junk, dice)}
    if is_array(value) and array(value) and dice.random() > 0.03:
        at = dice.randrange(len(array(value)))
        return [spoiled(item, junk, dice) if i == at else item for i, item in enumerate(array(value))]
    return junk


@pytest.fixture(scope="module")
def hostile_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with make_world(tmp_path_factory.mktemp("hostile")) as made:
        made.add_nodes(2)
        yield made


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), is_job=st.booleans(), junk=st.sampled_from(JUNK), places=st.integers(1, 3))
def test_an_object_is_refused_or_carried_out(
    hostile_world: World, caplog: pytest.LogCaptureFixture, seed: int, is_job: bool, junk: JsonValue, places: int
) -> None:
    world, dice = hostile_world, random.Random(seed)
    body = full_job() if is_job else full_pod()
    for _ in range(places):
        body = put(body, spoiled(mapping(body, "spec"), junk, dice), "spec")
    resource = JOBS if is_job else "pods"

    with caplog.at_level(logging.ERROR):
        try:
            made = world.create(resource, body)
        except ApiError as refused:
            assert 400 <= refused.code < 500
        else:
            for _ in range(3):
                world.runtime.tick()
            for found in (resource, "pods"):
                for obj in world.plane.store.objects(found):
                    world.plane.resources.delete(
                        world.plane.kinds.named(found), name_of(obj), DeleteOptions(grace_seconds=0)
                    )
            world.runtime.tick()
            assert text(made, "metadata", "uid")

    assert [record.getMessage() for record in caplog.records] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"containers": [{"name": "../../x"}]}, "spec.containers[0].name", id="a path for a container"),
        pytest.param({"containers": [{"name": "a"}, {"name": "a"}]}, "spec.containers[1].name", id="twice the name"),
        pytest.param({"nodeName": "../x"}, "spec.nodeName", id="a path for a node"),
        pytest.param(
            {"volumes": [{"name": "v", "hostPath": {"path": "/fsx/../../etc"}}]},
            "spec.volumes[0].hostPath.path",
            id="a climbing host path",
        ),
    ],
)
def test_a_pod_that_would_meddle_is_refused(world: World, change: JsonObject, field: str) -> None:
    with pytest.raises(ApiError) as refused:
        world.create("pods", {"metadata": {"name": "p"}, "spec": {**pod_spec(("true",)), **change}})

    assert field in [text(cause, "field") for cause in objects(refused.value.details, "causes")]


def test_a_job_of_a_billion_pods_is_refused(world: World) -> None:
    with pytest.raises(ApiError, match="at most 1000 pods"):
        world.create(JOBS, job_body(replicas=10**9))


def test_a_job_whose_pods_name_is_taken_says_so_and_others_go_on(world: World) -> None:
    world.add_nodes(1)
    world.create("pods", {"metadata": {"name": "train-pod-0"}, "spec": pod_spec(("sleep", "60"))})
    world.create(JOBS, job_body(replicas=1))
    world.create(JOBS, job_body("true", replicas=1, name="other"))

    world.until_job("Completed", "other")

    assert "FailedCreate" in world.events()
    assert not world.is_job("Running")
    assert "restartCount" not in mapping(world.job(), "status")
    world.delete("pods", "train-pod-0", grace_seconds=0)
    world.until_job("Completed")


def test_a_program_that_fails_at_once_does_not_spin(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, job_body("false", replicas=1, policy={"jobMaxRetryCount": 1_000_000}))
    world.until(lambda: "JobRestarting" in world.events())

    for _ in range(50):
        world.runtime.tick()

    assert int(str(mapping(world.job(), "status")["restartCount"])) < 10
