"""How the two halves are joined: the Kubernetes API and its planes behind the twin's one port."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Protocol, TypeAlias

from twin.clock import TwinClock
from twin.jobs.admission import FirstComeFirstServed
from twin.jobs.faults import PodFaults
from twin.jobs.processes import PodHost
from twin.jobs.runtime import JobRuntime, RuntimeConfig
from twin.jobs.workloads import JobWorkloads
from twin.kube.app import Authorise, make_app
from twin.kube.kubeconfig import write_kubeconfig
from twin.kube.planes import ControlPlanes, KubeConfig
from twin.ports import NodeAgent, Orchestration, Workloads
from twin.request_log import RequestLog

# ASGI's own types: what a scope and a message hold is open by design.
Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesSite:
    """What a Kubernetes half is made from."""

    folder: Path
    clock: TwinClock
    seed: int
    user_of: Authorise
    """Bearer token -> user, `None` for a stranger."""
    log: RequestLog
    agent: NodeAgent
    endpoint: str
    """The twin's own address."""
    token: str


class KubernetesHalf(Protocol):
    @property
    def app(self) -> AsgiApp:
        """Serves `/k8s/<EKS cluster>/...`, paths unchanged."""

    @property
    def orchestration(self) -> Orchestration: ...

    @property
    def workloads(self) -> Workloads | None:
        """`None`: no jobs run here."""

    def reset(self) -> None:
        """As if the twin had just been made."""

    def close(self) -> None: ...


MakeKubernetes: TypeAlias = Callable[[KubernetesSite], KubernetesHalf]


class ServedKubernetes:
    """The real one."""

    def __init__(self, site: KubernetesSite) -> None:
        self._planes = ControlPlanes(KubeConfig(folder=site.folder), site.clock, Random(site.seed), site.agent)
        host = PodHost(python=Path(sys.executable), python_path=str(Path(__file__).parents[1]))
        self._jobs = JobRuntime(self._planes, FirstComeFirstServed(), RuntimeConfig(host=host))
        self._faults = PodFaults(self._planes, self._jobs)
        self._jobs.start()
        self._site = site
        self._planes.on_changed.append(self._write_kubeconfig)
        self._write_kubeconfig()
        self.app: AsgiApp = make_app(self._planes, site.user_of, site.log)

    @property
    def orchestration(self) -> Orchestration:
        return self._planes

    @property
    def workloads(self) -> Workloads | None:
        return JobWorkloads(self._planes, self._faults)

    def reset(self) -> None:
        self._faults.clear()
        self._planes.reset()

    def close(self) -> None:
        self._jobs.close()
        self._planes.close()

    def _write_kubeconfig(self) -> None:
        """For people: `kubectl --kubeconfig <folder>/kubeconfig get nodes`."""
        names = sorted(plane.name for plane in self._planes.all())
        path, site = self._site.folder / "kubeconfig", self._site
        write_kubeconfig(path, endpoint=site.endpoint, token=site.token, eks_names=names)
