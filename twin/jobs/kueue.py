"""Kueue in the twin: jobs of a queue are suspended until `core.scheduling` admits them, and again when it preempts.

It is there once a cluster has a ClusterQueue; without one, queue labels mean nothing, as without Kueue.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from core.json_value import JsonObject, JsonValue
from core.scheduling import (
    AdmittedWorkload,
    ClusterQueue,
    Decision,
    Eviction,
    Outcome,
    PendingWorkload,
    Scheduler,
    WorldInvalid,
)
from twin.jobs.controller import JOBS
from twin.jobs.kueue_world import GROUP, admission_of, admitted_workload, pending_workload, world_of
from twin.kube.objects import (
    Obj,
    ObjectName,
    condition_of,
    dig,
    drop,
    mapping,
    name_of,
    number,
    objects,
    owner_of,
    put,
    strings,
    text,
    uid_of,
    version_of,
    with_condition,
)
from twin.kube.planes import ControlPlane

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL: Final = "kueue.x-k8s.io/priority-class"
WORKLOADS: Final = f"workloads.{GROUP}"
COMPONENT: Final = "kueue-admission"
_RULES: Final = ("clusterqueues", "localqueues", "cohorts", "resourceflavors")
_MOST_CYCLES: Final = 1_000


def is_waiting(plane: ControlPlane, job: Obj) -> bool:
    """Whether the job is suspended because its queue has not admitted it (yet, or any more)."""
    workload = plane.store.get(WORKLOADS, _workload_name(job))
    return workload is not None and workload_is_active(workload) and not _holds(workload, "Admitted")


def workload_is_active(workload: Obj) -> bool:
    """False once somebody has set `spec.active` to false: the way to stop a job of a queue."""
    return dig(workload, "spec", "active") is not False


@dataclass(slots=True)
class _Round:
    """What is known of the jobs of queues in one round."""

    jobs: dict[str, Obj] = field(default_factory=dict)
    """By the uid of their workload."""
    workloads: dict[str, Obj] = field(default_factory=dict)
    pending: list[PendingWorkload] = field(default_factory=list)
    admitted: list[AdmittedWorkload] = field(default_factory=list)


class QuotaController:
    """Decides only when something has changed that a decision depends on."""

    def __init__(self) -> None:
        self._decided: dict[str, Hashable] = {}
        """Control plane -> what was decided on last."""

    def sync(self, plane: ControlPlane) -> None:
        """One round: a Workload per job of a queue, decisions, and what follows from them for the jobs."""
        rules = [obj for kind in _RULES for obj in plane.store.objects(f"{kind}.{GROUP}")]
        jobs = [job for job in plane.store.objects(JOBS) if strings(job, "metadata", "labels").get(QUEUE_LABEL)]
        if not jobs or not plane.store.objects(f"clusterqueues.{GROUP}"):
            return
        try:
            queues = {queue.name: queue for queue in world_of(plane, (), ()).queues}
            found = _Round()
            for job in jobs:
                _look_at(plane, job, queues, found)
            standing = (
                max(version_of(rule) for rule in rules),
                frozenset(workload.uid for workload in found.pending if workload.is_eligible),
                frozenset((workload.uid, workload.is_evicting) for workload in found.admitted),
            )
            if found.pending and self._decided.get(plane.name) != standing:
                self._decided[plane.name] = standing
                _decide(plane, Scheduler(world_of(plane, found.pending, found.admitted)), found)
        except (WorldInvalid, ValueError) as error:  # nonsense in a queue: nobody is admitted until it is put right
            for job in jobs:
                plane.event(job, "AdmissionFailed", str(error), component=COMPONENT, warning=True)


def _look_at(plane: ControlPlane, job: Obj, queues: dict[str, ClusterQueue], found: _Round) -> None:
    workload = plane.store.get(WORKLOADS, _workload_name(job))
    if workload is not None and _sizes(workload, "podSets", "count") != _sizes(job, "replicaSpecs", "replicas"):
        plane.resources.remove(WORKLOADS, name_of(workload))  # the job was resized: it is another workload now
        workload = None
    workload = workload or plane.resources.add(WORKLOADS, _workload(plane, job))
    is_over = _holds(job, "Completed") or _holds(job, "Failed")
    if is_over:
        if not _holds(workload, "Finished"):
            _mark(plane, workload, "Finished", "True", "JobFinished", "the job is over")
        return
    found.jobs[uid_of(workload)], found.workloads[uid_of(workload)] = job, workload
    has_pods = any(
        text(owner_of(pod), "uid") == uid_of(job) for pod in plane.store.objects("pods", name_of(job).namespace)
    )
    is_evicting = _holds(workload, "Evicted") or not workload_is_active(workload)
    if _holds(workload, "QuotaReserved") and is_evicting and not has_pods:
        workload = _let_go(plane, workload)
    if _holds(workload, "QuotaReserved"):
        _suspend(plane, job, suspended=is_evicting)
        found.admitted.append(admitted_workload(workload, is_evicting=is_evicting))
        return
    _suspend(plane, job, suspended=True)
    label = strings(job, "metadata", "labels")[QUEUE_LABEL]
    local = plane.store.get(f"localqueues.{GROUP}", ObjectName(name_of(job).namespace, label))
    queue = queues.get(text(local or {}, "spec", "clusterQueue"))
    if local is None or queue is None:
        what = f"LocalQueue {label}" if local is None else f"ClusterQueue {text(local, 'spec', 'clusterQueue')}"
        _mark(plane, workload, "QuotaReserved", "False", "Inadmissible", f"{what} doesn't exist")
    elif workload_is_active(workload):
        held = plane.store.get(f"clusterqueues.{GROUP}", ObjectName("", queue.name)) or {}
        queued_at = text(job, "metadata", "creationTimestamp")
        is_open = text(held, "spec", "stopPolicy") in ("", "None")
        found.pending.append(pending_workload(workload, queue, queued_at=queued_at, is_eligible=is_open))


def _decide(plane: ControlPlane, scheduler: Scheduler, found: _Round) -> None:
    now = plane.clock.now().timestamp()
    for _ in range(_MOST_CYCLES):
        if scheduler.is_at_rest:
            return
        for decision in scheduler.cycle(now).decisions:
            _carry_out(plane, decision, found)


def _carry_out(plane: ControlPlane, decision: Decision, found: _Round) -> None:
    workload, job = found.workloads[decision.uid], found.jobs[decision.uid]
    if decision.outcome is Outcome.ADMITTED and decision.admitted is not None:
        admission = admission_of(decision.admitted)
        plane.resources.modify(WORKLOADS, name_of(workload), lambda w: put(w, admission, "status", "admission"))
        for kind in ("QuotaReserved", "Admitted"):
            _mark(plane, workload, kind, "True", kind, f"in ClusterQueue {decision.queue}")
        for kind in ("Evicted", "Preempted"):
            if condition_of(workload, kind):
                _mark(plane, workload, kind, "False", kind, f"in ClusterQueue {decision.queue}")
        plane.event(job, "Started", f"Admitted by clusterQueue {decision.queue}", component=COMPONENT)
        _suspend(plane, job, suspended=False)
        return
    for eviction in decision.evictions:
        if not eviction.is_repeated:
            _evict(plane, eviction, found)
    if decision.refusal is not None:
        sentences = [decision.refusal.message(), *decision.refusal.details()]
        why = " ".join(sentence.english() for sentence in sentences)
        _mark(plane, workload, "QuotaReserved", "False", "Pending", why)


def _evict(plane: ControlPlane, eviction: Eviction, found: _Round) -> None:
    victim, job = found.workloads[eviction.uid], found.jobs[eviction.uid]
    why = f"Preempted to accommodate a workload (UID: {eviction.preemptor}) in ClusterQueue {eviction.preemptor_queue}"
    _mark(plane, victim, "Preempted", "True", eviction.reason.value, why)
    _mark(plane, victim, "Evicted", "True", "Preempted", why)
    plane.event(job, "Preempted", why, component=COMPONENT, warning=True)
    _suspend(plane, job, suspended=True)


def _let_go(plane: ControlPlane, workload: Obj) -> Obj:
    """Its pods are gone: the quota is free, and it waits again."""
    plane.resources.modify(WORKLOADS, name_of(workload), lambda w: drop(w, "status", "admission"))
    _mark(plane, workload, "Admitted", "False", "NoReservation", "the workload has no reservation")
    _mark(plane, workload, "Evicted", "False", "Requeued", "the workload waits again")
    return _mark(plane, workload, "QuotaReserved", "False", "Pending", "the workload waits again")


def _suspend(plane: ControlPlane, job: Obj, *, suspended: bool) -> None:
    plane.resources.modify(JOBS, name_of(job), lambda j: put(j, suspended, "spec", "runPolicy", "suspend"))


def _mark(plane: ControlPlane, workload: Obj, kind: str, status: str, reason: str, message: str) -> Obj:
    now = plane.clock.now()
    after = plane.resources.modify(
        WORKLOADS,
        name_of(workload),
        lambda w: with_condition(w, kind, status=status, reason=reason, message=message, now=now),
    )
    return after or workload


def _workload(plane: ControlPlane, job: Obj) -> JsonObject:
    labels = strings(job, "metadata", "labels")
    priority = plane.store.get(f"workloadpriorityclasses.{GROUP}", ObjectName("", labels.get(PRIORITY_LABEL, "")))
    podsets: list[JsonValue] = [
        {"name": text(r, "name"), "count": number(r, "replicas") or 0, "template": mapping(r, "template")}
        for r in objects(job, "spec", "replicaSpecs")
    ]
    where = _workload_name(job)
    owner: JsonObject = {
        "apiVersion": job.get("apiVersion"),
        "kind": job.get("kind"),
        "name": name_of(job).name,
        "uid": uid_of(job),
        "controller": True,
    }
    plane.event(job, "CreatedWorkload", f"Created Workload: {'/'.join(where)}", component=COMPONENT)
    return {
        "metadata": {"name": where.name, "namespace": where.namespace, "ownerReferences": [owner]},
        "spec": {
            "active": True,
            "podSets": podsets,
            "queueName": labels[QUEUE_LABEL],
            "priority": number(priority or {}, "value") or 0,
        },
    }


def _workload_name(job: Obj) -> ObjectName:
    namespace, name = name_of(job)
    return ObjectName(namespace, f"hyperpodpytorchjob-{name}-{uid_of(job)[:5]}")


def _sizes(obj: Obj, parts: str, size: str) -> list[int]:
    return [number(part, size) or 0 for part in objects(obj, "spec", parts)]


def _holds(obj: Obj, kind: str) -> bool:
    return condition_of(obj, kind).get("status") == "True"
