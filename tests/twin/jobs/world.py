"""A control plane with nodes and jobs whose pods are real processes; rounds are driven by the test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.json_value import JsonObject, JsonValue
from tests.polling import eventually
from tests.twin.kube.serving import EKS_NAME, START, add_node, make_planes
from twin.clock import TwinClock
from twin.jobs.admission import FirstComeFirstServed
from twin.jobs.controller import JOBS, RANK_LABEL
from twin.jobs.processes import PodHost
from twin.jobs.runtime import JobRuntime, RuntimeConfig
from twin.kube.logs import log_file
from twin.kube.objects import Obj, ObjectName, condition_of, name_of, number, objects, put, strings, text
from twin.kube.planes import ControlPlane, ControlPlanes
from twin.kube.resources import DeleteOptions, WriteOptions

ROOT = Path(__file__).parents[3]
BY_TEST = WriteOptions(manager="test")
SHELL = ("sh", "-c")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    planes: ControlPlanes
    runtime: JobRuntime
    clock: TwinClock

    @property
    def plane(self) -> ControlPlane:
        plane = self.planes.find(EKS_NAME)
        assert plane is not None
        return plane

    def add_nodes(self, count: int, instance_type: str = "ml.g5.12xlarge") -> list[str]:
        begin = len(self.plane.store.objects("nodes"))
        return [add_node(self.planes, begin + i, instance_type) for i in range(count)]

    def create(self, resource: str, body: JsonObject, namespace: str = "default") -> Obj:
        return self.plane.resources.create(self.plane.kinds.named(resource), namespace, body, BY_TEST).object

    def change(self, resource: str, name: str, value: JsonValue, *path: str) -> None:
        """As a client's update."""
        kind, where = self.plane.kinds.named(resource), ObjectName("default", name)
        changed = put(self.plane.resources.get(kind, where), value, *path)
        self.plane.resources.replace(kind, where, changed, BY_TEST)

    def delete(self, resource: str, name: str, grace_seconds: int | None = None) -> None:
        options = DeleteOptions(grace_seconds=grace_seconds)
        self.plane.resources.delete(self.plane.kinds.named(resource), ObjectName("default", name), options)

    def job(self, name: str = "train") -> Obj:
        return self.plane.store.get(JOBS, ObjectName("default", name)) or {}

    def pods(self) -> list[Obj]:
        return self.plane.store.objects("pods", "default")

    def pod(self, name: str) -> Obj:
        return self.plane.store.get("pods", ObjectName("default", name)) or {}

    def log(self, pod: str, attempt: int | None = None) -> str:
        """Of the latest run unless `attempt` names one."""
        found = self.pod(pod)
        latest = max((number(c, "restartCount") or 0 for c in objects(found, "status", "containerStatuses")), default=0)
        path = log_file(self.planes.config.pods, found, "main", latest if attempt is None else attempt)
        return path.read_text() if path.exists() else ""

    def until(self, probe: Callable[[], object], what: str = "", within_seconds: float = 20.0) -> None:
        """Rounds until `probe` holds."""

        def tried() -> object:
            self.runtime.tick()
            return probe()

        eventually(tried, within_seconds=within_seconds, what=what)

    def until_job(self, state: str, name: str = "train") -> None:
        self.until(lambda: self.is_job(state, name), f"job {name} is {state}")

    def is_job(self, state: str, name: str = "train") -> bool:
        return condition_of(self.job(name), state).get("status") == "True"

    def events(self) -> list[str]:
        return [text(event, "reason") for event in self.plane.store.objects("events", "default")]

    def process_ids(self) -> list[int]:
        return [p.pid for r in self.runtime.kubelet.running.values() for p in r.processes.values()]


@contextmanager
def world(folder: Path, *, most_pods: int = 8, factor: float = 1.0) -> Iterator[World]:
    clock = TwinClock(START, factor)
    planes = make_planes(folder, clock)
    runtime = make_runtime(planes, most_pods)
    try:
        yield World(planes=planes, runtime=runtime, clock=clock)
    finally:
        runtime.close()
        planes.close()


def make_runtime(planes: ControlPlanes, most_pods: int = 8) -> JobRuntime:
    host = PodHost(python=Path(sys.executable), python_path=str(ROOT))
    config = RuntimeConfig(host=host, most_pods=most_pods, longest_grace_seconds=1.0)
    return JobRuntime(planes, FirstComeFirstServed(), config)


def pod_spec(command: Sequence[str], gpus: int = 0) -> JsonObject:
    container: JsonObject = {
        "name": "main",
        "image": "example.com/train:1",
        "command": list(command),
        "resources": {"limits": {"nvidia.com/gpu": gpus} if gpus else {}},
    }
    return {"containers": [container]}


def job_body(
    *command: str, replicas: int = 2, name: str = "train", policy: JsonObject | None = None, gpus: int = 0
) -> JsonObject:
    template = {"spec": pod_spec(command or sample_job(), gpus)}
    return {
        "metadata": {"name": name},
        "spec": {
            "replicaSpecs": [{"name": "pod", "replicas": replicas, "template": template}],
            "runPolicy": {"cleanPodPolicy": "None", **(policy or {})},
        },
    }


def sample_job(steps: int = 8, step_seconds: float = 0.02, every: int = 2) -> tuple[str, ...]:
    numbers = ("--steps", str(steps), "--step-seconds", str(step_seconds), "--checkpoint-every", str(every))
    return ("python", "-m", "twin.sample_job.train", *numbers)


def rank_of(pod: Obj) -> str:
    return strings(pod, "metadata", "labels")[RANK_LABEL]


def nodes_of(pods: Sequence[Obj]) -> dict[str, str]:
    return {name_of(pod).name: text(pod, "spec", "nodeName") for pod in pods}


def exit_codes(pod: Obj) -> list[int | None]:
    return [number(c, "state", "terminated", "exitCode") for c in objects(pod, "status", "containerStatuses")]
