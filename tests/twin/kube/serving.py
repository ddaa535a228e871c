"""A twin's Kubernetes API on a loopback port, in a thread of the test process."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import uvicorn

from core.ids import InstanceId, InstanceTypeName, NodeLogicalId, ZoneId
from tests.polling import eventually
from twin.clock import TwinClock
from twin.kube.app import make_app
from twin.kube.planes import ControlPlanes, KubeConfig
from twin.ports import JoiningNode

TOKEN = "test-token"
EKS_NAME = "demo"
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass
class FakeLog:
    """What reached the request log, as (call, outcome, took effect)."""

    calls: list[tuple[str, str, bool]] = field(default_factory=list)
    lose_next_answer: bool = False

    def mutation_arrived(self, call: str) -> None:
        del call

    def record(self, *, call: str, caller: str, outcome: str, took_effect: bool, request_id: str) -> bool:
        del caller, request_id
        self.calls.append((call, outcome, took_effect))
        lost, self.lose_next_answer = self.lose_next_answer and took_effect, False
        return lost


@dataclass
class FakeAgent:
    """What the AWS half was told."""

    labels: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    running: list[tuple[str, str]] = field(default_factory=list)

    def label_changed(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        self.labels.append((eks_name, node_name, label, value))

    def job_running(self, eks_name: str, job: str) -> None:
        self.running.append((eks_name, job))


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A running API server with one control plane."""

    planes: ControlPlanes
    log: FakeLog
    address: str
    """`http://127.0.0.1:<port>`."""

    @property
    def url(self) -> str:
        return f"{self.address}/k8s/{EKS_NAME}"


def make_planes(folder: Path, clock: TwinClock | None = None) -> ControlPlanes:
    planes = ControlPlanes(KubeConfig(folder=folder), clock or TwinClock(START, 1.0), random.Random(7))
    planes.create_control_plane(EKS_NAME)
    return planes


def authorise(token: str) -> str | None:
    return "tester" if token == TOKEN else None


def joining(number: int, instance_type: str = "ml.g5.12xlarge", **labels: str) -> JoiningNode:
    instance = InstanceId(f"i-{number:017x}")
    return JoiningNode(
        name=f"hyperpod-{instance}",
        cluster_name="training",
        group="workers",
        instance_id=instance,
        logical_id=NodeLogicalId(f"node-{number}"),
        instance_type=InstanceTypeName(instance_type),
        zone=ZoneId("usw2-az2"),
        provider_id=f"aws:///usw2-az2/sagemaker/cluster/hyperpod-abc-{instance}",
        labels=labels,
    )


def add_node(planes: ControlPlanes, number: int, instance_type: str = "ml.g5.12xlarge", **labels: str) -> str:
    """A ready node; its name."""
    node = joining(number, instance_type, **labels)
    planes.node_joined(EKS_NAME, node)
    planes.set_node_ready(EKS_NAME, node.name, True, "KubeletReady")
    return node.name


@contextmanager
def served(planes: ControlPlanes) -> Iterator[Served]:
    log = FakeLog()
    config = uvicorn.Config(
        make_app(planes, authorise, log),
        host="127.0.0.1",
        port=0,
        log_level="error",
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        eventually(lambda: server.started, what="the API server starts")
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Served(planes=planes, log=log, address=f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        thread.join(10)
