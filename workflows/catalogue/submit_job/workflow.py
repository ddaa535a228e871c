"""submit_job: one job, submitted once and followed to its end."""

from __future__ import annotations

from typing import Final

from core.cluster.clusters import ClusterStatus
from core.cluster.workloads import JobState
from core.failures import Failure, NextAction
from core.ids import EvidenceId, StepName
from core.messages.message import Message, message
from core.reasons import FailureClass
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER
from tools.jobs import (
    CREATE_NAMESPACE,
    DESCRIBE_JOB,
    HAS_NAMESPACE,
    POD_LOGS,
    SUBMIT_JOB,
    TAKES_JOBS,
    TEAM_QUEUE,
    Job,
    JobArgs,
    JobName,
    LogArgs,
    NamespaceArgs,
    Pod,
)
from tools.nodes import CLUSTER_NODES, NodesArgs
from tools.reading import text
from workflows.catalogue.failures import fail
from workflows.catalogue.pace import REPLACEMENT_BUDGET, next_look
from workflows.catalogue.submit_job.params import SubmitJobParams
from workflows.catalogue.submit_job.progress import TrainingProgress, newest_progress
from workflows.definition import Done, Fail, Next, Outcome, Step, StepContext, StepKind, Wait, Workflow

_TAIL_LINES: Final = 100
_STUCK: Final = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"})
"""Waiting reasons that do not pass by themselves."""


def check(ctx: StepContext, params: SubmitJobParams) -> Outcome:
    """The cluster is there and has enough nodes of the type, busy or not: waiting for room is the queue's business.

    Nodes that are being repaired are waited for.
    """
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.cluster))
    if details is None or details.cluster.status is not ClusterStatus.IN_SERVICE or not details.eks_name:
        status = details.cluster.status.value if details is not None else "absent"
        return fail(FailureClass.CONFIG, message("submit_job.cluster_not_usable", name=params.cluster, status=status))
    if not ctx.read(TAKES_JOBS, ByName(name=details.eks_name)):
        return fail(FailureClass.CONFIG, message("submit_job.no_operator", name=params.cluster))
    nodes = ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.cluster, eks_name=details.eks_name))
    fitting = sum(node.is_usable and node.instance_type == params.instance_type for node in nodes.nodes)
    if fitting < params.nodes:
        coming = sum(g.target_count for g in details.cluster.groups if params.instance_type in g.instance_types)
        if coming >= params.nodes and ctx.now - ctx.step_started_at < REPLACEMENT_BUDGET:
            why = message("submit_job.waiting_for_nodes", name=params.cluster, ready=fitting, wanted=params.nodes)
            return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)
        short = message(
            "submit_job.too_few_nodes",
            name=params.cluster,
            type=params.instance_type,
            ready=fitting,
            wanted=params.nodes,
        )
        return fail(FailureClass.CAPACITY, short)
    ctx.report(message("submit_job.checked", name=params.name, cluster=params.cluster, ready=fitting))
    has_namespace = ctx.read(HAS_NAMESPACE, NamespaceArgs(eks_name=details.eks_name, namespace=params.namespace))
    return Next(data={"eks_name": details.eks_name, "has_namespace": has_namespace})


def make_namespace(ctx: StepContext, params: SubmitJobParams) -> Outcome:
    if ctx.run.data.get("has_namespace") is not True:
        ctx.perform(CREATE_NAMESPACE, NamespaceArgs(eks_name=_eks(ctx), namespace=params.namespace))
    queue = ctx.read(TEAM_QUEUE, NamespaceArgs(eks_name=_eks(ctx), namespace=params.namespace))
    return Next(data={"queue": queue})


def submit(ctx: StepContext, params: SubmitJobParams) -> Outcome:
    made = ctx.perform(
        SUBMIT_JOB,
        JobArgs(
            eks_name=_eks(ctx),
            namespace=params.namespace,
            name=params.name,
            image=params.image,
            command=params.command,
            nodes=params.nodes,
            accelerator_resource=params.accelerator_resource,
            accelerators=params.accelerators_per_node,
            efa=params.efa_per_node,
            node_selector={"node.kubernetes.io/instance-type": params.instance_type},
            queue=text(ctx.run.data, "queue"),
            priority_class=params.priority_class,
            max_restarts=params.max_restarts,
        ),
    )
    return Next(data={"job_uid": made.get("uid")})


def follow(ctx: StepContext, params: SubmitJobParams) -> Outcome:
    name = JobName(eks_name=_eks(ctx), namespace=params.namespace, name=params.name)
    job = ctx.read(DESCRIBE_JOB, name)
    if job is None:
        return fail(FailureClass.UNKNOWN, message("submit_job.job_gone", name=params.name))
    tail = _tail(ctx, params, job.pods[0]) if job.pods else ""
    progress = newest_progress(tail)
    match job.state:
        case JobState.SUCCEEDED:
            return _succeeded(ctx, params, tail, progress)
        case JobState.FAILED | JobState.STOPPED:
            return _failed(ctx, params, job)
        case JobState.PENDING | JobState.SUSPENDED:
            return _waiting(ctx, params, job)
        case JobState.RUNNING:
            _report(ctx, params, job, progress)
            why = message("submit_job.running", name=params.name)
            return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)


def _succeeded(ctx: StepContext, params: SubmitJobParams, tail: str, progress: TrainingProgress | None) -> Outcome:
    evidence = ctx.keep_evidence("job_log", tail or "(no output)")
    step, loss = (progress.step, progress.loss) if progress is not None else (0, "-")
    ctx.report(message("submit_job.succeeded", name=params.name, step=step, loss=loss))
    return Done(data={"job_state": JobState.SUCCEEDED.value, "last_step": step, "last_loss": loss, "log": evidence})


def _failed(ctx: StepContext, params: SubmitJobParams, job: Job) -> Fail:
    """The pod that ended with an error first tells most; its exit code and the end of its log are the evidence."""
    culprit = next((pod for pod in job.pods if pod.exit_code not in {None, 0}), None)
    evidence: list[EvidenceId] = [ctx.keep_evidence("job", f"{job.name} {job.state} {job.reason}: {job.text}")]
    code = "-"
    if culprit is not None:
        code = str(culprit.exit_code)
        log = _tail(ctx, params, culprit) or "(no output)"
        evidence.append(ctx.keep_evidence("job_log", f"{culprit.name} on {culprit.node}\n{log}"))
    return Fail(
        failure=Failure(
            failure_class=FailureClass.UNKNOWN,
            message=message("submit_job.failed", name=job.name, code=code, reason=job.text or job.reason or "-"),
            evidence=tuple(evidence),
            next_actions=(NextAction.FIX_AND_RETRY, NextAction.ESCALATE, NextAction.CANCEL),
        )
    )


def _waiting(ctx: StepContext, params: SubmitJobParams, job: Job) -> Outcome:
    stuck = next((pod for pod in job.pods if pod.reason in _STUCK), None)
    if stuck is not None:
        why = message("submit_job.cannot_start", name=params.name, image=params.image, reason=stuck.reason)
        return fail(FailureClass.CONFIG, why)
    reason = next((pod.reason for pod in job.pods if pod.reason), "") or job.text or job.reason
    why = _why_waiting(params, job, reason)
    ctx.report(why)
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)


def _why_waiting(params: SubmitJobParams, job: Job, reason: str) -> Message:
    started = sum(pod.phase == "Running" for pod in job.pods)
    if job.state is JobState.SUSPENDED:
        return message("submit_job.queued", name=params.name, reason=reason or "-")
    if reason:
        return message("submit_job.starting_because", name=params.name, reason=reason)
    return message("submit_job.starting", name=params.name, started=started, total=params.nodes)


def _report(ctx: StepContext, params: SubmitJobParams, job: Job, progress: TrainingProgress | None) -> None:
    if progress is None:
        ctx.report(message("submit_job.running", name=params.name))
        return
    ctx.report(
        message("submit_job.progress", name=params.name, step=progress.step, loss=progress.loss, restarts=job.restarts),
        done=progress.step,
        total=progress.of,
    )


def _tail(ctx: StepContext, params: SubmitJobParams, pod: Pod) -> str:
    args = LogArgs(eks_name=_eks(ctx), namespace=params.namespace, pod=pod.name, lines=_TAIL_LINES)
    return ctx.read(POD_LOGS, args)


def _eks(ctx: StepContext) -> str:
    return text(ctx.run.data, "eks_name")


WORKFLOW: Final[Workflow[SubmitJobParams]] = Workflow(
    name="submit_job",
    version=1,
    params=SubmitJobParams,
    title=message("submit_job.title"),
    shares_cluster=True,
    steps=(
        Step(
            name=StepName("preflight"),
            kind=StepKind.PREFLIGHT,
            title=message("submit_job.step_preflight"),
            function=check,
            phase="submit",
        ),
        Step(
            name=StepName("namespace"),
            kind=StepKind.EFFECT,
            title=message("submit_job.step_namespace"),
            function=make_namespace,
            phase="submit",
        ),
        Step(
            name=StepName("submit"),
            kind=StepKind.EFFECT,
            title=message("submit_job.step_submit"),
            function=submit,
            phase="submit",
        ),
        Step(
            name=StepName("follow"),
            kind=StepKind.WAIT,
            title=message("submit_job.step_follow"),
            function=follow,
            phase="train",
        ),
    ),
)
