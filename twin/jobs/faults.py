"""Faults on the Kubernetes side, for the control endpoint: what happens to the processes of pods.

Each method acts at once and leaves recovery to whoever it belongs to: the job controller, HyperPod's agent, a
human. Names of clusters are EKS names; LookupError for a node, job or pod that is not there.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from typing import Final

from twin.jobs.controller import JOBS, RANK_LABEL
from twin.jobs.kubelet import Running
from twin.jobs.runtime import JobRuntime
from twin.kube.logs import log_file
from twin.kube.objects import Obj, ObjectName, name_of, number, objects, owner_of, strings, text, uid_of
from twin.kube.planes import ControlPlane, ControlPlanes

_CUDA_ERRORS: Final = {
    13: "an illegal instruction was encountered",
    31: "an illegal memory access was encountered",
    48: "uncorrectable ECC error encountered",
    63: "uncorrectable ECC error encountered",
    64: "uncorrectable ECC error encountered",
    74: "uncorrectable NVLink error detected during the execution",
    79: "the device is not available: it has fallen off the bus",
    94: "uncorrectable ECC error encountered",
    95: "uncorrectable ECC error encountered",
}
"""What a CUDA program prints after this Xid (CUDA runtime error strings)."""
_SLOW_SLICE_SECONDS: Final = 0.05


class PodFaults:
    def __init__(self, planes: ControlPlanes, jobs: JobRuntime) -> None:
        self._planes = planes
        self._jobs = jobs
        self._slow: dict[tuple[str, str], threading.Event] = {}

    def kill_pod(self, eks_name: str, namespace: str, pod: str) -> None:
        """SIGKILL, as the kernel's out-of-memory killer does: exit code 137."""
        self._signal(self._running(eks_name, pod=ObjectName(namespace, pod)), signal.SIGKILL)

    def xid(self, eks_name: str, node: str, code: int) -> None:
        """A rank on that node fails with the CUDA error that goes with the Xid; exit code 134."""
        error = _CUDA_ERRORS.get(code, "unknown error")
        self._abort(eks_name, node, f"RuntimeError: CUDA error: {error}")

    def network_error(self, eks_name: str, node: str) -> None:
        """EFA is gone: NCCL gives up."""
        self._abort(eks_name, node, "NCCL WARN NET/OFI Request completed with error: No route to host\n"
                    "RuntimeError: NCCL error: remote process exited or there was a network error")  # fmt: skip

    def job_hang(self, eks_name: str, namespace: str, job: str, rank: int = 0) -> None:
        """One rank stops without ending; the others wait for it in their next collective."""
        self._signal(self._ranks(eks_name, namespace, job, rank), signal.SIGSTOP)

    def loss_nan(self, eks_name: str, namespace: str, job: str, rank: int = 0) -> None:
        """SIGUSR1: the sample job spoils its next gradient; a script that does not catch it ends (code 138)."""
        self._signal(self._ranks(eks_name, namespace, job, rank), signal.SIGUSR1)

    def silence(self, eks_name: str, node: str) -> None:
        """The network to the machine is cut: its ranks answer nobody."""
        self._signal(self._jobs.running_pods(self._plane(eks_name), node=node), signal.SIGSTOP)

    def slow_node(self, eks_name: str, node: str, factor: float) -> None:
        """Whatever runs there, now or later, takes `factor` times as long; 1 ends it."""
        self._plane(eks_name)
        self._stop_slowing((eks_name, node))
        if factor > 1:
            ended = self._slow[eks_name, node] = threading.Event()
            arguments = (eks_name, node, factor, ended)
            threading.Thread(target=self._slow_down, args=arguments, name="twin-slow-node", daemon=True).start()

    def clear(self) -> None:
        """No node is slow any more."""
        for key in list(self._slow):
            self._stop_slowing(key)

    def _slow_down(self, eks_name: str, node: str, factor: float, ended: threading.Event) -> None:
        """Stop and continue in turn, so that a process runs 1/factor of the time."""
        while not ended.wait(_SLOW_SLICE_SECONDS):
            plane = self._planes.find(eks_name)
            stopped = self._jobs.running_pods(plane, node=node) if plane else []
            self._signal(stopped, signal.SIGSTOP)
            ended.wait(_SLOW_SLICE_SECONDS * (factor - 1))
            self._signal(stopped, signal.SIGCONT)

    def _stop_slowing(self, key: tuple[str, str]) -> None:
        if ended := self._slow.pop(key, None):
            ended.set()

    def _abort(self, eks_name: str, node: str, words: str) -> None:
        for running in self._jobs.running_pods(self._plane(eks_name), node=node):
            self._say(running, words)
            self._signal([running], signal.SIGABRT)

    def _ranks(self, eks_name: str, namespace: str, job: str, rank: int) -> list[Running]:
        plane = self._plane(eks_name)
        owner = plane.store.get(JOBS, ObjectName(namespace, job))
        if owner is None:
            raise LookupError(f"no job {job} in {namespace} of {eks_name}")
        for pod in plane.store.objects("pods", namespace):
            is_rank = strings(pod, "metadata", "labels").get(RANK_LABEL) == str(rank)
            if is_rank and text(owner_of(pod), "uid") == uid_of(owner):
                return self._running(eks_name, pod=name_of(pod))
        raise LookupError(f"job {job} has no rank {rank}")

    def _running(self, eks_name: str, pod: ObjectName) -> list[Running]:
        found = [running for running in self._jobs.running_pods(self._plane(eks_name)) if running.name == pod]
        if not found:
            raise LookupError(f"no pod {pod.name} runs in {pod.namespace} of {eks_name}")
        return found

    def _say(self, running: Running, line: str) -> None:
        """What the dying process would have printed, in its log."""
        pod: Obj = running.plane.store.get("pods", running.name) or {}
        for status in objects(pod, "status", "containerStatuses"):
            attempt = number(status, "restartCount") or 0
            with log_file(self._planes.config.pods, pod, text(status, "name"), attempt).open("a") as file:
                file.write(line + "\n")

    def _signal(self, pods: Sequence[Running], number: signal.Signals) -> None:
        for running in pods:
            for process in list(running.processes.values()):
                process.send(number)

    def _plane(self, eks_name: str) -> ControlPlane:
        plane = self._planes.find(eks_name)
        if plane is None:
            raise LookupError(f"no control plane for the EKS cluster {eks_name!r}")
        return plane
