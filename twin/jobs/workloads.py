"""Jobs as the AWS half sees them: `twin.ports.Workloads` over control planes, runtime and faults."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from core.json_value import JsonObject, JsonValue
from twin.jobs.controller import JOBS, RANK_LABEL
from twin.jobs.faults import PodFaults
from twin.jobs.governance import govern
from twin.jobs.live import live_jobs
from twin.jobs.seeding import MOUNTS, seed_jobs, seed_team
from twin.kube.errors import ApiError
from twin.kube.objects import Obj, name_of, objects, owner_of, strings, text, uid_of
from twin.kube.planes import ControlPlane, ControlPlanes
from twin.ports import NodeFault, SeedJob

_DEFAULT_FACTOR: Final = 3.0


class JobWorkloads:
    """Every method takes an EKS cluster by name: one that is gone has no jobs, and no fault finds a target there."""

    def __init__(self, planes: ControlPlanes, faults: PodFaults) -> None:
        self._planes = planes
        self._faults = faults

    def seed(self, eks_name: str, teams: tuple[str, ...], jobs: tuple[SeedJob, ...], mounts: tuple[str, ...]) -> None:
        plane = self._plane(eks_name)
        for team in teams:
            seed_team(plane, team)
        with suppress(ApiError):  # a world is seeded once
            data: Mapping[str, JsonValue] = {str(number): path for number, path in enumerate(mounts)}
            plane.resources.add(
                "configmaps", {"metadata": {"name": MOUNTS.name, "namespace": MOUNTS.namespace}, "data": data}
            )
        seed_jobs(plane, self._planes.config.pods, jobs)

    def nodes_of_job(self, eks_name: str, job: str) -> tuple[str, ...]:
        plane = self._plane(eks_name)
        owner = _job(plane, job)
        pods = [
            pod
            for pod in plane.store.objects("pods", name_of(owner).namespace)
            if text(owner_of(pod), "uid") == uid_of(owner) and text(pod, "spec", "nodeName")
        ]
        return tuple(text(pod, "spec", "nodeName") for pod in sorted(pods, key=_rank))

    def node_fault(self, eks_name: str, node_name: str, fault: NodeFault) -> None:
        match fault.kind:
            case "xid":
                self._faults.xid(eks_name, node_name, fault.code or 0)
            case "gpu_lost":
                self._faults.xid(eks_name, node_name, 79)
            case "efa_down":
                self._faults.network_error(eks_name, node_name)
            case "slow_node":
                self._faults.slow_node(eks_name, node_name, fault.factor or _DEFAULT_FACTOR)
            case "node_unreachable":
                self._faults.silence(eks_name, node_name)
            case other:
                raise LookupError(f"pods feel no fault of kind {other!r}")

    def job_fault(self, eks_name: str, job: str, kind: str) -> None:
        where = name_of(_job(self._plane(eks_name), job))
        match kind:
            case "job_hang":
                self._faults.job_hang(eks_name, where.namespace, job)
            case "loss_nan":
                self._faults.loss_nan(eks_name, where.namespace, job)
            case other:
                raise LookupError(f"jobs have no fault of kind {other!r}")

    def live_jobs(self, eks_name: str) -> dict[str, dict[str, object]]:
        plane = self._planes.find(eks_name)
        found = live_jobs(plane, self._planes.config.pods) if plane else {}
        return {name: dict(state) for name, state in found.items()}

    def readable_mounts(self, eks_name: str) -> tuple[str, ...]:
        """What the world began with, and where pods that have run had a claim mounted."""
        plane = self._planes.find(eks_name)
        if plane is None:
            return ()
        begun = strings(plane.store.get("configmaps", MOUNTS) or {}, "data").values()
        return tuple(sorted({*begun, *(path for pod in plane.store.objects("pods") for path in _claimed(pod))}))

    def govern(self, eks_name: str, quotas: tuple[JsonObject, ...], scheduler: JsonObject | None) -> None:
        govern(self._plane(eks_name), quotas, scheduler)

    def _plane(self, eks_name: str) -> ControlPlane:
        plane = self._planes.find(eks_name)
        if plane is None:
            raise LookupError(f"no control plane for the EKS cluster {eks_name!r}")
        return plane


def _job(plane: ControlPlane, name: str) -> Obj:
    for job in plane.store.objects(JOBS):
        if name_of(job).name == name:
            return job
    raise LookupError(f"no job {name!r} in {plane.name}")


def _rank(pod: Obj) -> int:
    written = strings(pod, "metadata", "labels").get(RANK_LABEL, "")
    return int(written) if written.isdigit() else 0


def _claimed(pod: Obj) -> list[str]:
    if text(pod, "status", "phase") not in ("Running", "Succeeded"):
        return []
    claims = {text(v, "name") for v in objects(pod, "spec", "volumes") if text(v, "persistentVolumeClaim", "claimName")}
    containers = objects(pod, "spec", "containers")
    mounts = [mount for container in containers for mount in objects(container, "volumeMounts")]
    return [text(mount, "mountPath") for mount in mounts if text(mount, "name") in claims]
