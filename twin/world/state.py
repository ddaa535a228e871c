"""Everything the AWS half remembers, as plain data: what a snapshot holds and a restart continues from.

Specifications are kept as the JSON that was sent (`spec`), what moves beside them as fields. Strings are AWS's
own values. Moments are UTC, in twin time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.ids import InstanceId, InstanceTypeName, NodeLogicalId, ZoneId

# `Any` only for the JSON of stored specifications, which `Params` reads with types.
Spec = dict[str, Any]

LATEST_RELEASE = "1.4.0"
"""Of HyperPod's image; made up, in AWS's form."""
NO_TYPE_YET = InstanceTypeName("")

ACCOUNT = "123456789012"
"""moto's account: both must agree."""


@dataclass(slots=True, kw_only=True)
class Zone:
    zone_id: ZoneId
    name: str
    free: dict[InstanceTypeName, int] = field(default_factory=dict)
    """On-demand instances that can still be given, by type offered here."""


@dataclass(slots=True, kw_only=True)
class Plan:
    """A training plan with its one reserved capacity."""

    name: str
    instance_type: InstanceTypeName
    count: int
    zone: ZoneId
    status: str
    start: datetime
    end: datetime
    offering_id: str = ""
    upfront_fee: str = "0.00"
    extensions: list[Spec] = field(default_factory=list)
    created_at: datetime | None = None


@dataclass(slots=True, kw_only=True)
class Node:
    logical_id: NodeLogicalId
    group: str
    status: str
    created_at: datetime
    instance_type: InstanceTypeName = NO_TYPE_YET
    """Empty until capacity was found, except where the group has one type."""
    zone: ZoneId | None = None
    instance_id: InstanceId | None = None
    launched_at: datetime | None = None
    message: str = ""
    """Sticky: the last failure's text stays through the next attempt."""
    waits_for_capacity: bool = False
    """The last attempt found none: the next one is a background retry."""
    attempt: int = 0
    """Goes up with each attempt: a timer of an older one does nothing."""
    is_joined: bool = False
    """Known to the orchestrator."""
    is_ready: bool = False
    is_reachable: bool = True
    """False: the instance runs but answers nobody."""
    health: str = "Schedulable"
    ip: str = ""
    subnet: str = ""
    """Where its network interfaces hold addresses."""
    image_release: str = LATEST_RELEASE
    defect: str = ""
    """A fault of the hardware that nobody has acted on: a deep health check finds it."""
    status_number: int = 0
    """Goes up with each change of status: an older one must not overtake a newer one in the list."""
    listed_number: int = -1
    listed_status: str = ""
    """As ListClusterNodes shows it, which lags; empty = not listed yet."""
    only_zones: list[str] = field(default_factory=list)
    """Zone names that BatchAddClusterNodes limited this node to."""
    only_types: list[InstanceTypeName] = field(default_factory=list)
    replaced: int = 0
    rebooted: int = 0

    @property
    def kubernetes_name(self) -> str:
        return f"hyperpod-{self.instance_id}"


@dataclass(slots=True, kw_only=True)
class Group:
    name: str
    spec: Spec
    """ClusterInstanceGroupSpecification as last sent."""
    target: int
    status: str = "Creating"
    has_reached_minimum: bool = False
    software_status: str = ""
    wanted_release: str = LATEST_RELEASE


@dataclass(slots=True, kw_only=True)
class Event:
    event_id: str
    resource_type: str
    time: datetime
    level: str
    description: str
    group: str = ""
    instance_id: str = ""
    operation_id: str = ""
    metadata: Spec = field(default_factory=dict)
    """EventMetadata, which only DescribeClusterEvent shows."""


@dataclass(slots=True, kw_only=True)
class Operation:
    operation_id: str
    kind: str
    """`Scaling` or `DeepHealthCheck`."""
    status: str
    created_at: datetime
    scaling: list[Spec] = field(default_factory=list)
    health_checks: list[Spec] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Cluster:
    name: str
    cluster_id: str
    arn: str
    status: str
    created_at: datetime
    listed_from: datetime
    spec: Spec
    """CreateClusterRequest without groups and tags, with later updates merged."""
    groups: dict[str, Group] = field(default_factory=dict)
    nodes: dict[NodeLogicalId, Node] = field(default_factory=dict)
    failure_message: str = ""
    events: list[Event] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)

    @property
    def is_continuous(self) -> bool:
        return self.spec.get("NodeProvisioningMode") == "Continuous"

    @property
    def eks_name(self) -> str | None:
        eks = self.spec.get("Orchestrator", {}).get("Eks")
        return str(eks["ClusterArn"]).rpartition("/")[2] if eks else None

    def nodes_of(self, group: str) -> list[Node]:
        return [node for node in self.nodes.values() if node.group == group]


@dataclass(slots=True, kw_only=True)
class EksCluster:
    name: str
    arn: str
    status: str
    created_at: datetime
    spec: Spec
    token: str = ""
    access_entries: dict[str, Spec] = field(default_factory=dict)
    addons: dict[str, Spec] = field(default_factory=dict)
    updates: dict[str, Spec] = field(default_factory=dict)
    pod_identities: dict[str, Spec] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class GovernanceItem:
    """A compute quota or a cluster scheduler config: both are versioned specifications with a status."""

    kind: str
    """`compute-quota` or `cluster-scheduler-config`."""
    item_id: str
    name: str
    cluster_arn: str
    version: int
    status: str
    created_at: datetime
    modified_at: datetime
    spec: Spec
    failure: str = ""


@dataclass(slots=True, kw_only=True)
class FileSystem:
    file_system_id: str
    status: str
    created_at: datetime
    mount_name: str
    vpc_id: str
    zone: ZoneId
    spec: Spec
    token: str = ""
    failure: str = ""
    mounts: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class TokenUse:
    """A client token with the digest of the request that came with it, and what it made."""

    digest: str
    used_at: datetime
    made: list[str]


@dataclass(slots=True, kw_only=True, order=True)
class Timer:
    """Something that happens by itself at `due`; ordered by `due`, then `number`, which is unique."""

    due: datetime
    number: int
    kind: str
    args: dict[str, str]


@dataclass(slots=True, kw_only=True)
class Fault:
    """One injected fault: it fires once, the first time its moment comes."""

    number: int
    spec: Spec
    fired_at: datetime | None = None
    problem: str = ""
    """Why it could not be carried out when its moment came."""


@dataclass(slots=True, kw_only=True)
class World:
    region: str
    zones: dict[ZoneId, Zone]
    quotas: dict[InstanceTypeName, int] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    eks: dict[str, EksCluster] = field(default_factory=dict)
    governance: dict[str, GovernanceItem] = field(default_factory=dict)
    file_systems: dict[str, FileSystem] = field(default_factory=dict)
    tags: dict[str, dict[str, str]] = field(default_factory=dict)
    """Of SageMaker's things, by ARN."""
    associations: dict[str, Spec] = field(default_factory=dict)
    """FSx data repository associations by id."""
    quota_requests: list[Spec] = field(default_factory=list)
    offerings: dict[str, Spec] = field(default_factory=dict)
    """Training plan offerings that a search has shown, by id."""
    tokens: dict[str, TokenUse] = field(default_factory=dict)
    roles_usable_from: dict[str, datetime] = field(default_factory=dict)
    """IAM is eventually consistent: when SageMaker can first assume a role made through this twin."""
    issued_keys: dict[str, str] = field(default_factory=dict)
    """Access keys that STS handed out here -> the operation that did."""
    faults: list[Fault] = field(default_factory=list)
    windows: dict[str, datetime] = field(default_factory=dict)
    """Fault that lasts -> until when."""
    failing_scripts: int = 0
    """How many of the next launches fail in their lifecycle script."""
    failing_file_systems: int = 0
    mutations_seen: int = 0
    timers: list[Timer] = field(default_factory=list)
    timer_count: int = 0

    def zone_named(self, name: str) -> Zone | None:
        return next((zone for zone in self.zones.values() if zone.name == name), None)
