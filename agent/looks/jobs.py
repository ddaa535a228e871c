"""Training jobs and the ends of their logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from agent.looks.clusters import ClusterParams, clusters_meant
from agent.toolbox.reads import Looking, LookTool, look_tool
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from tools.clusters import ClusterDetails
from tools.jobs import DESCRIBE_JOB, POD_LOGS, Job, JobName, JobsArgs, LogArgs
from tools.jobs import LIST_JOBS as READ_JOBS

_LOG_LINES: Final = 40


class JobParams(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster. Null when it was not named.")
    job: str | None = Field(default=None, description="Name of the job. Null when there is only one.")


def _list_jobs(looking: Looking, params: ClusterParams) -> JsonObject:
    return {"jobs": [_shown(details, job) for details, job in _jobs(looking, params.cluster)]}


def _job_logs(looking: Looking, params: JobParams) -> JsonObject:
    """The end of the log of the job's first pod that wrote anything."""
    jobs = [
        (details, job)
        for details, job in _jobs(looking, params.cluster)
        if params.job is None or job.name == params.job
    ]
    if not jobs:
        raise InputRefused(RefusalReason.NAME_UNKNOWN, message("agent.no_such_job", name=params.job or ""))
    return {"logs": [_log(looking, details, job) for details, job in jobs[:3]]}


def _jobs(looking: Looking, cluster: str | None) -> Iterator[tuple[ClusterDetails, Job]]:
    for details in clusters_meant(looking, cluster):
        if details.eks_name:
            for job in looking.reads.read(READ_JOBS, JobsArgs(eks_name=details.eks_name)):
                yield details, job


def _shown(details: ClusterDetails, job: Job) -> JsonObject:
    return {
        "name": job.name,
        "cluster": details.cluster.name,
        "team": job.namespace,
        "state": job.state.value,
        "nodes": job.nodes,
        "reason": job.reason,
        "message": job.text,
        "restarts": job.restarts,
    }


def _log(looking: Looking, details: ClusterDetails, job: Job) -> JsonObject:
    name = JobName(eks_name=details.eks_name, namespace=job.namespace, name=job.name)
    described = looking.reads.read(DESCRIBE_JOB, name)
    for pod in sorted(described.pods, key=lambda pod: pod.name) if described is not None else ():
        args = LogArgs(eks_name=details.eks_name, namespace=job.namespace, pod=pod.name, lines=_LOG_LINES)
        if tail := looking.reads.read(POD_LOGS, args):
            return {"name": job.name, "cluster": details.cluster.name, "pod": pod.name, "log": tail}
    return {"name": job.name, "cluster": details.cluster.name, "pod": "", "log": ""}


LIST_JOBS: Final[LookTool] = look_tool(
    "list_jobs", "Training jobs of a cluster, or of all: state, nodes, why they wait.", ClusterParams, _list_jobs
)
JOB_LOGS: Final[LookTool] = look_tool("job_logs", "The end of a training job's log.", JobParams, _job_logs)
