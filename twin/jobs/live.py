"""The jobs of a control plane in the words of a scenario's `live` block."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from core.json_value import JsonValue
from twin.jobs.controller import JOBS
from twin.jobs.kueue import is_waiting
from twin.kube.logs import log_file
from twin.kube.objects import Obj, condition_of, name_of, number, objects, owner_of, text, uid_of
from twin.kube.planes import ControlPlane

_RESUMED: Final = re.compile(rb"^resumed from step (\d+)$", re.MULTILINE)
_STATES: Final = {"Completed": "Succeeded", "Failed": "Failed", "Suspended": "Suspended", "Running": "Running"}


def live_jobs(plane: ControlPlane, pods_folder: Path) -> dict[str, dict[str, JsonValue]]:
    """Job name -> state, nodes, and the step it resumed from where it says so in its log."""
    found: dict[str, dict[str, JsonValue]] = {}
    for job in plane.store.objects(JOBS):
        nodes = sum(number(replica, "replicas") or 0 for replica in objects(job, "spec", "replicaSpecs"))
        resumed = _resumed_from(plane, job, pods_folder)
        found[name_of(job).name] = {
            "state": _state(plane, job),
            "nodes": nodes,
            **({} if resumed is None else {"resumed_from_step": resumed}),
        }
    return found


def _state(plane: ControlPlane, job: Obj) -> str:
    if is_waiting(plane, job):
        return "Pending"
    return next((word for kind, word in _STATES.items() if condition_of(job, kind).get("status") == "True"), "Pending")


def _resumed_from(plane: ControlPlane, job: Obj, pods_folder: Path) -> int | None:
    for pod in plane.store.objects("pods", name_of(job).namespace):
        if text(owner_of(pod), "uid") == uid_of(job):
            for status in objects(pod, "status", "containerStatuses"):
                path = log_file(pods_folder, pod, text(status, "name"), number(status, "restartCount") or 0)
                if path.exists() and (match := _RESUMED.search(path.read_bytes())):
                    return int(match[1])
    return None
