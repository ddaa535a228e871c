"""Training jobs of the HyperPod training operator: specified, submitted once, read, stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import Field

from core.cluster.workloads import JobState
from core.json_value import JsonObject
from core.messages.message import message
from core.risk import Risk
from tools.arguments import ByName, ToolArgs
from tools.clients.base import Clients, KubernetesClient
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool
from tools.errors import Conflict, RejectedByPlatform, RetryableToolError, TargetNotFound
from tools.reading import at, child, children, items, number, text

JOBS: Final = "sagemaker.amazonaws.com/v1/hyperpodpytorchjobs"
PODS: Final = "v1/pods"
NAMESPACES: Final = "v1/namespaces"
LOCAL_QUEUES: Final = ("kueue.x-k8s.io/v1beta2/localqueues", "kueue.x-k8s.io/v1beta1/localqueues")
JOB_LABEL: Final = "muster/job"
TOKEN_ANNOTATION: Final = "muster/token"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASSES: Final = (
    "kueue.x-k8s.io/v1beta2/workloadpriorityclasses",
    "kueue.x-k8s.io/v1beta1/workloadpriorityclasses",
)
PRIORITY_LABEL: Final = "kueue.x-k8s.io/priority-class"
EFA_RESOURCE: Final = "vpc.amazonaws.com/efa"
REPLICA: Final = "pod"
"""The name of the one replica spec, as AWS's own command line names it."""

_STATES: Final = {
    "Created": JobState.PENDING,
    "Pending": JobState.PENDING,
    "Running": JobState.RUNNING,
    "Suspended": JobState.SUSPENDED,
    "Succeeded": JobState.SUCCEEDED,
    "Completed": JobState.SUCCEEDED,
    "Failed": JobState.FAILED,
}
"""Condition types are not enumerated by AWS: one that is not listed says nothing about the state."""


class JobArgs(ToolArgs):
    """One job. Every pod takes one node; `accelerators` and `efa` are per node, 0 asks for none."""

    eks_name: str
    namespace: str
    name: str
    image: str
    command: tuple[str, ...]
    nodes: int
    accelerator_resource: str = ""
    accelerators: int = 0
    efa: int = 0
    processes_per_node: str = "auto"
    node_selector: dict[str, str] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    queue: str = ""
    priority_class: str = ""
    max_restarts: int | None = None
    """Restarts of the whole job before it fails; absent = as the operator does by itself."""


class JobName(ToolArgs):
    eks_name: str
    namespace: str
    name: str


class NamespaceArgs(ToolArgs):
    eks_name: str
    namespace: str


class JobsArgs(ToolArgs):
    eks_name: str
    namespace: str = ""
    """Empty = all namespaces."""


class LogArgs(ToolArgs):
    eks_name: str
    namespace: str
    pod: str
    lines: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """`exit_code` of its container once that has ended; `reason` why it waits or ended."""

    name: str
    node: str
    phase: str
    exit_code: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as last read. `reason` and `text` are of the condition that decides its state."""

    name: str
    namespace: str
    state: JobState
    nodes: int
    reason: str
    text: str
    restarts: int
    pods: tuple[Pod, ...]


def team_namespace(team: str) -> str:
    return f"hyperpod-ns-{team}"


def manifest(args: JobArgs, token: str) -> JsonObject:
    """The HyperPodPyTorchJob object (members: sagemaker-hyperpod 3.12, group `sagemaker.amazonaws.com/v1`)."""
    limits = {args.accelerator_resource: str(args.accelerators)} if args.accelerators else {}
    limits |= {EFA_RESOURCE: str(args.efa)} if args.efa else {}
    labels = {JOB_LABEL: args.name}
    queue = {QUEUE_LABEL: args.queue} if args.queue else {}
    priority = {PRIORITY_LABEL: args.priority_class} if args.priority_class else {}
    retries: JsonObject = {} if args.max_restarts is None else {"jobMaxRetryCount": args.max_restarts}
    container: JsonObject = {
        "name": "trainer",
        "image": args.image,
        **({"command": args.command} if args.command else {}),
        "env": [{"name": key, "value": value} for key, value in sorted(args.environment.items())],
        "resources": {"requests": limits, "limits": limits},
    }
    template: JsonObject = {
        "metadata": {"labels": labels},
        "spec": {"containers": [container], "nodeSelector": args.node_selector, "restartPolicy": "Never"},
    }
    return {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": "HyperPodPyTorchJob",
        "metadata": {
            "name": args.name,
            "namespace": args.namespace,
            "labels": {**labels, **queue, **priority},
            "annotations": {TOKEN_ANNOTATION: token},
        },
        "spec": {
            "nprocPerNode": args.processes_per_node,
            "replicaSpecs": [{"name": REPLICA, "replicas": args.nodes, "template": template}],
            # Pods stay after the end, so that their exit codes and logs can be read.
            "runPolicy": {"cleanPodPolicy": "None", **retries},
        },
    }


def _submit(clients: Clients, args: JobArgs, token: str) -> JsonObject:
    made = clients.kubernetes.connect(args.eks_name).create(JOBS, manifest(args, token), args.namespace)
    return {"uid": text(made, "metadata", "uid")}


def _is_submitted(clients: Clients, args: JobArgs, intent: Intent) -> Observation:
    try:
        found = clients.kubernetes.connect(args.eks_name).get(JOBS, args.name, args.namespace)
    except TargetNotFound:
        return Absent()
    if text(found, "metadata", "annotations", TOKEN_ANNOTATION) != intent.token:
        return CannotTell(message("tools.job_of_others", name=args.name, namespace=args.namespace))
    return Found({"uid": text(found, "metadata", "uid")})


def _make_namespace(clients: Clients, args: NamespaceArgs, token: str) -> JsonObject:
    body: JsonObject = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": args.namespace}}
    clients.kubernetes.connect(args.eks_name).create(NAMESPACES, body)
    return {}


def _namespace_exists(clients: Clients, args: NamespaceArgs) -> bool:
    try:
        clients.kubernetes.connect(args.eks_name).get(NAMESPACES, args.namespace)
    except TargetNotFound:
        return False
    return True


def _has_namespace(clients: Clients, args: NamespaceArgs, intent: Intent) -> Observation:
    return Found({}) if _namespace_exists(clients, args) else Absent()


def _describe(clients: Clients, args: JobName) -> Job | None:
    kubernetes = clients.kubernetes.connect(args.eks_name)
    try:
        row = kubernetes.get(JOBS, args.name, args.namespace)
    except TargetNotFound:
        return None
    return _job(row, _pods_of(kubernetes, row))


def _list(clients: Clients, args: JobsArgs) -> tuple[Job, ...]:
    """Without pods. None where the training operator is not installed."""
    try:
        rows = clients.kubernetes.connect(args.eks_name).list(JOBS, args.namespace or None)
    except TargetNotFound:
        return ()
    return tuple(sorted((_job(row, ()) for row in rows), key=lambda job: (job.namespace, job.name)))


def _takes_jobs(clients: Clients, args: ByName) -> bool:
    """`name` is the EKS cluster's. False: its API server does not know the kind, so no operator is installed."""
    try:
        clients.kubernetes.connect(args.name).list(JOBS, "default")
    except TargetNotFound:
        return False
    return True


def _logs(clients: Clients, args: LogArgs) -> str:
    """Empty for a pod that has not started or is gone."""
    try:
        return clients.kubernetes.connect(args.eks_name).logs(args.pod, args.namespace, tail_lines=args.lines)
    except (TargetNotFound, RejectedByPlatform, Conflict, RetryableToolError):
        return ""


def _queue(clients: Clients, args: NamespaceArgs) -> str:
    """The namespace's queue where task governance is installed; empty otherwise."""
    return min(_names(clients, args.eks_name, LOCAL_QUEUES, args.namespace), default="")


def _priority_classes(clients: Clients, args: ByName) -> tuple[str, ...]:
    """`name` is the EKS cluster's. None without task governance."""
    return tuple(sorted(_names(clients, args.name, PRIORITY_CLASSES, None)))


def _names(clients: Clients, eks_name: str, kinds: tuple[str, ...], namespace: str | None) -> list[str]:
    """Of the first version of a kind that this API server has."""
    kubernetes = clients.kubernetes.connect(eks_name)
    for kind in kinds:
        try:
            return [text(row, "metadata", "name") for row in kubernetes.list(kind, namespace)]
        except TargetNotFound:
            continue
    return []


def _pods_of(kubernetes: KubernetesClient, job: JsonObject) -> tuple[Pod, ...]:
    name, namespace = text(job, "metadata", "name"), text(job, "metadata", "namespace")
    uid, named = text(job, "metadata", "uid"), set(map(str, items(job, "status", "jobPods")))
    pods = [
        _pod(row)
        for row in kubernetes.list(PODS, namespace)
        if text(row, "metadata", "labels", JOB_LABEL) == name
        or text(row, "metadata", "name") in named
        or any(text(owner, "uid") == uid for owner in children(row, "metadata", "ownerReferences"))
    ]
    return tuple(sorted(pods, key=lambda pod: (len(pod.name), pod.name)))


def _pod(row: JsonObject) -> Pod:
    statuses = children(row, "status", "containerStatuses")
    ended = [child(status, "state", "terminated") for status in statuses if child(status, "state", "terminated")]
    waiting = [text(status, "state", "waiting", "reason") for status in statuses]
    codes = [number(state, "exitCode") for state in ended]
    return Pod(
        name=text(row, "metadata", "name"),
        node=text(row, "spec", "nodeName"),
        phase=text(row, "status", "phase"),
        exit_code=max(codes) if codes else None,
        reason=_unscheduled(row)
        or next((text(state, "reason") for state in ended), "")
        or next(filter(None, waiting), ""),
    )


def _unscheduled(row: JsonObject) -> str:
    """The scheduler's own words for a pod that no node takes yet."""
    return next(
        (
            text(condition, "message")
            for condition in children(row, "status", "conditions")
            if text(condition, "type") == "PodScheduled" and text(condition, "status") == "False"
        ),
        "",
    )


def _job(row: JsonObject, pods: tuple[Pod, ...]) -> Job:
    state, condition = _state(row)
    replicas = children(row, "spec", "replicaSpecs")
    return Job(
        name=text(row, "metadata", "name"),
        namespace=text(row, "metadata", "namespace"),
        state=state,
        nodes=sum(number(replica, "replicas") for replica in replicas),
        reason=text(condition, "reason"),
        text=text(condition, "message"),
        restarts=number(row, "status", "restartCount"),
        pods=pods,
    )


def state_of(row: JsonObject) -> JobState:
    """Where the job of this object stands."""
    return _state(row)[0]


def _state(row: JsonObject) -> tuple[JobState, JsonObject]:
    """By the newest condition that holds; a final one wins over everything."""
    holding = [
        (known, condition)
        for condition in children(row, "status", "conditions")
        if text(condition, "status") == "True" and (known := _STATES.get(text(condition, "type"))) is not None
    ]
    final = [item for item in holding if item[0].is_finished]
    if final:
        return final[-1]
    if at(row, "spec", "runPolicy", "suspend") is True:
        return JobState.SUSPENDED, next((c for s, c in holding if s is JobState.SUSPENDED), {})
    live = [item for item in holding if item[0] is not JobState.SUSPENDED]
    # Time stamps are of whole seconds: of two in the same second the one that was written later counts.
    by_time = sorted(live, key=lambda item: text(item[1], "lastTransitionTime"))
    return by_time[-1] if by_time else (JobState.PENDING, {})


DESCRIBE_JOB: Final[ReadTool[JobName, Job | None]] = ReadTool(name="describe_job", read=_describe)
TAKES_JOBS: Final[ReadTool[ByName, bool]] = ReadTool(name="takes_jobs", read=_takes_jobs)
LIST_JOBS: Final[ReadTool[JobsArgs, tuple[Job, ...]]] = ReadTool(name="list_jobs", read=_list)
POD_LOGS: Final[ReadTool[LogArgs, str]] = ReadTool(name="pod_logs", read=_logs)
HAS_NAMESPACE: Final[ReadTool[NamespaceArgs, bool]] = ReadTool(name="has_namespace", read=_namespace_exists)
PRIORITY_CLASS_NAMES: Final[ReadTool[ByName, tuple[str, ...]]] = ReadTool(
    name="priority_class_names", read=_priority_classes
)
TEAM_QUEUE: Final[ReadTool[NamespaceArgs, str]] = ReadTool(name="team_queue", read=_queue)

SUBMIT_JOB: Final[EffectTool[JobArgs]] = EffectTool(
    name="submit_job",
    call="k8s:create:hyperpodpytorchjobs",
    risk=Risk.REVERSIBLE,
    act=_submit,
    observe=_is_submitted,
)
CREATE_NAMESPACE: Final[EffectTool[NamespaceArgs]] = EffectTool(
    name="create_namespace",
    call="k8s:create:namespaces",
    risk=Risk.REVERSIBLE,
    act=_make_namespace,
    observe=_has_namespace,
)
