"""Runs bound pods as processes and keeps their status true.

One kubelet stands for those of all nodes. It is polled, not threaded: `sync` starts what is bound, notices what
ended, and finishes what is being deleted. Pods of jobs are restarted by their controller only.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from core.json_value import JsonValue
from twin.jobs.containers import launch_of
from twin.jobs.processes import PodHost, Process, StartError, start
from twin.kube import nodes
from twin.kube.log_times import note_growth
from twin.kube.logs import log_file
from twin.kube.objects import (
    Obj,
    ObjectName,
    array,
    is_terminating,
    mapping,
    moment_of,
    name_of,
    number,
    objects,
    owner_of,
    put,
    text,
    timestamp,
    uid_of,
    with_condition,
)
from twin.kube.planes import ControlPlane

COMPONENT: Final = "kubelet"
_START_FAILED: Final = 128
_LARGEST_LOG_BYTES: Final = 64 * 1024 * 1024
"""A log beyond that begins anew."""
_FIRST_BACKOFF_SECONDS, _LONGEST_BACKOFF_SECONDS = 10, 300


@dataclass(slots=True)
class Running:
    """A pod with at least one process that has been started."""

    plane: ControlPlane
    name: ObjectName
    node: str
    processes: dict[str, Process] = field(default_factory=dict)
    log_sizes: dict[Path, int] = field(default_factory=dict)
    term_sent_at: float | None = None
    """Monotonic seconds."""


class Kubelet:
    """`environment_of(plane, pod)`: the variables that a pod's controller gives it at its start."""

    def __init__(
        self,
        folder: Path,
        host: PodHost,
        environment_of: Callable[[ControlPlane, Obj], Mapping[str, str]],
        longest_grace_seconds: float,
    ) -> None:
        self._folder = folder
        self._host = host
        self._environment_of = environment_of
        self._longest_grace = longest_grace_seconds
        self.running: dict[str, Running] = {}
        """By pod uid."""

    def sync(self, plane: ControlPlane) -> None:
        found = plane.store.objects("pods")
        pods = {uid_of(pod): pod for pod in found if text(pod, "spec", "nodeName") or is_terminating(pod)}
        for uid, running in list(self.running.items()):
            if running.plane is plane and uid not in pods:
                self._kill(uid)  # deleted without grace: the object is gone, the processes follow
        for uid, pod in pods.items():
            if is_terminating(pod):
                self._end(plane, uid, pod)
            elif uid in self.running:
                self._observe(plane, uid, pod)
            elif text(pod, "status", "phase") == "Pending":
                self._start(plane, pod)
            elif text(pod, "status", "phase") == "Running":
                self._resume(plane, pod)

    def restart(self, plane: ControlPlane, pod: Obj) -> None:
        """End the pod's processes and start them anew in the same pod."""
        codes = self._kill(uid_of(pod))
        pod = self._ended(plane, pod, codes)
        self._start(plane, pod, again=True)

    def fail(self, plane: ControlPlane, pod: Obj) -> None:
        """End the pod's processes for good."""
        pod = self._ended(plane, pod, self._kill(uid_of(pod)))
        self._set_phase(plane, pod, "Failed")

    def kill_where(self, chosen: Callable[[Running], bool]) -> list[Running]:
        """SIGKILL without grace and without a trace in the objects: a machine that is gone."""
        found = [(uid, running) for uid, running in self.running.items() if chosen(running)]
        for uid, _ in found:
            self._kill(uid)
        return [running for _, running in found]

    def _start(self, plane: ControlPlane, pod: Obj, *, again: bool = False) -> None:
        running = Running(plane=plane, name=name_of(pod), node=text(pod, "spec", "nodeName"))
        self.running[uid_of(pod)] = running
        (self._folder / "pods" / uid_of(pod)).mkdir(parents=True, exist_ok=True)
        statuses: list[JsonValue] = []
        for container in objects(pod, "spec", "containers"):
            before = _status_of(pod, text(container, "name"))
            attempt = (number(before, "restartCount") or 0) + int(again)
            state = self._start_container(plane, pod, container, attempt, running)
            status: dict[str, JsonValue] = {
                "name": text(container, "name"),
                "image": text(container, "image"),
                "imageID": "",
                "containerID": f"process://{uid_of(pod)}/{attempt}",
                "restartCount": attempt,
                "ready": "running" in state,
                "started": "running" in state,
                "state": state,
                "lastState": mapping(before, "state") if again else {},
            }
            statuses.append(status)
        now, is_ready = plane.clock.now(), self._node_is_ready(plane, running.node)

        def started(pod: Obj) -> Obj:
            changed = put(pod, statuses, "status", "containerStatuses")
            changed = put(changed, "127.0.0.1", "status", "podIP")
            if not text(changed, "status", "startTime"):
                changed = put(changed, timestamp(now), "status", "startTime")
            status, reason = ("True", "") if running.processes and is_ready else ("False", "ContainersNotReady")
            for kind in ("Initialized", "ContainersReady", "Ready"):
                said = "True" if kind == "Initialized" else status
                changed = with_condition(changed, kind, status=said, reason=reason, message="", now=now)
            return put(changed, "Running", "status", "phase")

        pod = plane.resources.modify("pods", name_of(pod), started) or pod
        if running.processes:
            plane.event(pod, "Started", "Started container", component=COMPONENT)
        self._observe(plane, uid_of(pod), pod)

    def _start_container(
        self, plane: ControlPlane, pod: Obj, container: Obj, attempt: int, running: Running
    ) -> dict[str, JsonValue]:
        """The container's state: running, or terminated because it could not start."""
        name, now = text(container, "name"), timestamp(plane.clock.now())
        log = log_file(self._folder / "pods", pod, name, attempt)
        running.log_sizes[log] = 0
        try:
            extra = self._environment_of(plane, pod)
            launch = launch_of(plane, pod, container, self._folder, extra)
            running.processes[name] = start(
                launch.command,
                launch.environment,
                host=self._host,
                twin_folder=self._folder,
                work=self._folder / "pods" / uid_of(pod) / "work",
                log=log,
            )
        except (StartError, OSError, ValueError) as error:  # ValueError: such as a NUL in a variable
            plane.event(pod, "Failed", f"Error: {error}", component=COMPONENT, warning=True)
            why: Obj = {"exitCode": _START_FAILED, "reason": "StartError", "message": str(error)}
            return {"terminated": put(put(why, now, "startedAt"), now, "finishedAt")}
        return {"running": {"startedAt": now}}

    def _observe(self, plane: ControlPlane, uid: str, pod: Obj) -> None:
        """Note what ended, and what follows from it by the pod's own restart policy."""
        running = self.running[uid]
        _watch_logs(running, plane.clock.now())
        codes = {name: code for name, p in running.processes.items() if (code := p.exit_code()) is not None}
        if codes:
            for name in codes:
                del running.processes[name]
            pod = self._ended(plane, pod, codes)
        if running.processes:
            return
        del self.running[uid]
        exits = [number(c, "state", "terminated", "exitCode") or 0 for c in _statuses(pod)]
        if not any(exits):
            if _is_managed(pod) or text(pod, "spec", "restartPolicy") != "Always":
                self._set_phase(plane, pod, "Succeeded")
        elif not _is_managed(pod) and text(pod, "spec", "restartPolicy") == "Never":
            self._set_phase(plane, pod, "Failed")

    def _resume(self, plane: ControlPlane, pod: Obj) -> None:
        """A pod that is to run and has no process: it waits out its back-off, or the twin was restarted."""
        if not any("terminated" in mapping(c, "state") for c in _statuses(pod)):
            pod = self._ended(plane, pod, {text(c, "name"): 137 for c in _statuses(pod)})
            if text(pod, "spec", "restartPolicy") == "Never" and not _is_managed(pod):
                self._set_phase(plane, pod, "Failed")
            return
        if _is_managed(pod):
            return
        finished = [text(c, "state", "terminated", "finishedAt") for c in _statuses(pod)]
        restarts = max(number(c, "restartCount") or 0 for c in _statuses(pod))
        wait = min(_FIRST_BACKOFF_SECONDS * 2**restarts, _LONGEST_BACKOFF_SECONDS)
        last = moment_of(max(finished))
        if last is None or (plane.clock.now() - last).total_seconds() >= wait:
            self._start(plane, pod, again=True)

    def _end(self, plane: ControlPlane, uid: str, pod: Obj) -> None:
        """SIGTERM, then SIGKILL after the grace period, then the object goes."""
        running = self.running.get(uid)
        if running is not None:
            if running.term_sent_at is None:
                running.term_sent_at = time.monotonic()
                plane.event(pod, "Killing", "Stopping container", component=COMPONENT)
                for process in running.processes.values():
                    process.send(signal.SIGTERM)
                    process.send(signal.SIGCONT)  # a stopped process could not hear it
            grace = number(pod, "metadata", "deletionGracePeriodSeconds") or 0
            alive = any(process.exit_code() is None for process in running.processes.values())
            if alive and time.monotonic() - running.term_sent_at < min(grace, self._longest_grace):
                return
            self._ended(plane, pod, self._kill(uid))
        if not array(pod, "metadata", "finalizers"):
            plane.resources.remove("pods", name_of(pod))

    def _ended(self, plane: ControlPlane, pod: Obj, codes: Mapping[str, int]) -> Obj:
        now = plane.clock.now()

        def ended(pod: Obj) -> Obj:
            statuses = [_terminated(c, codes[text(c, "name")], timestamp(now)) if text(c, "name") in codes else c
                        for c in _statuses(pod)]  # fmt: skip
            changed = put(pod, statuses, "status", "containerStatuses")
            for kind in ("ContainersReady", "Ready"):
                changed = with_condition(
                    changed, kind, status="False", reason="ContainersNotReady", message="", now=now
                )
            return changed

        return plane.resources.modify("pods", name_of(pod), ended) or pod

    def _set_phase(self, plane: ControlPlane, pod: Obj, phase: str) -> None:
        plane.resources.modify("pods", name_of(pod), lambda pod: put(pod, phase, "status", "phase"))

    def _kill(self, uid: str) -> dict[str, int]:
        running = self.running.pop(uid, None)
        return {name: process.kill() for name, process in running.processes.items()} if running else {}

    def _node_is_ready(self, plane: ControlPlane, node: str) -> bool:
        found = plane.store.get("nodes", ObjectName("", node))
        return found is not None and nodes.is_ready(found)


def failed_container(pod: Obj) -> Obj:
    """The status of the first container that ended with an error, empty without one."""
    return next((c for c in _statuses(pod) if number(c, "state", "terminated", "exitCode")), {})


def _watch_logs(running: Running, now: datetime) -> None:
    """Notes when each log grew, and keeps one that grows without end from filling the disk."""
    for log, before in running.log_sizes.items():
        size = log.stat().st_size if log.exists() else 0
        if size > _LARGEST_LOG_BYTES:
            os.truncate(log, 0)  # the process appends: it goes on from the new end
            log.with_suffix(".times").unlink(missing_ok=True)
            size = 0
        elif size > before:
            note_growth(log, before, now)
        running.log_sizes[log] = size


def _statuses(pod: Obj) -> list[Obj]:
    return objects(pod, "status", "containerStatuses")


def _status_of(pod: Obj, container: str) -> Obj:
    return next((c for c in _statuses(pod) if text(c, "name") == container), {})


def _terminated(status: Obj, code: int, now: str) -> Obj:
    started = text(status, "state", "running", "startedAt") or now
    state = {
        "exitCode": code,
        "reason": "Completed" if code == 0 else "Error",
        "startedAt": started,
        "finishedAt": now,
    }
    return {**status, "ready": False, "started": False, "state": {"terminated": state}}


def _is_managed(pod: Obj) -> bool:
    """A pod of a job: its controller decides about restarts."""
    return bool(owner_of(pod))
