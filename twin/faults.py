"""Faults from outside: what goes wrong, and the moment at which it does.

Moments: absent or empty = now; `before_first_effect` = when the first mutating call arrives; `effect:CALL` = after
CALL took effect and before its answer leaves; `job_running:NAME` = when the Kubernetes half says so;
`seconds:N` of twin time from when the fault was armed. Each fires once.
"""

from __future__ import annotations

import copy
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.ids import InstanceTypeName, ZoneId
from twin.ports import NodeFault, Workloads
from twin.world.recovery import Recovery
from twin.world.simulation import Simulation
from twin.world.state import Cluster, Fault, Node, World

Kind = Literal[
    "capacity_loss", "capacity_gain", "quota",
    "lost_response", "throttle", "stale_reads", "slow_reads", "hostile",
    "lifecycle_script_fails", "fsx_fails",
    "node_unreachable", "xid", "gpu_lost", "efa_down", "slow_node",
    "job_hang", "loss_nan",
]  # fmt: skip
MOMENTS = ("effect:", "seconds:", "job_running:")
_NEEDS: dict[str, tuple[str, ...]] = {
    "capacity_loss": ("zone", "type", "to"),
    "capacity_gain": ("zone", "type", "to"),
    "quota": ("type", "to"),
    "throttle": ("seconds",),
    "stale_reads": ("seconds",),
    "slow_reads": ("seconds",),
    "hostile": ("seconds",),
    "node_unreachable": ("cluster",),
    "xid": ("cluster", "code"),
    "gpu_lost": ("cluster",),
    "efa_down": ("cluster",),
    "slow_node": ("cluster", "factor"),
    "job_hang": ("job",),
    "loss_nan": ("job",),
}
WINDOWS = frozenset({"throttle", "stale_reads", "slow_reads", "hostile"})


class FaultSpec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    at: str = ""
    zone: str | None = None
    type: str | None = None
    to: Annotated[int | None, Field(ge=0)] = None
    cluster: str | None = None
    node: Annotated[int | None, Field(ge=0)] = None
    """Index in the cluster."""
    job_node: Annotated[int | None, Field(ge=0)] = None
    """Index among the job's nodes."""
    job: str | None = None
    code: int | None = None
    factor: Annotated[float | None, Field(gt=0)] = None
    seconds: Annotated[float | None, Field(gt=0)] = None
    """Twin time."""

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        missing = [name for name in _NEEDS.get(self.kind, ()) if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{self.kind} needs {', '.join(missing)}")
        if self.kind == "lost_response" and not self.at.startswith("effect:"):
            raise ValueError("lost_response needs a moment effect:CALL")
        if self.at and self.at != "before_first_effect" and not self.at.startswith(MOMENTS):
            raise ValueError(f"the twin does not know the moment {self.at!r}")
        if "cluster" in _NEEDS.get(self.kind, ()) and self.node is None and self.job_node is None:
            raise ValueError(f"{self.kind} needs node or job_node")
        if self.job_node is not None and self.job is None and not self.at.startswith("job_running:"):
            raise ValueError("job_node needs job, or a moment job_running:NAME")
        return self


class Faults:
    """`Moments` for the request log. Every method is called under the twin's lock."""

    def __init__(self, sim: Simulation, recovery: Recovery) -> None:
        self._sim, self._recovery = sim, recovery
        self._past: World | None = None

    def arm(self, specs: list[FaultSpec]) -> None:
        """Those without a moment fire at once."""
        world = self._sim.world
        for spec in specs:
            fault = Fault(number=len(world.faults) + 1, spec=spec.model_dump(exclude_none=True))
            world.faults.append(fault)
            if not spec.at:
                self._fire(fault)
            elif spec.at.startswith("seconds:"):
                self._sim.after(float(spec.at.removeprefix("seconds:")), "fault.due", number=str(fault.number))

    def mutation_arrived(self, call: str) -> None:
        del call
        self._sim.world.mutations_seen += 1
        if self._sim.world.mutations_seen == 1:
            self._reach("before_first_effect")

    def effect_done(self, call: str) -> bool:
        return any(fault.spec["kind"] == "lost_response" for fault in self._reach(f"effect:{call}"))

    def job_running(self, name: str) -> None:
        self._reach(f"job_running:{name}")

    def is_on(self, kind: str) -> bool:
        until = self._sim.world.windows.get(kind)
        return until is not None and self._sim.now < until

    def seen(self) -> World:
        """The world as reads see it."""
        if not self.is_on("stale_reads"):
            self._past = None
        return self._past or self._sim.world

    def due(self, number: str) -> None:
        """The timer of a `seconds:N` fault."""
        self._fire(self._sim.world.faults[int(number) - 1])

    def _reach(self, moment: str) -> list[Fault]:
        reached = [f for f in self._sim.world.faults if f.fired_at is None and f.spec.get("at") == moment]
        # One answer can be lost once: a second fault of the same moment waits for the next such call.
        lost = [fault for fault in reached if fault.spec["kind"] == "lost_response"][1:]
        reached = [fault for fault in reached if fault not in lost]
        for fault in reached:
            self._fire(fault)
        return reached

    def _fire(self, fault: Fault) -> None:
        fault.fired_at = self._sim.now
        try:
            self._carry_out(FaultSpec.model_validate(fault.spec))
        except LookupError as error:
            fault.problem = str(error)

    def _carry_out(self, spec: FaultSpec) -> None:
        world = self._sim.world
        match spec.kind:
            case "capacity_loss" | "capacity_gain":
                world.zones[ZoneId(spec.zone or "")].free[InstanceTypeName(spec.type or "")] = spec.to or 0
            case "quota":
                world.quotas[InstanceTypeName(spec.type or "")] = spec.to or 0
            case "throttle" | "stale_reads" | "slow_reads" | "hostile":
                if spec.kind == "stale_reads":
                    self._past = copy.deepcopy(world)
                world.windows[spec.kind] = self._sim.now + timedelta(seconds=spec.seconds or 0)
            case "lifecycle_script_fails":
                world.failing_scripts += 1
            case "fsx_fails":
                world.failing_file_systems += 1
            case "lost_response":
                pass
            case "job_hang" | "loss_nan":
                self._jobs().job_fault(self._eks_name(spec), spec.job or "", spec.kind)
            case _:
                self._break_node(spec)

    def _break_node(self, spec: FaultSpec) -> None:
        cluster, node = self._node(spec)
        sim = self._sim
        match spec.kind:
            case "xid":
                self._recovery.xid(sim, cluster, node, spec.code or 0)
            case "gpu_lost":
                self._recovery.gpu_lost(sim, cluster, node)
            case "efa_down":
                self._recovery.efa_down(sim, cluster, node)
            case "node_unreachable":
                self._recovery.unreachable(sim, cluster, node)
            case _:
                pass
        if self._sim.workloads is not None and cluster.eks_name is not None:
            felt = NodeFault(kind=spec.kind, code=spec.code, factor=spec.factor)
            self._sim.workloads.node_fault(cluster.eks_name, node.kubernetes_name, felt)

    def _node(self, spec: FaultSpec) -> tuple[Cluster, Node]:
        cluster = self._sim.world.clusters.get(spec.cluster or "")
        if cluster is None:
            raise LookupError(f"no cluster {spec.cluster!r}")
        if spec.node is not None:
            nodes = list(cluster.nodes.values())
            if spec.node >= len(nodes):
                raise LookupError(f"cluster {cluster.name} has {len(nodes)} nodes")
            return cluster, nodes[spec.node]
        job = spec.job or spec.at.removeprefix("job_running:")
        names = self._jobs().nodes_of_job(cluster.eks_name or "", job)
        if spec.job_node is None or spec.job_node >= len(names):
            raise LookupError(f"job {job} has {len(names)} nodes")
        for node in cluster.nodes.values():
            if node.kubernetes_name == names[spec.job_node]:
                return cluster, node
        raise LookupError(f"node {names[spec.job_node]} is not of cluster {cluster.name}")

    def _eks_name(self, spec: FaultSpec) -> str:
        """Of the cluster that is named, or of the one that has the job."""
        for cluster in self._sim.world.clusters.values():
            if cluster.eks_name is not None and spec.cluster in {None, cluster.name}:
                with suppress(LookupError):
                    self._jobs().nodes_of_job(cluster.eks_name, spec.job or "")
                    return cluster.eks_name
        raise LookupError(f"no cluster has a job {spec.job}")

    def _jobs(self) -> Workloads:
        if self._sim.workloads is None:
            raise LookupError("the Kubernetes half runs no jobs")
        return self._sim.workloads
