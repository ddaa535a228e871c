"""stop_job, resume_job and resize_job: one switch, then the pods are followed until they are as wanted."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from core.cluster.workloads import JobState
from core.ids import StepName
from core.messages.message import message
from core.reasons import FailureClass
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER
from tools.job_control import GOVERNOR, RESIZE_JOB, SWITCH_JOB, SWITCH_WORKLOAD, SizeArgs, SwitchArgs
from tools.jobs import DESCRIBE_JOB, POD_LOGS, Job, JobName, LogArgs
from tools.reading import text
from workflows.catalogue.failures import fail
from workflows.catalogue.job_control.checkpoints import newest_checkpoint, resumed_from
from workflows.catalogue.job_control.params import JobControlParams
from workflows.catalogue.pace import ADDON_BUDGET, next_look
from workflows.catalogue.submit_job.progress import newest_progress
from workflows.definition import Done, Next, Outcome, Step, StepContext, StepKind, Wait, Workflow

_LOG_LINES: Final = 400
_SILENCE: Final = timedelta(hours=3)
"""A large checkpoint takes up to an hour to load; a script that prints nothing for so long will not tell."""
_LIVE: Final = frozenset({"Pending", "Running"})


def check(ctx: StepContext, params: JobControlParams) -> Outcome:
    """The very job is there; where it stands is kept before anything is changed."""
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.cluster))
    if details is None:
        return fail(FailureClass.CONFIG, message("targets.cluster_unknown", name=params.cluster))
    name = JobName(eks_name=details.eks_name, namespace=params.namespace, name=params.name)
    governor, job = ctx.read(GOVERNOR, name), ctx.read(DESCRIBE_JOB, name)
    if governor is None or job is None or governor.uid != params.uid:
        return fail(FailureClass.CONFIG, message("job_control.not_the_same", job=params.name))
    if job.state.is_finished:
        return fail(FailureClass.CONFIG, message("job_control.finished", job=params.name, state=job.state.value))
    log = _log(ctx, name, job)
    if log:
        ctx.keep_evidence("job_log", log)
    return Next(
        data={
            "eks_name": details.eks_name,
            "workload": governor.workload,
            "workload_kind": governor.workload_kind,
            "checkpoint": newest_checkpoint(log),
        }
    )


def stop(ctx: StepContext, params: JobControlParams) -> Outcome:
    return _switch(ctx, params, runs=False)


def resume(ctx: StepContext, params: JobControlParams) -> Outcome:
    return _switch(ctx, params, runs=True)


def resize(ctx: StepContext, params: JobControlParams) -> Outcome:
    args = SizeArgs(
        eks_name=text(ctx.run.data, "eks_name"),
        namespace=params.namespace,
        name=params.name,
        uid=params.uid,
        nodes=params.nodes,
    )
    ctx.perform(RESIZE_JOB, args)
    return Next()


def wait_stopped(ctx: StepContext, params: JobControlParams) -> Outcome:
    job = ctx.read(DESCRIBE_JOB, _name(ctx, params))
    if job is None:
        return fail(FailureClass.UNKNOWN, message("submit_job.job_gone", name=params.name))
    live = sum(pod.phase in _LIVE for pod in job.pods)
    if job.state is JobState.SUSPENDED and live == 0:
        step = ctx.run.data.get("checkpoint")
        ctx.report(
            message("job_control.stopped", job=params.name)
            if step is None
            else message("job_control.stopped_at", job=params.name, step=str(step))
        )
        return Done(data={"job_state": job.state.value})
    if job.state.is_finished:
        return fail(FailureClass.CONFIG, message("job_control.finished", job=params.name, state=job.state.value))
    if ctx.now - ctx.step_started_at > ADDON_BUDGET:
        return fail(FailureClass.UNKNOWN, message("job_control.pods_stay", job=params.name, count=live))
    why = message("job_control.stopping", job=params.name, count=live)
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)


def wait_running(ctx: StepContext, params: JobControlParams) -> Outcome:
    """A job that waits in a queue may wait long: no budget, and the reason is shown."""
    name = _name(ctx, params)
    job = ctx.read(DESCRIBE_JOB, name)
    if job is None:
        return fail(FailureClass.UNKNOWN, message("submit_job.job_gone", name=params.name))
    running = sum(pod.phase == "Running" for pod in job.pods)
    is_sized = not params.nodes or (job.nodes == params.nodes and len(job.pods) == params.nodes)
    if job.state is JobState.SUCCEEDED or (
        job.state is JobState.RUNNING and is_sized and job.pods and running == len(job.pods)
    ):
        return _went_on(ctx, params, name, job)
    if job.state.is_finished:
        return fail(FailureClass.UNKNOWN, message("job_control.finished", job=params.name, state=job.state.value))
    reason = next((pod.reason for pod in job.pods if pod.reason), "") or job.text or job.reason or "-"
    why = message("job_control.not_running_yet", job=params.name, reason=reason)
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)


def _went_on(ctx: StepContext, params: JobControlParams, name: JobName, job: Job) -> Outcome:
    """From where, only the script's own log tells: it is waited for, and its silence is told as such."""
    log = _log(ctx, name, job)
    step = resumed_from(log)
    is_silent = step is None and newest_progress(log) is None
    if is_silent and ctx.now - ctx.step_started_at < _SILENCE:
        why = message("job_control.waiting_for_log", job=params.name)
        return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)
    ctx.report(
        message("job_control.went_on", job=params.name, nodes=job.nodes)
        if step is None
        else message("job_control.resumed", job=params.name, nodes=job.nodes, step=step)
    )
    return Done(data={"job_state": job.state.value, "resumed_from_step": step, "nodes": job.nodes})


def _switch(ctx: StepContext, params: JobControlParams, *, runs: bool) -> Outcome:
    workload = text(ctx.run.data, "workload")
    args = SwitchArgs(
        eks_name=text(ctx.run.data, "eks_name"),
        namespace=params.namespace,
        name=params.name,
        uid=params.uid,
        runs=runs,
        workload=workload,
        workload_kind=text(ctx.run.data, "workload_kind"),
    )
    # Kueue sets `suspend` of the jobs of its queues itself and would undo ours.
    ctx.perform(SWITCH_WORKLOAD if workload else SWITCH_JOB, args)
    return Next()


def _name(ctx: StepContext, params: JobControlParams) -> JobName:
    return JobName(eks_name=text(ctx.run.data, "eks_name"), namespace=params.namespace, name=params.name)


def _log(ctx: StepContext, name: JobName, job: Job) -> str:
    if not job.pods:
        return ""
    args = LogArgs(eks_name=name.eks_name, namespace=name.namespace, pod=job.pods[0].name, lines=_LOG_LINES)
    return ctx.read(POD_LOGS, args)


_CHECK: Final = Step(
    name=StepName("check"), kind=StepKind.PREFLIGHT, title=message("job_control.step_check"), function=check
)
_WAIT_RUNNING: Final = Step(
    name=StepName("wait_running"),
    kind=StepKind.WAIT,
    title=message("job_control.step_wait_running"),
    function=wait_running,
)

STOP_JOB: Final[Workflow[JobControlParams]] = Workflow(
    name="stop_job",
    version=1,
    params=JobControlParams,
    title=message("stop_job.title"),
    shares_cluster=True,
    steps=(
        _CHECK,
        Step(name=StepName("stop"), kind=StepKind.EFFECT, title=message("stop_job.step_stop"), function=stop),
        Step(
            name=StepName("wait_stopped"),
            kind=StepKind.WAIT,
            title=message("stop_job.step_wait_stopped"),
            function=wait_stopped,
        ),
    ),
)
RESUME_JOB: Final[Workflow[JobControlParams]] = Workflow(
    name="resume_job",
    version=1,
    params=JobControlParams,
    title=message("resume_job.title"),
    shares_cluster=True,
    steps=(
        _CHECK,
        Step(name=StepName("resume"), kind=StepKind.EFFECT, title=message("resume_job.step_resume"), function=resume),
        _WAIT_RUNNING,
    ),
)
RESIZE_JOB_WORKFLOW: Final[Workflow[JobControlParams]] = Workflow(
    name="resize_job",
    version=1,
    params=JobControlParams,
    title=message("resize_job.title"),
    shares_cluster=True,
    steps=(
        _CHECK,
        Step(name=StepName("resize"), kind=StepKind.EFFECT, title=message("resize_job.step_resize"), function=resize),
        _WAIT_RUNNING,
    ),
)
