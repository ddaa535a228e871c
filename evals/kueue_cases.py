"""The handed files of scheduling cases: their schema, and the worlds they describe.

A case is a fact about Kueue: a world, and what Kueue v0.20 decides in it. The schema is that of the files; what
a file holds beyond it is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, ValidationError

from core.scheduling import world as facts
from core.scheduling.policies import (
    BOTH_STRATEGIES,
    BorrowWithinCohort,
    FairSharingStrategy,
    Fungibility,
    FungibilityPreference,
    Gates,
    PreemptionPolicy,
    QueueingStrategy,
    QueuePreemption,
    SchedulerConfig,
    WhenCanBorrow,
    WhenCanPreempt,
)

GATES: Mapping[str, str] = {
    "PartialAdmission": "partial_admission",
    "ReclaimablePods": "reclaimable_pods",
    "ElasticJobsViaWorkloadSlices": "elastic_slices",
    "TopologyAwareScheduling": "topology_aware_scheduling",
    "TASProfileMixed": "tas_profile_mixed",
    "TASMultiLayerTopology": "tas_multi_layer_topology",
    "TASRecomputeAssignmentWithinSchedulingCycle": "tas_recompute_within_cycle",
    "RecomputeAssignmentUponPreemptionTargetsOverlap": "recompute_on_victim_overlap",
    "PreserveScanProgress": "preserve_scan_progress",
    "SchedulingEquivalenceHashing": "scheduling_equivalence_hashing",
    "FairSharingPrioritizeNonBorrowing": "fair_sharing_prioritize_non_borrowing",
    "FairSharingPreemptWithinNominal": "fair_sharing_preempt_within_nominal",
    "FairSharingReevaluatePreemptionCandidates": "fair_sharing_reevaluate_candidates",
    "PrioritySortingWithinCohort": "priority_sorting_within_cohort",
    "PrioritizePreemptorWorkloads": "prioritize_preemptors",
}
"""Kueue's name -> our field. A case that sets a gate which is not here fails, unless it sets it to off."""

Seconds = float | None


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class TaintPart(_Part):
    key: str
    value: str = ""
    effect: facts.TaintEffect


class TolerationPart(_Part):
    key: str | None = None
    operator: facts.TolerationOperator = facts.TolerationOperator.EQUAL
    value: str = ""
    effect: facts.TaintEffect | None = None


class RequirementPart(_Part):
    key: str
    op: facts.SelectorOperator
    values: tuple[str, ...] = ()


class QuotaPart(_Part):
    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


class FlavorQuotasPart(_Part):
    name: str
    quotas: dict[str, QuotaPart] = {}


class GroupPart(_Part):
    resources: tuple[str, ...]
    flavors: tuple[FlavorQuotasPart, ...]


class FlavorPart(_Part):
    name: str
    labels: dict[str, str] = {}
    taints: tuple[TaintPart, ...] = ()
    tolerations: tuple[TolerationPart, ...] = ()


class CohortPart(_Part):
    name: str
    parent: str | None = None
    weight: float | None = None
    groups: tuple[GroupPart, ...] = ()


class BorrowPart(_Part):
    policy: PreemptionPolicy | None = None
    max_priority_threshold: int | None = None


class PreemptionPart(_Part):
    within_queue: PreemptionPolicy | None = PreemptionPolicy.NEVER
    reclaim_in_cohort: PreemptionPolicy | None = PreemptionPolicy.NEVER
    borrow_in_cohort: BorrowPart | None = None


class FungibilityPart(_Part):
    when_can_borrow: WhenCanBorrow = WhenCanBorrow.MAY_STOP_SEARCH
    when_can_preempt: WhenCanPreempt = WhenCanPreempt.TRY_NEXT_FLAVOR
    preference: FungibilityPreference | None = None


class QueuePart(_Part):
    name: str
    cohort: str | None = None
    strategy: QueueingStrategy = QueueingStrategy.BEST_EFFORT_FIFO
    weight: float | None = None
    groups: tuple[GroupPart, ...] = ()
    preemption: PreemptionPart = PreemptionPart()
    fungibility: FungibilityPart = FungibilityPart()


class AdmittedPodSetPart(_Part):
    name: str
    count: int
    flavors: dict[str, str]
    usage: dict[str, int]


class AdmittedPart(_Part):
    name: str
    queue: str
    priority: int = 0
    created_s: Seconds = None
    reserved_s: float = 0.0
    evicting: bool = False
    podsets: tuple[AdmittedPodSetPart, ...]


class SlicePart(_Part):
    level: str
    size: int | None = None


class TopologyPart(_Part):
    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    slice_level: str | None = None
    slice_size: int | None = None
    slices: tuple[SlicePart, ...] = ()


class ReplacesPart(_Part):
    requests: dict[str, int] = {}
    flavors: dict[str, str] = {}


class PendingPodSetPart(_Part):
    name: str
    count: int
    requests: dict[str, int] = {}
    min_count: int | None = None
    reclaimable: int | None = None
    tolerations: tuple[TolerationPart, ...] = ()
    node_selector: dict[str, str] = {}
    affinity: tuple[tuple[RequirementPart, ...], ...] = ()
    group: str | None = None
    topology: TopologyPart | None = None
    implied: bool = False
    replaces: ReplacesPart | None = None


class PendingPart(_Part):
    name: str
    queue: str
    priority: int = 0
    created_s: Seconds = None
    eligible: bool = True
    podsets: tuple[PendingPodSetPart, ...]


class AmountPart(_Part):
    flavor: str
    resource: str
    amount: int
    queue: str = ""


class NodePart(_Part):
    name: str
    labels: dict[str, str] = {}
    allocatable: dict[str, int] = {}
    taints: tuple[TaintPart, ...] = ()
    ready: bool = True
    unschedulable: bool = False


class ConfigPart(_Part):
    fair_sharing: bool = False
    strategies: tuple[FairSharingStrategy, ...] | None = None
    gates: dict[str, bool] = {}
    priority_sorting: bool = True
    requeue_timestamp: str = "Eviction"


class OraclePart(_Part):
    result: str
    borrow: int = 0
    flavor: str = ""
    resource: str = ""


class OraclesPart(_Part):
    default: OraclePart
    overrides: tuple[OraclePart, ...] = ()


class AssignedFlavorPart(_Part):
    flavor: str
    mode: str


class AssignedPart(_Part):
    name: str
    flavors: dict[str, AssignedFlavorPart]


class OptionPart(_Part):
    mode: str
    borrow_level: int


class PersonPart(_Part):
    effective_priority: int
    created_s: Seconds = None


class EntryPart(_Part):
    name: str
    created_s: Seconds = None
    priority: int = 0
    borrow_level: int = 0
    pods_ready_evicted_s: Seconds = None


def _none_is_empty(value: object) -> object:
    return {} if value is None else value


class KueueCase(_Part):
    """One case; which fields are filled depends on `kind`."""

    id: str
    kind: str
    expect: dict[str, JsonValue]
    config: Annotated[ConfigPart, BeforeValidator(_none_is_empty)] = ConfigPart()
    flavors: tuple[FlavorPart, ...] = ()
    cohorts: tuple[CohortPart, ...] = ()
    cluster_queues: tuple[QueuePart, ...] = ()
    admitted: tuple[AdmittedPart, ...] = ()
    pending: tuple[PendingPart, ...] = ()
    usage: tuple[AmountPart, ...] = ()
    workload_request: tuple[AmountPart, ...] = ()
    delete_between: tuple[str, ...] = ()
    target_queue: str = ""
    assignment: tuple[AssignedPart, ...] = ()
    oracle: OraclesPart | None = None
    mode: str = ""
    borrowing: int = 0
    podsets: tuple[PendingPodSetPart, ...] = ()
    count_limit: int = 0
    policy: PreemptionPolicy | None = None
    preemptor: PersonPart | None = None
    candidate: PersonPart | None = None
    a: OptionPart | None = None
    b: OptionPart | None = None
    preference: FungibilityPreference | None = None
    entries: tuple[EntryPart, ...] = ()
    levels: tuple[str, ...] = ()
    nodes: tuple[NodePart, ...] = ()
    flavor_labels: dict[str, str] = {}


class _CaseFile(_Part):
    cases: tuple[dict[str, JsonValue], ...] = Field(min_length=1)


class CasesUnreadable(Exception):
    """The directory or one of its files holds no cases."""


def read_cases(directory: Path) -> list[KueueCase]:
    """Every case of every `*.json` of the directory, by file name and position. Raises `CasesUnreadable`."""
    paths = sorted(directory.glob("*.json")) if directory.is_dir() else []
    if not paths:
        raise CasesUnreadable(f"{directory} holds no *.json files")
    cases: list[KueueCase] = []
    for path in paths:
        try:
            rows = _CaseFile.model_validate_json(path.read_bytes()).cases
            cases.extend(KueueCase.model_validate(row) for row in rows)
        except (OSError, ValidationError) as error:
            raise CasesUnreadable(f"{path.name}: {error}") from error
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise CasesUnreadable(f"the case {case.id} occurs twice")
        seen.add(case.id)
    return cases


def world_of(case: KueueCase) -> facts.World:
    """The case's world; pending workloads of queues that do not exist are left out, as they wait nowhere."""
    names = {queue.name for queue in case.cluster_queues}
    return facts.World(
        flavors=tuple(flavor(part) for part in case.flavors),
        cohorts=tuple(
            facts.Cohort(name=c.name, parent=c.parent, weight=_weight(c.weight), groups=_groups(c.groups))
            for c in case.cohorts
        ),
        queues=tuple(_queue(part) for part in case.cluster_queues),
        admitted=tuple(_admitted(part) for part in case.admitted if part.queue in names),
        pending=tuple(pending(part) for part in case.pending if part.queue in names),
        config=scheduler_config(case.config),
    )


def scheduler_config(part: ConfigPart) -> SchedulerConfig:
    unknown = [name for name, is_on in part.gates.items() if name not in GATES and is_on]
    if unknown:
        raise ValueError(f"gates that are not implemented: {unknown}")
    return SchedulerConfig(
        fair_sharing=part.fair_sharing,
        fair_strategies=part.strategies or BOTH_STRATEGIES,
        gates=Gates(**{GATES[name]: is_on for name, is_on in part.gates.items() if name in GATES}),
    )


def flavor(part: FlavorPart) -> facts.ResourceFlavor:
    return facts.ResourceFlavor(
        name=part.name,
        labels=part.labels,
        taints=tuple(taint(t) for t in part.taints),
        tolerations=tuple(toleration(t) for t in part.tolerations),
    )


def taint(part: TaintPart) -> facts.Taint:
    return facts.Taint(key=part.key, value=part.value, effect=part.effect)


def toleration(part: TolerationPart) -> facts.Toleration:
    return facts.Toleration(key=part.key, operator=part.operator, value=part.value, effect=part.effect)


def _weight(weight: float | None) -> float:
    return 1.0 if weight is None else weight


def _groups(parts: tuple[GroupPart, ...]) -> tuple[facts.ResourceGroup, ...]:
    return tuple(
        facts.ResourceGroup(
            resources=group.resources,
            flavors=tuple(
                facts.FlavorQuotas(
                    flavor=quotas.name,
                    quotas={
                        resource: facts.Quota(
                            nominal=q.nominal, borrowing_limit=q.borrowing_limit, lending_limit=q.lending_limit
                        )
                        for resource, q in quotas.quotas.items()
                    },
                )
                for quotas in group.flavors
            ),
        )
        for group in parts
    )


def _queue(part: QueuePart) -> facts.ClusterQueue:
    preemption, fungibility = part.preemption, part.fungibility
    borrow = preemption.borrow_in_cohort
    return facts.ClusterQueue(
        name=part.name,
        cohort=part.cohort,
        strategy=part.strategy,
        weight=_weight(part.weight),
        groups=_groups(part.groups),
        preemption=QueuePreemption(
            within_queue=preemption.within_queue,
            reclaim_in_cohort=preemption.reclaim_in_cohort,
            borrow_in_cohort=None
            if borrow is None
            else BorrowWithinCohort(
                policy=borrow.policy or PreemptionPolicy.NEVER,
                max_priority_threshold=borrow.max_priority_threshold,
            ),
        ),
        fungibility=Fungibility(
            when_can_borrow=fungibility.when_can_borrow,
            when_can_preempt=fungibility.when_can_preempt,
            preference=fungibility.preference or FungibilityPreference.BORROWING_OVER_PREEMPTION,
        ),
    )


def _admitted(part: AdmittedPart) -> facts.AdmittedWorkload:
    return facts.AdmittedWorkload(
        uid=part.name,
        queue=part.queue,
        priority=part.priority,
        queued_at_s=part.created_s,
        reserved_at_s=part.reserved_s,
        is_evicting=part.evicting,
        podsets=tuple(
            facts.AdmittedPodSet(name=p.name, count=p.count, flavors=p.flavors, usage=p.usage) for p in part.podsets
        ),
    )


def pending(part: PendingPart) -> facts.PendingWorkload:
    return facts.PendingWorkload(
        uid=part.name,
        queue=part.queue,
        priority=part.priority,
        queued_at_s=part.created_s,
        is_eligible=part.eligible,
        podsets=tuple(podset(p) for p in part.podsets),
    )


def podset(part: PendingPodSetPart) -> facts.PodSetRequest:
    replaces = part.replaces
    return facts.PodSetRequest(
        name=part.name,
        count=part.count,
        min_count=part.min_count,
        reclaimable=part.reclaimable or 0,
        requests=part.requests,
        node_selector=part.node_selector,
        affinity=tuple(
            tuple(facts.NodeRequirement(key=e.key, operator=e.op, values=e.values) for e in term)
            for term in part.affinity
        ),
        tolerations=tuple(toleration(t) for t in part.tolerations),
        group=part.group,
        topology=None if part.topology is None else _topology(part.topology),
        replaces=None
        if replaces is None
        else facts.ReplacedSlice(workload=None, requests=replaces.requests, flavors=replaces.flavors),
    )


def _topology(part: TopologyPart) -> facts.TopologyRequest:
    slices = tuple(facts.SliceLayer(level=s.level, size=s.size) for s in part.slices)
    if part.slice_level is not None:
        slices = (facts.SliceLayer(level=part.slice_level, size=part.slice_size), *slices)
    return facts.TopologyRequest(
        required=part.required, preferred=part.preferred, unconstrained=bool(part.unconstrained), slices=slices
    )
