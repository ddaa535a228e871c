"""Stopping, resuming and resizing a job, through whatever governs it: its own `suspend`, or its queue's workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.json_value import JsonObject, JsonValue
from core.messages.message import message
from core.risk import Risk
from tools.arguments import ToolArgs
from tools.clients.base import Clients, KubernetesClient
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool
from tools.errors import TargetNotFound
from tools.jobs import JOBS, REPLICA, JobName
from tools.reading import at, child, children, number, text

_WORKLOADS: Final = ("kueue.x-k8s.io/v1beta2/workloads", "kueue.x-k8s.io/v1beta1/workloads")


class SwitchArgs(ToolArgs):
    """`workload` is the Kueue workload that governs the job; empty = the job's own `suspend` does."""

    eks_name: str
    namespace: str
    name: str
    uid: str
    """Another job of the same name is another job."""
    runs: bool
    workload: str = ""
    workload_kind: str = ""


class SizeArgs(ToolArgs):
    eks_name: str
    namespace: str
    name: str
    uid: str
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Governor:
    """What decides whether a job may run. `is_active` false: somebody has stopped it."""

    uid: str
    workload: str
    workload_kind: str
    is_active: bool
    node_selector: Mapping[str, str]


def _governor(clients: Clients, args: JobName) -> Governor | None:
    """Absent without the job."""
    kubernetes = clients.kubernetes.connect(args.eks_name)
    try:
        job = kubernetes.get(JOBS, args.name, args.namespace)
    except TargetNotFound:
        return None
    uid = text(job, "metadata", "uid")
    kind, workload = _workload(kubernetes, args.namespace, uid)
    is_suspended = at(job, "spec", "runPolicy", "suspend") is True
    active = at(workload, "spec", "active") is not False if workload else not is_suspended
    replica: JsonObject = next(iter(children(job, "spec", "replicaSpecs")), {})
    selector = child(replica, "template", "spec", "nodeSelector")
    return Governor(
        uid=uid,
        workload=text(workload, "metadata", "name"),
        workload_kind=kind if workload else "",
        is_active=active,
        node_selector={key: str(value) for key, value in selector.items()},
    )


def _workload(kubernetes: KubernetesClient, namespace: str, uid: str) -> tuple[str, JsonObject]:
    """Of the first version of the kind that this API server has; empty without a queue."""
    for kind in _WORKLOADS:
        try:
            rows = kubernetes.list(kind, namespace)
        except TargetNotFound:
            continue
        for row in rows:
            if any(text(owner, "uid") == uid for owner in children(row, "metadata", "ownerReferences")):
                return kind, row
        return kind, {}
    return "", {}


def _switch_job(clients: Clients, args: SwitchArgs, token: str) -> JsonObject:
    body: JsonObject = {"spec": {"runPolicy": {"suspend": not args.runs}}}
    clients.kubernetes.connect(args.eks_name).patch(JOBS, args.name, body, args.namespace)
    return {}


def _is_switched(clients: Clients, args: SwitchArgs, intent: Intent) -> Observation:
    job = clients.kubernetes.connect(args.eks_name).get(JOBS, args.name, args.namespace)
    if text(job, "metadata", "uid") != args.uid:
        return CannotTell(message("tools.job_of_others", name=args.name, namespace=args.namespace))
    runs = at(job, "spec", "runPolicy", "suspend") is not True
    return Found({}) if runs is args.runs else Absent()


def _switch_workload(clients: Clients, args: SwitchArgs, token: str) -> JsonObject:
    body: JsonObject = {"spec": {"active": args.runs}}
    clients.kubernetes.connect(args.eks_name).patch(args.workload_kind, args.workload, body, args.namespace)
    return {}


def _is_workload_switched(clients: Clients, args: SwitchArgs, intent: Intent) -> Observation:
    row = clients.kubernetes.connect(args.eks_name).get(args.workload_kind, args.workload, args.namespace)
    runs = at(row, "spec", "active") is not False
    return Found({}) if runs is args.runs else Absent()


def _resize(clients: Clients, args: SizeArgs, token: str) -> JsonObject:
    """A list is replaced as a whole, so all of it is sent back, against the version that was read."""
    kubernetes = clients.kubernetes.connect(args.eks_name)
    job = kubernetes.get(JOBS, args.name, args.namespace)
    replicas = children(job, "spec", "replicaSpecs")
    sized: list[JsonValue] = [
        {**replica, "replicas": args.nodes} if _is_main(replica, replicas) else replica for replica in replicas
    ]
    body: JsonObject = {
        "metadata": {"resourceVersion": text(job, "metadata", "resourceVersion")},
        "spec": {"replicaSpecs": sized},
    }
    kubernetes.patch(JOBS, args.name, body, args.namespace)
    return {}


def _is_resized(clients: Clients, args: SizeArgs, intent: Intent) -> Observation:
    job = clients.kubernetes.connect(args.eks_name).get(JOBS, args.name, args.namespace)
    if text(job, "metadata", "uid") != args.uid:
        return CannotTell(message("tools.job_of_others", name=args.name, namespace=args.namespace))
    replicas = children(job, "spec", "replicaSpecs")
    sizes = [number(replica, "replicas") for replica in replicas if _is_main(replica, replicas)]
    return Found({}) if sizes == [args.nodes] else Absent()


def _is_main(replica: JsonObject, replicas: list[JsonObject]) -> bool:
    return len(replicas) == 1 or text(replica, "name") == REPLICA


GOVERNOR: Final[ReadTool[JobName, Governor | None]] = ReadTool(name="job_governor", read=_governor)

SWITCH_JOB: Final[EffectTool[SwitchArgs]] = EffectTool(
    name="switch_job",
    call="k8s:patch:hyperpodpytorchjobs",
    risk=Risk.REVERSIBLE,
    act=_switch_job,
    observe=_is_switched,
)
SWITCH_WORKLOAD: Final[EffectTool[SwitchArgs]] = EffectTool(
    name="switch_workload",
    call="k8s:patch:workloads",
    risk=Risk.REVERSIBLE,
    act=_switch_workload,
    observe=_is_workload_switched,
)
RESIZE_JOB: Final[EffectTool[SizeArgs]] = EffectTool(
    name="resize_job",
    call="k8s:patch:hyperpodpytorchjobs",
    risk=Risk.REVERSIBLE,
    act=_resize,
    observe=_is_resized,
)
