"""Everything that moves by itself on the Kubernetes side, in one loop that is polled."""

from __future__ import annotations

import logging
import signal
import threading
from dataclasses import dataclass

from twin.jobs import housekeeping
from twin.jobs.admission import Admission
from twin.jobs.controller import JobController, begin_again, environment_of
from twin.jobs.kubelet import Kubelet, Running
from twin.jobs.kueue import QuotaController
from twin.jobs.processes import PodHost, end_leftovers
from twin.jobs.scheduler import Scheduler
from twin.jobs.volumes import bind_claims
from twin.kube.objects import name_of, text
from twin.kube.planes import ControlPlane, ControlPlanes

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeConfig:
    host: PodHost
    most_pods: int = 64
    """Processes of pods at once in the whole twin; a gang beyond that waits and says so."""
    longest_grace_seconds: float = 5.0
    """Real seconds between SIGTERM and SIGKILL, whatever a pod asks for."""
    poll_seconds: float = 0.1


class JobRuntime:
    """Scheduler, kubelets, job controller and clean-up of all control planes.

    Made once per twin, before it serves; ends what an earlier twin in the same folder left running.
    """

    def __init__(self, planes: ControlPlanes, admission: Admission, config: RuntimeConfig) -> None:
        self._planes = planes
        self._config = config
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="twin-pods", daemon=True)
        end_leftovers(planes.config.folder)
        self.kubelet = Kubelet(planes.config.folder, config.host, environment_of, config.longest_grace_seconds)
        self._controller = JobController(self.kubelet, self._job_running)
        self._quotas = QuotaController()
        self._scheduler = Scheduler(admission, config.most_pods)
        self._cleaned: dict[str, int] = {}
        for plane in planes.all():
            begin_again(plane)
        planes.on_node_left.append(self._node_left)
        planes.on_node_down.append(self._node_down)
        planes.on_plane_deleted.append(self._plane_deleted)

    def start(self) -> None:
        """Poll in a thread until `close`."""
        self._thread.start()

    def tick(self) -> None:
        """One round over all control planes."""
        with self._lock:
            for plane in self._planes.all():
                try:
                    self._advance(plane)
                except Exception:  # noqa: BLE001 - what is wrong with one object must not stop the others
                    _LOG.exception("a round of control plane %s failed", plane.name)

    def close(self) -> None:
        """The machine is switched off: no pod outlives the twin."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()
        with self._lock:
            self.kubelet.kill_where(lambda running: True)

    def running_pods(self, plane: ControlPlane, node: str = "") -> list[Running]:
        """Pods with living processes, on one node or on all."""
        with self._lock:
            return [
                r for r in self.kubelet.running.values() if r.plane is plane and node in ("", r.node) and r.processes
            ]

    def _run(self) -> None:
        while not self._closing.wait(self._config.poll_seconds):
            self.tick()

    def _advance(self, plane: ControlPlane) -> None:
        self.kubelet.sync(plane)
        self._quotas.sync(plane)
        self._controller.sync(plane)
        bind_claims(plane)
        self._scheduler.schedule(plane, self._live_elsewhere(plane))
        self.kubelet.sync(plane)
        if self._cleaned.get(plane.name) != plane.store.version:
            housekeeping.clean(plane)
            self._cleaned[plane.name] = plane.store.version
            housekeeping.remove_folders(self._planes)

    def _job_running(self, eks_name: str, job: str) -> None:
        if self._planes.agent is not None:
            self._planes.agent.job_running(eks_name, job)

    def _node_left(self, plane: ControlPlane, node_name: str) -> None:
        with self._lock:
            self.kubelet.kill_where(lambda r: r.plane is plane and r.node == node_name)
            for pod in plane.store.objects("pods"):
                if text(pod, "spec", "nodeName") == node_name:
                    plane.resources.remove("pods", name_of(pod))

    def _node_down(self, plane: ControlPlane, node_name: str) -> None:
        """A machine that reboots keeps its pods, whose containers have ended with it."""
        for running in self.running_pods(plane, node=node_name):
            for process in running.processes.values():
                process.send(signal.SIGKILL)

    def _plane_deleted(self, plane: ControlPlane) -> None:
        with self._lock:
            self.kubelet.kill_where(lambda running: running.plane is plane)
            self._cleaned.pop(plane.name, None)
            housekeeping.remove_volumes(self._planes, plane)

    def _live_elsewhere(self, plane: ControlPlane) -> int:
        return sum(running.plane is not plane for running in self.kubelet.running.values())
