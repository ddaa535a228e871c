"""The HyperPodPyTorchJob controller: makes a job's pods, restarts them together, and says how the job stands.

A rank that fails restarts all ranks in their pods (process level); a pod that is lost with its node restarts the
whole job on whatever nodes fit (job level). The training script resumes from its own checkpoint.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from core.json_value import JsonValue
from twin.jobs.kubelet import Kubelet, failed_container
from twin.jobs.scheduler import GANG_SIZE
from twin.kube.errors import ApiError
from twin.kube.objects import (
    Obj,
    ObjectName,
    condition_of,
    dig,
    is_terminating,
    mapping,
    merged,
    moment_of,
    name_of,
    number,
    objects,
    owner_of,
    put,
    strings,
    text,
    timestamp,
    uid_of,
    with_condition,
)
from twin.kube.planes import ControlPlane
from twin.kube.resources import DeleteOptions

JOBS: Final = "hyperpodpytorchjobs.sagemaker.amazonaws.com"
COMPONENT: Final = "hyperpod-training-operator"
JOB_LABEL: Final = "sagemaker.amazonaws.com/job-name"
REPLICA_LABEL: Final = "sagemaker.amazonaws.com/replica-name"
RANK_LABEL: Final = "sagemaker.amazonaws.com/replica-rank"
_RESTART_PAUSE_SECONDS: Final = 0.3
_PORTS: Final = range(20_000, 32_000)
_ports = itertools.islice(itertools.cycle(_PORTS), os.getpid() * 37 % len(_PORTS), None)
"""Each process begins elsewhere, so that twins side by side do not race for the same port."""


class JobController:
    """`on_running(control plane, job)` is called when all pods of a job run for the first time."""

    def __init__(self, kubelet: Kubelet, on_running: Callable[[str, str], None]) -> None:
        self._kubelet = kubelet
        self._on_running = on_running
        self._not_before: dict[str, float] = {}
        """Job uid -> real time before which it is left alone: a program that fails at once must not spin."""

    def sync(self, plane: ControlPlane) -> None:
        pods: dict[str, list[Obj]] = {}
        for pod in plane.store.objects("pods"):
            pods.setdefault(text(owner_of(pod), "uid"), []).append(pod)
        now = time.monotonic()
        self._not_before = {uid: until for uid, until in self._not_before.items() if until > now}
        for job in plane.store.objects(JOBS):
            self._sync_job(plane, job, pods.get(uid_of(job), []))

    def _sync_job(self, plane: ControlPlane, job: Obj, pods: list[Obj]) -> None:
        restarts = number(job, "status", "restartCount") or 0
        if uid_of(job) in self._not_before:
            return
        running = _Job(plane, job, pods, self._kubelet)
        try:
            running.sync()
        except ApiError as error:  # such as somebody else's pod with the name of one of ours
            plane.event(job, "FailedCreate", error.message, component=COMPONENT, warning=True)
        if running.has_first_run:
            self._on_running(plane.name, name_of(job).name)
        if running.restarts > restarts:
            self._not_before[uid_of(job)] = time.monotonic() + _RESTART_PAUSE_SECONDS


def environment_of(plane: ControlPlane, pod: Obj) -> dict[str, str]:
    """The variables of PyTorch's launcher for a pod of a job; none for any other pod. One process per pod."""
    owner, labels = owner_of(pod), strings(pod, "metadata", "labels")
    job = plane.store.get(JOBS, ObjectName(name_of(pod).namespace, text(owner, "name")))
    if job is None or RANK_LABEL not in labels:
        return {}
    return {
        "RANK": labels[RANK_LABEL],
        "WORLD_SIZE": strings(pod, "metadata", "annotations").get(GANG_SIZE, "1"),
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "NPROC_PER_NODE": text(job, "spec", "nprocPerNode"),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(number(job, "status", "masterPort") or 0),
        "JOB_NAME": name_of(job).name,
        "RESTART_COUNT": str(number(job, "status", "restartCount") or 0),
    }


def begin_again(plane: ControlPlane) -> None:
    """After a restart of the twin: its jobs' processes are gone, so their pods are made anew, and not counted."""
    now, why = plane.clock.now(), "the twin was restarted"

    def not_running(job: Obj) -> Obj:
        return with_condition(job, "Running", status="False", reason="TwinRestarted", message=why, now=now)

    for pod in plane.store.objects("pods"):
        if owner_of(pod) and text(pod, "status", "phase") in ("Pending", "Running"):
            plane.resources.remove("pods", name_of(pod))
    for job in plane.store.objects(JOBS):
        if condition_of(job, "Running").get("status") == "True":
            plane.resources.modify(JOBS, name_of(job), not_running)


class _Job:
    """One job in one round."""

    def __init__(self, plane: ControlPlane, job: Obj, pods: list[Obj], kubelet: Kubelet) -> None:
        self._plane = plane
        self._job = job
        self._pods = pods
        self._kubelet = kubelet
        self._policy = mapping(job, "spec", "runPolicy")
        self.has_first_run = False

    def sync(self) -> None:
        if is_terminating(self._job):
            return
        if self._is("Completed") or self._is("Failed"):
            self._clean_up()
        elif self._policy.get("suspend") is True:
            self._suspend()
        elif any(is_terminating(pod) for pod in self._pods):
            self._lose_the_rest()
        elif not self._pods and self._is("Running"):
            self._lose_pods(self._size())
        elif not self._pods:
            self._create_pods()
        elif self._is_past_deadline():
            self._fail("DeadlineExceeded", "the job was active longer than activeDeadlineSeconds")
        else:
            self._follow_pods()

    @property
    def restarts(self) -> int:
        return number(self._job, "status", "restartCount") or 0

    def _follow_pods(self) -> None:
        size = self._size()
        gang = strings(self._pods[0], "metadata", "annotations").get(GANG_SIZE)
        phases = [text(pod, "status", "phase") for pod in self._pods]
        failed = next((pod for pod in self._pods if failed_container(pod)), None)
        if gang != str(size):
            why = f"from {gang} to {size} pods"
            self._condition("Running", "False", "JobResizing", why)
            self._event("JobResizing", why)
            self._delete_pods()
        elif len(self._pods) < size and self._is("Running"):
            self._lose_pods(size - len(self._pods))
        elif len(self._pods) < size:
            self._delete_pods()  # they are made again, all together
        elif failed is not None:
            self._restart_ranks(failed)
        elif all(phase == "Succeeded" for phase in phases):
            self._complete()
        elif all(phase in ("Running", "Succeeded") for phase in phases) and not self._is("Running"):
            self.has_first_run = not text(self._job, "status", "startTime")
            self._change(self._running)
            self._event("Running", f"all {size} pods are running")

    def _create_pods(self) -> None:
        self._accept()
        if self._is("Suspended"):
            self._condition("Suspended", "False", "JobResumed", "the job is no longer suspended")
        wanted = [(replica, i) for replica in self._replicas() for i in range(number(replica, "replicas") or 0)]
        pods = [_pod(self._job, replica, index, rank, len(wanted)) for rank, (replica, index) in enumerate(wanted)]
        names: list[JsonValue] = [name_of(pod).name for pod in pods]
        status: Obj = {"masterAddr": "127.0.0.1", "masterPort": _free_port(), "jobPods": names}
        self._change(lambda job: merged(job, status, "status") if pods else job)
        for pod in pods:
            self._plane.resources.add("pods", pod)

    def _accept(self) -> None:
        if not self._is("Created"):
            self._condition("Created", "True", "JobCreated", "the job has been accepted")
            self._event("JobCreated", "the job has been accepted")

    def _restart_ranks(self, failed: Obj) -> None:
        """Process level: every rank anew in its pod, unless the retries are used up."""
        container = failed_container(failed)
        code = number(container, "state", "terminated", "exitCode")
        why = f"pod {name_of(failed).name} (rank {_rank(failed)}) ended with exit code {code}"
        if not self._may_restart(default=0):
            self._fail("BackoffLimitExceeded", why)
            return
        if any(text(pod, "status", "phase") == "Succeeded" for pod in self._pods):
            self._count_restart("JLR", failed, why)  # a pod that has succeeded never runs again
            self._delete_pods()
            return
        self._count_restart("PLR", failed, why)
        for pod in self._pods:
            self._kubelet.restart(self._plane, pod)

    def _lose_pods(self, lost: int) -> None:
        """Job level: the rest is ended, and all pods are made again once they are gone."""
        why = f"{lost} pod(s) were lost"
        if not self._may_restart(default=None):
            self._fail("BackoffLimitExceeded", why)
            return
        self._count_restart("JLR", None, why)
        self._delete_pods()

    def _lose_the_rest(self) -> None:
        """Some pods are being deleted, by us or by somebody: a gang is whole or gone."""
        if not all(is_terminating(pod) for pod in self._pods):
            self._lose_pods(sum(is_terminating(pod) for pod in self._pods))

    def _may_restart(self, default: int | None) -> bool:
        """By `jobMaxRetryCount`; without one, `default` restarts (`None` is without bound)."""
        most = number(self._policy, "jobMaxRetryCount")
        most = default if most is None else most
        return most is None or self.restarts < most

    def _count_restart(self, restart_type: str, failed: Obj | None, why: str) -> None:
        count = self.restarts + 1
        faulty: dict[str, JsonValue] = {"restartType": restart_type}
        if failed is not None:
            faulty["faultyPodList"] = [name_of(failed).name]
            faulty["faultyRankList"] = [_rank(failed)]
            faulty["faultyInstanceIdList"] = [text(failed, "spec", "nodeName").removeprefix("hyperpod-")]
        status: Obj = {"restartCount": count, "masterPort": _free_port(), "latestFaultyPodInstanceList": faulty}
        self._change(lambda job: merged(job, status, "status"))
        self._condition("Running", "False", "JobRestarting", why)
        self._event("JobRestarting", f"restart {count} ({restart_type}): {why}", warning=True)

    def _suspend(self) -> None:
        if not self._is("Suspended"):
            first = not self._is("Created")
            self._accept()
            self._condition("Suspended", "True", "JobSuspended", "runPolicy.suspend is set")
            self._condition("Running", "False", "JobSuspended", "runPolicy.suspend is set")
            self._event("JobInitiallySuspended" if first else "JobSuspended", "runPolicy.suspend is set")
        self._delete_pods()

    def _complete(self) -> None:
        self._condition("Running", "False", "JobCompleted", "all pods have ended")
        self._finish("Completed", "JobCompleted", "all pods have succeeded")

    def _fail(self, reason: str, why: str) -> None:
        for pod in self._pods:
            if text(pod, "status", "phase") == "Running" and text(pod, "spec", "nodeName"):
                self._kubelet.fail(self._plane, pod)
        self._condition("Running", "False", reason, why)
        self._finish("Failed", reason, why)

    def _finish(self, state: str, reason: str, why: str) -> None:
        self._condition(state, "True", reason, why)
        self._change(lambda job: put(job, timestamp(self._plane.clock.now()), "status", "completionTime"))
        self._event(reason, why, warning=state == "Failed")

    def _clean_up(self) -> None:
        """By `cleanPodPolicy`, then by `ttlSecondsAfterFinished`; without the latter a job stays."""
        policy = text(self._policy, "cleanPodPolicy") or "All"
        if policy == "All" or (policy == "OnlyComplete" and self._is("Completed")):
            self._delete_pods()
        ttl = number(self._policy, "ttlSecondsAfterFinished") or 0
        ended = moment_of(text(self._job, "status", "completionTime"))
        if ttl > 0 and ended is not None and (self._plane.clock.now() - ended).total_seconds() >= ttl:
            self._plane.resources.delete(self._plane.kinds.named(JOBS), name_of(self._job), DeleteOptions())

    def _delete_pods(self) -> None:
        for pod in self._pods:
            if not is_terminating(pod):
                self._plane.resources.delete(self._plane.kinds.named("pods"), name_of(pod), DeleteOptions())

    def _running(self, job: Obj) -> Obj:
        now = self._plane.clock.now()
        job = with_condition(
            job, "Running", status="True", reason="JobRunning", message="all pods are running", now=now
        )
        return job if text(job, "status", "startTime") else put(job, timestamp(now), "status", "startTime")

    def _is_past_deadline(self) -> bool:
        limit, begun = number(self._policy, "activeDeadlineSeconds"), moment_of(text(self._job, "status", "startTime"))
        return bool(limit and begun and (self._plane.clock.now() - begun).total_seconds() > limit)

    def _replicas(self) -> list[Obj]:
        return [replica for replica in objects(self._job, "spec", "replicaSpecs") if dig(replica, "template")]

    def _size(self) -> int:
        return sum(number(replica, "replicas") or 0 for replica in self._replicas())

    def _is(self, state: str) -> bool:
        return condition_of(self._job, state).get("status") == "True"

    def _condition(self, kind: str, status: str, reason: str, message: str) -> None:
        now = self._plane.clock.now()
        self._change(lambda job: with_condition(job, kind, status=status, reason=reason, message=message, now=now))

    def _change(self, change: Callable[[Obj], Obj]) -> None:
        after = self._plane.resources.modify(JOBS, name_of(self._job), change)
        self._job = self._job if after is None else after

    def _event(self, reason: str, why: str, *, warning: bool = False) -> None:
        self._plane.event(self._job, reason, why, component=COMPONENT, warning=warning)


def _pod(job: Obj, replica: Obj, index: int, rank: int, size: int) -> Obj:
    template, where = mapping(replica, "template"), name_of(job)
    labels: Mapping[str, JsonValue] = {
        **mapping(job, "metadata", "labels"),
        **mapping(template, "metadata", "labels"),
        JOB_LABEL: where.name,
        REPLICA_LABEL: text(replica, "name"),
        RANK_LABEL: str(rank),
    }
    return {
        "metadata": {
            "name": f"{where.name}-{text(replica, 'name')}-{index}",
            "namespace": where.namespace,
            "labels": labels,
            "annotations": {**mapping(template, "metadata", "annotations"), GANG_SIZE: str(size)},
            "ownerReferences": [
                {
                    "apiVersion": job.get("apiVersion"),
                    "kind": job.get("kind"),
                    "name": where.name,
                    "uid": uid_of(job),
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": mapping(template, "spec"),
    }


def _rank(pod: Obj) -> int:
    written = strings(pod, "metadata", "labels").get(RANK_LABEL, "")
    return int(written) if written.isdigit() else 0


def _free_port() -> int:
    """A port that was free a moment ago, below those that the kernel gives to outgoing connections.

    Those could take it before rank 0 listens, and a rank that tries to join could even connect to itself.
    """
    for port in _ports:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("the ports never end")
