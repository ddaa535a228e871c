"""What a world begins with: namespaces of teams, and jobs as if they had been submitted before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from core.cluster.instance_types import AcceleratorKind
from core.json_value import JsonObject, JsonValue
from twin.jobs.controller import JOBS
from twin.kube.errors import ApiError
from twin.kube.logs import log_file
from twin.kube.objects import Obj, ObjectName, mapping, name_of, put, timestamp, uid_of, with_condition
from twin.kube.planes import ControlPlane
from twin.ports import SeedJob

MOUNTS: Final = ObjectName("kube-system", "twin-mounts")
_ENDLESS: Final = ("python", "-m", "twin.sample_job.train", "--steps", "1000000000", "--step-seconds", "1")
_ENDS: Final = {"Succeeded": "Completed", "Failed": "Failed", "Stopped": "Suspended"}
_ACCELERATORS: Final = (AcceleratorKind.NVIDIA_GPU.value, AcceleratorKind.NEURON.value)


def team_namespace(team: str) -> str:
    """HyperPod's namespace of a team; jobs of nobody live in `default`."""
    return f"hyperpod-ns-{team}" if team else "default"


def seed_team(plane: ControlPlane, team: str) -> None:
    with suppress(ApiError):  # it is there already
        plane.resources.add("namespaces", {"metadata": {"name": team_namespace(team)}})


def seed_jobs(plane: ControlPlane, pods_folder: Path, jobs: Sequence[SeedJob]) -> None:
    """Living ones are carried out by the controller; ended ones get their condition and a pod with their log."""
    for job in jobs:
        seed_team(plane, job.team)
        made = plane.resources.add(JOBS, _body(plane, job))
        if job.state in _ENDS:
            _end(plane, made, job, pods_folder)
        elif job.state == "Pending":
            later = timestamp(plane.clock.now() + timedelta(seconds=1))  # behind those that run
            plane.resources.modify(JOBS, name_of(made), _created_at(later))


def _body(plane: ControlPlane, job: SeedJob) -> JsonObject:
    # A job whose last line is given stays at that line; any other really trains.
    stuck = ("sh", "-c", 'echo "$0"; while true; do sleep 3600; done', job.log)
    container: JsonObject = {
        "name": "trainer",
        "image": "muster/sample-job:latest",
        "command": stuck if job.log else _ENDLESS,
        "resources": {"limits": _whole_node(plane)},
    }
    labels: dict[str, JsonValue] = {"kueue.x-k8s.io/priority-class": f"{job.priority}-priority"}
    if job.team:
        labels["kueue.x-k8s.io/queue-name"] = f"{team_namespace(job.team)}-localqueue"
    replica: JsonObject = {"name": "pod", "replicas": job.nodes, "template": {"spec": {"containers": [container]}}}
    return {
        "metadata": {"name": job.name, "namespace": team_namespace(job.team), "labels": labels},
        "spec": {
            "nprocPerNode": "auto",
            "replicaSpecs": [replica],
            "runPolicy": {
                "cleanPodPolicy": "None",
                "jobMaxRetryCount": 10,
                "suspend": job.state in ("Suspended", "Stopped"),
            },
        },
    }


def _whole_node(plane: ControlPlane) -> dict[str, JsonValue]:
    """The accelerators of the first node that has any: jobs of a world take whole nodes."""
    for node in plane.store.objects("nodes"):
        allocatable = mapping(node, "status", "allocatable")
        found = {name: quantity for name, quantity in allocatable.items() if name in _ACCELERATORS}
        if found:
            return found
    return {}


def _created_at(time: str) -> Callable[[Obj], Obj]:
    return lambda job: put(job, time, "metadata", "creationTimestamp")


def _end(plane: ControlPlane, made: Obj, job: SeedJob, pods_folder: Path) -> None:
    now, name = plane.clock.now(), name_of(made)
    succeeded = job.state == "Succeeded"

    def ended(obj: Obj) -> Obj:
        obj = with_condition(obj, "Created", status="True", reason="JobCreated", message="", now=now)
        obj = with_condition(
            obj, _ENDS[job.state], status="True", reason="BeforeTheWorldBegan", message=job.log, now=now
        )
        return put(obj, timestamp(now), "status", "completionTime")

    plane.resources.modify(JOBS, name, ended)
    if job.state == "Stopped":
        return
    owner: JsonObject = {
        "apiVersion": "sagemaker.amazonaws.com/v1", "kind": "HyperPodPyTorchJob", "name": job.name,
        "uid": uid_of(made), "controller": True,
    }  # fmt: skip
    pod = plane.resources.add(
        "pods",
        {
            "metadata": {"name": f"{job.name}-pod-0", "namespace": name.namespace, "ownerReferences": [owner]},
            "spec": {"containers": [{"name": "trainer", "image": "muster/sample-job:latest"}]},
        },
    )
    state: JsonObject = {
        "terminated": {"exitCode": 0 if succeeded else 1, "reason": "Completed" if succeeded else "Error"}
    }
    status: JsonObject = {
        "name": "trainer",
        "image": "",
        "imageID": "",
        "restartCount": 0,
        "ready": False,
        "state": state,
    }
    phase: JsonObject = {"phase": "Succeeded" if succeeded else "Failed", "containerStatuses": [status]}
    plane.resources.modify("pods", name_of(pod), lambda p: put(p, phase, "status"))
    path = log_file(pods_folder, pod, "trainer", 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(job.log + "\n")
