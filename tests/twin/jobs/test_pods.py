"""Pods as processes: start, restart policy, ending, and what is left of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.json_value import JsonObject
from tests.polling import eventually
from tests.twin.jobs.world import SHELL, World, exit_codes, job_body, make_runtime, pod_spec
from tests.twin.jobs.world import world as make_world
from tests.twin.kube.serving import EKS_NAME, make_planes
from twin.jobs.controller import JOBS
from twin.kube.objects import condition_of, dig, number, objects, put, text

LOOP = (*SHELL, "while true; do sleep 0.05; done")


def pod_body(command: tuple[str, ...], name: str = "lone", **spec: object) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {**pod_spec(command), "restartPolicy": "Never", **spec}}  # type: ignore[dict-item]  # JSON by construction


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(
    ("script", "phase", "code"),
    [pytest.param("true", "Succeeded", 0, id="success"), pytest.param("exit 7", "Failed", 7, id="failure")],
)
def test_a_lone_pod_ends_by_its_exit_code(world: World, script: str, phase: str, code: int) -> None:
    world.add_nodes(1)
    world.create("pods", pod_body((*SHELL, script)))

    world.until(lambda: text(world.pod("lone"), "status", "phase") == phase)

    assert exit_codes(world.pod("lone")) == [code]


def test_a_pod_with_restart_policy_always_backs_off_and_restarts(world: World) -> None:
    world.add_nodes(1)
    world.create("pods", pod_body((*SHELL, "exit 1"), restartPolicy="Always"))
    world.until(lambda: exit_codes(world.pod("lone")) == [1])
    assert text(world.pod("lone"), "status", "phase") == "Running"

    world.clock.advance(11)

    world.until(lambda: number(objects(world.pod("lone"), "status", "containerStatuses")[0], "restartCount") == 1)


def test_a_deleted_pod_hears_sigterm_first(world: World) -> None:
    world.add_nodes(1)
    spoken = world.planes.config.folder / "heard"
    script = f"trap 'echo bye > {spoken}; exit 0' TERM; echo ready; while true; do sleep 0.02; done"
    world.create("pods", pod_body((*SHELL, script)))
    world.until(lambda: "ready" in world.log("lone"))

    world.delete("pods", "lone")
    world.until(lambda: not world.pods())

    assert spoken.read_text() == "bye\n"


def test_a_pod_that_ignores_sigterm_is_killed_after_its_grace(world: World) -> None:
    world.add_nodes(1)
    world.create("pods", pod_body((*SHELL, "trap '' TERM; echo ready; while true; do sleep 0.02; done")))
    world.until(lambda: "ready" in world.log("lone"))
    [pid] = world.process_ids()

    world.delete("pods", "lone")
    world.runtime.tick()
    assert text(world.pod("lone"), "metadata", "deletionTimestamp")
    world.until(lambda: not world.pods())

    assert is_gone(pid)


def test_a_forced_delete_kills_at_once(world: World) -> None:
    world.add_nodes(1)
    world.create("pods", pod_body(LOOP))
    world.until(lambda: world.process_ids() != [])
    [pid] = world.process_ids()

    world.delete("pods", "lone", grace_seconds=0)
    assert world.pods() == []
    world.runtime.tick()

    eventually(lambda: is_gone(pid))


def test_a_pods_children_die_with_it(world: World) -> None:
    world.add_nodes(1)
    world.create("pods", pod_body((*SHELL, "sleep 600 & echo child $!; wait")))
    world.until(lambda: "child" in world.log("lone"))
    child = int(world.log("lone").split()[1])

    world.delete("pods", "lone", grace_seconds=0)
    world.runtime.tick()

    eventually(lambda: is_gone(child))


def test_a_pod_of_a_node_that_is_not_ready_stops_being_ready(world: World) -> None:
    [node] = world.add_nodes(1)
    world.create("pods", pod_body(LOOP))
    world.until(lambda: condition_of(world.pod("lone"), "Ready").get("status") == "True")

    world.planes.set_node_ready(EKS_NAME, node, False, "NodeStatusUnknown")

    assert condition_of(world.pod("lone"), "Ready").get("status") == "False"
    assert world.process_ids()


def test_values_come_from_fields_config_maps_and_secrets(world: World) -> None:
    world.add_nodes(1)
    world.create("configmaps", {"metadata": {"name": "c"}, "data": {"k": "from-map"}})
    world.create("secrets", {"metadata": {"name": "s"}, "stringData": {"k": "from-secret"}})
    variables: list[JsonObject] = [
        {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
        {"name": "C", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    ]
    spec = pod_spec((*SHELL, "echo $A $B $C"))
    container = put(objects(spec, "containers")[0], variables, "env")
    world.create("pods", {"metadata": {"name": "lone"}, "spec": {"containers": [container], "restartPolicy": "Never"}})

    world.until(lambda: text(world.pod("lone"), "status", "phase") == "Succeeded")

    assert world.log("lone") == "lone from-map from-secret\n"


def test_a_missing_secret_fails_the_start_and_says_so(world: World) -> None:
    world.add_nodes(1)
    reference: JsonObject = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "none", "key": "k"}}}
    container = put(objects(pod_spec(("true",)), "containers")[0], [reference], "env")
    world.create("pods", {"metadata": {"name": "lone"}, "spec": {"containers": [container], "restartPolicy": "Never"}})

    world.until(lambda: text(world.pod("lone"), "status", "phase") == "Failed")

    state = dig(objects(world.pod("lone"), "status", "containerStatuses")[0], "state", "terminated")
    assert "secrets none" in text(state, "message")


def test_pods_share_the_folder_behind_a_mounted_path(world: World) -> None:
    world.add_nodes(2)
    for name, script in (("one", "echo shared > $1/file"), ("two", "cat $1/file")):
        volume: JsonObject = {"name": "v", "hostPath": {"path": "/fsx"}}
        container = {
            **objects(pod_spec((*SHELL, script, "sh", "/fsx")), "containers")[0],
            "volumeMounts": [{"name": "v", "mountPath": "/fsx"}],
        }
        spec: JsonObject = {"containers": [container], "volumes": [volume], "restartPolicy": "Never"}
        world.create("pods", {"metadata": {"name": name}, "spec": spec})
        world.until(lambda name=name: text(world.pod(name), "status", "phase") == "Succeeded")  # type: ignore[misc]  # bound per round

    assert world.log("two") == "shared\n"


def test_a_restarted_twin_ends_old_processes_and_starts_its_jobs_again(tmp_path: Path) -> None:
    with make_world(tmp_path) as before:
        before.add_nodes(2)
        before.create(JOBS, job_body(*LOOP))
        before.until_job("Running")
        old = before.process_ids()

        # A twin that was killed closed nothing: a second one opens the same folder.
        planes = make_planes(tmp_path)
        runtime = make_runtime(planes)
        try:
            eventually(lambda: all(is_gone(pid) for pid in old))
            after = World(planes=planes, runtime=runtime, clock=before.clock)
            after.until_job("Running")

            assert len(after.process_ids()) == 2
            assert not set(old) & set(after.process_ids())
            assert number(after.job(), "status", "restartCount") is None
        finally:
            runtime.close()
            planes.close()


def test_a_deleted_control_plane_kills_its_pods(world: World) -> None:
    world.add_nodes(2)
    world.create(JOBS, job_body(*LOOP))
    world.until_job("Running")
    running = world.process_ids()

    world.planes.delete_control_plane(EKS_NAME)

    assert all(is_gone(pid) for pid in running)
    assert not world.process_ids()
    assert world.planes.find(EKS_NAME) is None
