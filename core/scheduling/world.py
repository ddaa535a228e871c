"""What the scheduler is told: flavors, cohorts, queues, nodes and workloads. Plain facts, never changed.

Times are seconds on the caller's own axis; `None` sorts before every time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.scheduling.policies import Fungibility, QueueingStrategy, QueuePreemption, SchedulerConfig


class TaintEffect(StrEnum):
    NO_SCHEDULE = "NoSchedule"
    NO_EXECUTE = "NoExecute"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"


class TolerationOperator(StrEnum):
    EQUAL = "Equal"
    EXISTS = "Exists"


class SelectorOperator(StrEnum):
    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    key: str
    effect: TaintEffect
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    key: str | None = None
    """Absent with `Exists` = tolerates every taint."""
    operator: TolerationOperator = TolerationOperator.EQUAL
    value: str = ""
    effect: TaintEffect | None = None
    """Absent = every effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRequirement:
    """One expression of a node affinity term."""

    key: str
    operator: SelectorOperator
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceFlavor:
    """A kind of capacity: an instance type, a training plan, spot."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str | None = None
    """Name of the topology that its nodes form; workloads on it are placed as well as counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    nominal: int
    borrowing_limit: int | None = None
    """Most that may be used beyond the nominal quota; absent = no limit."""
    lending_limit: int | None = None
    """Most that others may take of the nominal quota; absent = all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorQuotas:
    flavor: str
    quotas: Mapping[str, Quota]
    """By resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """Resources that always come from one flavor together; `flavors` in the order they are tried."""

    resources: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """Queues (and cohorts) that lend to each other."""

    name: str
    parent: str | None = None
    weight: float = 1.0
    groups: tuple[ResourceGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQueue:
    name: str
    cohort: str | None = None
    strategy: QueueingStrategy = QueueingStrategy.BEST_EFFORT_FIFO
    weight: float = 1.0
    groups: tuple[ResourceGroup, ...] = ()
    preemption: QueuePreemption = field(default_factory=QueuePreemption)
    fungibility: Fungibility = field(default_factory=Fungibility)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLayer:
    """Pods that must stay together in one domain of `level`, `size` at a time."""

    level: str
    size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyRequest:
    """Where the pods of a podset must stand. At most one of the first three is set."""

    required: str | None = None
    """All pods in one domain of this level."""
    preferred: str | None = None
    """The same if it can be had, else a higher level, else several domains."""
    unconstrained: bool = False
    slices: tuple[SliceLayer, ...] = ()
    """From the outermost layer inwards."""

    @property
    def is_slices_only(self) -> bool:
        return bool(self.slices) and self.required is None and self.preferred is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedSlice:
    """The smaller slice of an elastic job that a bigger one takes the place of."""

    workload: str | None
    """The admitted workload's uid; absent where only its figures are known."""
    requests: Mapping[str, int]
    """Total of the old slice, by resource."""
    flavors: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSetRequest:
    """A homogeneous part of a pending workload."""

    name: str
    count: int
    requests: Mapping[str, int]
    """Per pod, by resource."""
    min_count: int | None = None
    """Smallest count with which the workload may start; absent = all of them."""
    reclaimable: int = 0
    """Pods that are done already and need no quota."""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    affinity: tuple[tuple[NodeRequirement, ...], ...] = ()
    """One term must hold; a term holds when all its expressions do."""
    tolerations: tuple[Toleration, ...] = ()
    topology: TopologyRequest | None = None
    group: str | None = None
    """Podsets of one group get the same flavors and are placed together."""
    replaces: ReplacedSlice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWorkload:
    """A workload that waits for quota."""

    uid: str
    queue: str
    podsets: tuple[PodSetRequest, ...]
    priority: int = 0
    queued_at_s: float | None = None
    """Its place among equals: the creation time, or the time of a pods-ready eviction."""
    is_eligible: bool = True
    """False = the queue's namespace rule refuses it."""
    not_before_s: float | None = None
    """End of its backoff: until then it is not tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """`count` pods in the domain with these level values."""

    values: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedPodSet:
    name: str
    count: int
    flavors: Mapping[str, str]
    """By resource."""
    usage: Mapping[str, int]
    """Total of the podset, by resource."""
    placement: tuple[Placement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedWorkload:
    """A workload that holds quota."""

    uid: str
    queue: str
    podsets: tuple[AdmittedPodSet, ...]
    priority: int = 0
    queued_at_s: float | None = None
    reserved_at_s: float = 0.0
    is_evicting: bool = False
    """Told to go, still holding its quota."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """Labels of the nodes of a topology, from the outermost level to the innermost."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyNode:
    """A node as placement sees it."""

    name: str
    labels: Mapping[str, str]
    allocatable: Mapping[str, int]
    """By resource, `pods` among them."""
    used: Mapping[str, int] = field(default_factory=dict)
    """What pods outside the scheduler's sight use of it."""
    taints: tuple[Taint, ...] = ()
    is_ready: bool = True
    is_schedulable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that a decision depends on. A cohort that is only named exists without quota of its own."""

    flavors: tuple[ResourceFlavor, ...] = ()
    cohorts: tuple[Cohort, ...] = ()
    queues: tuple[ClusterQueue, ...] = ()
    topologies: tuple[Topology, ...] = ()
    nodes: tuple[TopologyNode, ...] = ()
    admitted: tuple[AdmittedWorkload, ...] = ()
    pending: tuple[PendingWorkload, ...] = ()
    config: SchedulerConfig = field(default_factory=SchedulerConfig)
