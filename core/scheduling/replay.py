"""A trace on a cluster under a policy: the worlds that policies are compared in, and the figures of comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.scheduling.elastic import ElasticRange
from core.scheduling.policies import (
    FairSharingStrategy,
    PreemptionPolicy,
    QueueingStrategy,
    QueuePreemption,
    SchedulerConfig,
)
from core.scheduling.simulation import SimulatedJob, SimulationResult
from core.scheduling.traces import Trace, TraceJob
from core.scheduling.world import (
    ClusterQueue,
    Cohort,
    FlavorQuotas,
    PendingWorkload,
    PodSetRequest,
    Quota,
    ResourceFlavor,
    ResourceGroup,
    World,
)

FLAVOR: Final = "gpu"
GPU: Final = "gpu_milli"
ONE_STRATEGY: Final = (FairSharingStrategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,)
"""Kueue's second strategy, LessThanInitialShare, made two evictions in three go around in circles on this trace:
what a large job freed was taken by smaller jobs of queues with a lower share before it could start."""


class Policy(StrEnum):
    """How the cluster is shared."""

    FIFO = "fifo"
    """One queue for all, the head blocks."""
    STATIC_PARTITION = "static_partition"
    """Each team has its part and nothing else, the head blocks."""
    KUEUE_NO_BORROWING = "kueue_no_borrowing"
    """Each team has its part; smaller jobs pass a blocked head."""
    IDLE_SHARING = "idle_sharing"
    """Teams lend and borrow under fair share; the owner takes back."""
    IDLE_SHARING_ELASTIC = "idle_sharing_elastic"
    """The same, and jobs of at least 2 GPUs run between half and twice their size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Times in seconds; shares from 0 to 1."""

    jobs: int
    unfinished: int
    average_completion_s: float
    p95_completion_s: float
    average_wait_s: float
    p95_wait_s: float
    utilisation: float
    """GPU-time in use by its capacity, from the first to the last submission."""
    preemptions: int
    resizes: int
    fairness: float
    """Jain's index over the teams' average of running time by completion time."""
    loops: int


def gpus_for_load(trace: Trace, load: float) -> int:
    """Cluster size at which the trace offers `load` of the capacity, in whole 8-GPU nodes.

    Never smaller than the largest job, which could not run at all.
    """
    most = max(math.ceil(job.gpus) for job in trace.jobs)
    gpus = trace.gpu_seconds / max(trace.span_s, 1.0) / load
    return max(8 * math.ceil(most / 8), 8 * round(gpus / 8))


def team_shares(trace: Trace, gpus: int) -> dict[str, int]:
    """GPUs per team in proportion to its GPU-time in the trace, at least its largest job; they sum to `gpus`.

    A partition made with hindsight: the best a static one can hope for.
    """
    work: dict[str, float] = {}
    largest: dict[str, int] = {}
    for job in trace.jobs:
        work[job.team] = work.get(job.team, 0.0) + job.gpus * job.runs_s
        largest[job.team] = max(largest.get(job.team, 0), math.ceil(job.gpus))
    total = sum(work.values()) or 1.0
    shares = {team: max(largest[team], int(gpus * amount / total)) for team, amount in work.items()}
    by_work = sorted(shares, key=lambda team: (-work[team], team))
    surplus = sum(shares.values()) - gpus
    while surplus > 0:  # small teams were rounded up: the largest pay for it
        payers = [team for team in by_work if shares[team] > largest[team]]
        if not payers:
            break
        for team in payers[: max(1, surplus)]:
            shares[team] -= 1
            surplus -= 1
            if surplus == 0:
                break
    if surplus < 0 and by_work:
        shares[by_work[0]] -= surplus
    return shares


def world_for(policy: Policy, shares: Mapping[str, int], gpus: int) -> World:
    """One flavor of `gpus` GPUs, shared by `policy`. Quotas of teams may exceed `gpus` when every team must be
    able to run its largest job; the cohort's own (negative) rest is then zero and physical capacity is the sum."""
    flavors = (ResourceFlavor(name=FLAVOR),)
    match policy:
        case Policy.FIFO:
            queue = ClusterQueue(name="all", strategy=QueueingStrategy.STRICT_FIFO, groups=(_group(gpus),))
            return World(flavors=flavors, queues=(queue,))
        case Policy.STATIC_PARTITION | Policy.KUEUE_NO_BORROWING:
            strict = policy is Policy.STATIC_PARTITION
            strategy = QueueingStrategy.STRICT_FIFO if strict else QueueingStrategy.BEST_EFFORT_FIFO
            return World(
                flavors=flavors,
                queues=tuple(
                    ClusterQueue(name=team, strategy=strategy, groups=(_group(share),))
                    for team, share in sorted(shares.items())
                ),
            )
        case Policy.IDLE_SHARING | Policy.IDLE_SHARING_ELASTIC:
            return World(
                flavors=flavors,
                cohorts=(Cohort(name="cluster"),),
                queues=tuple(_sharing_queue(team, share) for team, share in sorted(shares.items())),
                config=SchedulerConfig(fair_sharing=True, fair_strategies=ONE_STRATEGY),
            )


def jobs_for(policy: Policy, trace: Trace) -> list[SimulatedJob]:
    is_elastic = policy is Policy.IDLE_SHARING_ELASTIC
    queue = "all" if policy is Policy.FIFO else None
    return [_job(job, queue or job.team, is_elastic) for job in trace.jobs]


def figures(trace: Trace, result: SimulationResult, gpus: int) -> Figures:
    teams = {job.uid: job.team for job in trace.jobs}
    done = [job for job in result.jobs if job.finished_s is not None]
    completions = [(job.finished_s or 0.0) - job.submitted_s for job in done]
    waits = [job.waited_s for job in done]
    by_team: dict[str, list[float]] = {}
    for job, completion_s in zip(done, completions, strict=True):
        by_team.setdefault(teams[job.uid], []).append(job.runs_s / max(completion_s, job.runs_s, 1e-9))
    averages = [sum(values) / len(values) for values in by_team.values()]
    span_s = max(result.ended_s - trace.jobs[0].submitted_s, 1e-9)
    return Figures(
        jobs=len(result.jobs),
        unfinished=len(result.jobs) - len(done),
        average_completion_s=_average(completions),
        p95_completion_s=_percentile(completions, 0.95),
        average_wait_s=_average(waits),
        p95_wait_s=_percentile(waits, 0.95),
        utilisation=result.pod_seconds / (gpus * span_s),
        preemptions=sum(job.preemptions for job in result.jobs),
        resizes=sum(job.resizes for job in result.jobs),
        fairness=jain(averages),
        loops=len(result.loops),
    )


def jain(values: Sequence[float]) -> float:
    """(Σx)² / (n·Σx²): 1 when all are equal, 1/n when one has everything."""
    squares = sum(value * value for value in values)
    return 1.0 if squares == 0 else sum(values) ** 2 / (len(values) * squares)


def _group(gpus: int, borrowing_limit: int | None = None) -> ResourceGroup:
    quota = Quota(nominal=gpus * 1000, borrowing_limit=borrowing_limit)
    return ResourceGroup(resources=(GPU,), flavors=(FlavorQuotas(flavor=FLAVOR, quotas={GPU: quota}),))


def _sharing_queue(team: str, share: int) -> ClusterQueue:
    return ClusterQueue(
        name=team,
        cohort="cluster",
        weight=float(max(1, share)),
        groups=(_group(share),),
        preemption=QueuePreemption(
            within_queue=PreemptionPolicy.LOWER_PRIORITY, reclaim_in_cohort=PreemptionPolicy.ANY
        ),
    )


def _job(job: TraceJob, queue: str, is_elastic: bool) -> SimulatedJob:
    podset = PodSetRequest(name="workers", count=job.pods, requests={GPU: job.gpu_milli})
    elastic = None
    if is_elastic and job.pods >= 2:
        elastic = ElasticRange(least=job.pods // 2, most=2 * job.pods, step=max(1, job.pods // 2))
    return SimulatedJob(
        workload=PendingWorkload(uid=job.uid, queue=queue, podsets=(podset,)),
        submitted_s=job.submitted_s,
        runs_s=job.runs_s,
        elastic=elastic,
    )


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0
