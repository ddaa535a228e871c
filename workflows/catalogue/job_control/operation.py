"""stop_job, resume_job and resize_job as something to ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.choices import ChoiceKind
from core.cluster.workloads import JobState
from core.ids import ClusterName
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from core.risk import Risk
from tools.clusters import ClusterDetails
from tools.job_control import GOVERNOR, Governor
from tools.jobs import DESCRIBE_JOB, LIST_JOBS, POD_LOGS, Job, JobName, JobsArgs, LogArgs, team_namespace
from tools.nodes import CLUSTER_NODES, NodesArgs
from workflows.catalogue.job_control.checkpoints import newest_checkpoint
from workflows.catalogue.job_control.params import JobControlParams
from workflows.catalogue.options import option
from workflows.catalogue.preparing import reading
from workflows.catalogue.targets import find_target, refuse_unusable
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused

Verb = Literal["stop_job", "resume_job", "resize_job"]
_LOG_LINES: Final = 400
_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"
_DESCRIPTIONS: Final[Mapping[Verb, str]] = {
    "stop_job": "Suspend a training job: its pods end, the job and its checkpoints stay, and it can be resumed.",
    "resume_job": "Let a suspended job go on, from its newest checkpoint.",
    "resize_job": "Change on how many nodes a job runs; it restarts from its newest checkpoint.",
}


class JobControlRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster on which the job is.")
    job: str | None = Field(default=None, description="Name of the job, as the requester gave it.")
    team: str | None = Field(default=None, description="Team whose job it is, when one was named.")


class ResizeJobRequest(JobControlRequest):
    nodes: int | None = Field(default=None, description="On how many nodes the job shall run.")


class JobControl:
    """`workflows.operations.Operation`, one for each of the three verbs."""

    human_choices: Final[frozenset[ChoiceKind]] = frozenset()

    def __init__(self, name: Verb) -> None:
        self._name: Verb = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> str:
        return _DESCRIPTIONS[self._name]

    @property
    def params(self) -> type[BaseModel]:
        return ResizeJobRequest if self._name == "resize_job" else JobControlRequest

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        return reading(lambda: _prepare(self._name, draft, reads, planned))


def _prepare(verb: Verb, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    request = (
        ResizeJobRequest.model_validate(draft.params)
        if verb == "resize_job"
        else JobControlRequest.model_validate(draft.params)
    )
    target = find_target(request.cluster, reads, planned)
    if isinstance(target, Missing | Refused):
        return target
    if isinstance(target, PlannedCluster):
        text = message("job_control.still_planned", name=target.name)
        return Refused(reason=RefusalReason.TARGET_IN_WRONG_STATE, message=text)
    refusal = refuse_unusable(target)
    if refusal is not None:
        return refusal
    job = _which_job(request, target, reads)
    if isinstance(job, Missing | Refused):
        return job
    name = JobName(eks_name=target.eks_name, namespace=job.namespace, name=job.name)
    governor = reads.read(GOVERNOR, name)
    if governor is None:
        return _unknown(job.name, target)
    wrong = _wrong_state(verb, job, governor)
    if wrong is not None:
        return Refused(reason=RefusalReason.TARGET_IN_WRONG_STATE, message=wrong)
    nodes = 0
    if isinstance(request, ResizeJobRequest):
        decided = _size(request, job, target, governor, reads)
        if isinstance(decided, Missing | Refused):
            return decided
        nodes = decided
    return _ready(verb, target, job, governor, nodes, _checkpoint(name, reads))


def _which_job(request: JobControlRequest, details: ClusterDetails, reads: Reads) -> Job | Missing | Refused:
    """By name, `namespace/name` where several teams use it; the only unfinished one when none was named."""
    jobs = reads.read(LIST_JOBS, JobsArgs(eks_name=details.eks_name))
    if request.team is not None:
        jobs = tuple(job for job in jobs if job.namespace == team_namespace(request.team))
    if request.job is None:
        found = [job for job in jobs if not job.state.is_finished]
    else:
        found = [job for job in jobs if request.job in {job.name, f"{job.namespace}/{job.name}"}]
    if not found:
        return _unknown(request.job, details, [job.name for job in jobs if not job.state.is_finished])
    return found[0] if len(found) == 1 else Missing(question=_ask_job(found))


def _unknown(name: str | None, details: ClusterDetails, known: Sequence[str] = ()) -> Refused:
    text = message("job_control.unknown", job=name or "-", name=details.cluster.name)
    remedies = (message("job_control.known", jobs=", ".join(known)),) if known else ()
    return Refused(reason=RefusalReason.NAME_UNKNOWN, message=text, remedies=remedies)


def _ask_job(jobs: Sequence[Job]) -> QuestionDraft:
    return QuestionDraft(
        name="params.job",
        kind=QuestionKind.TARGET,
        prompt=message("job_control.which"),
        options=tuple(
            option(
                f"{job.namespace}/{job.name}",
                message("job_control.option", job=job.name, namespace=job.namespace, state=job.state.value),
            )
            for job in jobs
        ),
    )


def _wrong_state(verb: Verb, job: Job, governor: Governor) -> Message | None:
    if job.state.is_finished:
        return message("job_control.finished", job=job.name, state=job.state.value)
    if verb == "stop_job" and not governor.is_active:
        return message("job_control.stopped_already", job=job.name)
    if verb == "resume_job" and governor.is_active:
        key = "job_control.waits_in_queue" if job.state is JobState.SUSPENDED else "job_control.not_stopped"
        return message(key, job=job.name)
    return None


def _size(
    request: ResizeJobRequest, job: Job, details: ClusterDetails, governor: Governor, reads: Reads
) -> int | Missing | Refused:
    wanted_type = governor.node_selector.get(_TYPE_LABEL)
    nodes = reads.read(CLUSTER_NODES, NodesArgs(cluster=details.cluster.name, eks_name=details.eks_name)).nodes
    most = sum(node.is_usable and wanted_type in {None, node.instance_type} for node in nodes)
    if request.nodes is None:
        prompt = message("job_control.ask_nodes", job=job.name, nodes=job.nodes, most=most)
        return Missing(
            question=QuestionDraft(
                name="params.nodes",
                kind=QuestionKind.MISSING,
                prompt=prompt,
                options=(),
                takes_other=True,
                field="nodes",
            )
        )
    if not 1 <= request.nodes <= most:
        text = message("job_control.too_many", count=request.nodes, most=most, name=details.cluster.name)
        return Refused(reason=RefusalReason.CAPACITY_SHORT, message=text)
    if request.nodes == job.nodes:
        text = message("job_control.same_size", job=job.name, nodes=job.nodes)
        return Refused(reason=RefusalReason.PARAMETER_INVALID, message=text)
    return request.nodes


def _checkpoint(name: JobName, reads: Reads) -> int | None:
    job = reads.read(DESCRIBE_JOB, name)
    if job is None or not job.pods:
        return None
    log = LogArgs(eks_name=name.eks_name, namespace=name.namespace, pod=job.pods[0].name, lines=_LOG_LINES)
    return newest_checkpoint(reads.read(POD_LOGS, log))


def _ready(
    verb: Verb, details: ClusterDetails, job: Job, governor: Governor, nodes: int, checkpoint: int | None
) -> Ready:
    params = JobControlParams(
        cluster=details.cluster.name, namespace=job.namespace, name=job.name, uid=governor.uid, nodes=nodes
    )
    interrupts = verb != "resume_job" and (job.state is JobState.RUNNING or checkpoint is not None)
    lost = (
        message("job_control.loses_all", job=job.name)
        if checkpoint is None
        else message("job_control.loses_since", job=job.name, step=checkpoint)
    )
    sizes = {"before": job.nodes, "after": nodes} if verb == "resize_job" else {"before": job.nodes}
    what = message(f"{verb}.card_what", job=job.name, namespace=job.namespace, name=details.cluster.name, **sizes)
    queue = (message("job_control.card_queue", workload=governor.workload),) if governor.workload else ()
    return Ready(
        run_params=params.model_dump(mode="json"),
        cluster=details.cluster.name,
        # Work that no checkpoint keeps is lost for good.
        risk=Risk.DESTRUCTIVE if interrupts and checkpoint is None else Risk.REVERSIBLE,
        card=(what, *queue),
        cost_cents_per_hour=0,
        blast_radius=(lost,) if interrupts else (),
    )
