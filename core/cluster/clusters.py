"""Cluster, InstanceGroup and Node, as the SageMaker API describes them.

Enum values are AWS's own strings (botocore 1.44.8, service model 2017-07-24).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.ids import ClusterName, InstanceId, InstanceTypeName, NodeLogicalId, ZoneId
from core.open_enum import OpenStrEnum


class Orchestrator(StrEnum):
    """What schedules jobs on the cluster."""

    EKS = "Eks"
    SLURM = "Slurm"


class ClusterStatus(OpenStrEnum):
    CREATING = "Creating"
    DELETING = "Deleting"
    FAILED = "Failed"
    IN_SERVICE = "InService"
    ROLLING_BACK = "RollingBack"
    SYSTEM_UPDATING = "SystemUpdating"
    UPDATING = "Updating"
    UNKNOWN = "Unknown"


class InstanceGroupStatus(OpenStrEnum):
    CREATING = "Creating"
    DEGRADED = "Degraded"
    DELETING = "Deleting"
    FAILED = "Failed"
    IN_SERVICE = "InService"
    SYSTEM_UPDATING = "SystemUpdating"
    UPDATING = "Updating"
    UNKNOWN = "Unknown"


class InstanceStatus(OpenStrEnum):
    """AWS says `Failure` where prose says failed; in Continuous mode it is not terminal."""

    ATTACH_IN_PROGRESS = "AttachInProgress"
    DEEP_HEALTH_CHECK_IN_PROGRESS = "DeepHealthCheckInProgress"
    DETACH_IN_PROGRESS = "DetachInProgress"
    FAILURE = "Failure"
    NOT_FOUND = "NotFound"
    PENDING = "Pending"
    RUNNING = "Running"
    SHUTTING_DOWN = "ShuttingDown"
    SYSTEM_UPDATING = "SystemUpdating"
    UNKNOWN = "Unknown"


class NodeHealthStatus(OpenStrEnum):
    """The value of the label `sagemaker.amazonaws.com/node-health-status`."""

    SCHEDULABLE = "Schedulable"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_PENDING_REBOOT = "UnschedulablePendingReboot"
    UNSCHEDULABLE_PENDING_REPLACEMENT = "UnschedulablePendingReplacement"
    UNKNOWN = "Unknown"


class NodeRecovery(StrEnum):
    """Who acts on a faulty node: HyperPod itself, or whoever runs the cluster."""

    AUTOMATIC = "Automatic"
    NONE = "None"


class CapacityMode(StrEnum):
    """Where instances come from: a human choice, always."""

    ON_DEMAND = "on_demand"
    TRAINING_PLAN = "training_plan"
    SPOT = "spot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One instance of a group. `logical_id` survives replacement, `instance_id` does not."""

    logical_id: NodeLogicalId
    instance_id: InstanceId | None
    """Absent until the instance has been launched."""
    group: str
    instance_type: InstanceTypeName
    zone: ZoneId | None
    status: InstanceStatus
    is_ready: bool = False
    """Joined to the orchestrator and accepting work. Running alone does not mean this."""
    health: NodeHealthStatus = NodeHealthStatus.SCHEDULABLE
    message: str = ""
    """Sticky: AWS keeps the text of the last failure through the next attempt."""

    @property
    def is_usable(self) -> bool:
        return self.status is InstanceStatus.RUNNING and self.is_ready and self.health is NodeHealthStatus.SCHEDULABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGroup:
    """Like instances in one cluster. `instance_types` has one entry, or up to 20 in order of preference."""

    name: str
    instance_types: tuple[InstanceTypeName, ...]
    status: InstanceGroupStatus
    current_count: int
    target_count: int
    zone: ZoneId | None = None
    capacity: CapacityMode = CapacityMode.ON_DEMAND
    training_plan: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A HyperPod cluster as last read."""

    name: ClusterName
    arn: str
    orchestrator: Orchestrator
    status: ClusterStatus
    groups: tuple[InstanceGroup, ...]
    node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC
    failure_message: str = ""

    @property
    def is_scaling(self) -> bool:
        """Continuous provisioning keeps `InService` while counts differ."""
        return any(group.current_count != group.target_count for group in self.groups)
