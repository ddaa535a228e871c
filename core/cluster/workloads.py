"""Workload: the unit of admission, in Kueue's words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.ids import ClusterName, InstanceTypeName, TeamName


class JobState(StrEnum):
    """Where a training job stands, whatever orchestrates it."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUSPENDED = "Suspended"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    STOPPED = "Stopped"

    @property
    def is_finished(self) -> bool:
        return self in {JobState.SUCCEEDED, JobState.FAILED, JobState.STOPPED}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """A homogeneous part of a workload."""

    name: str
    count: int
    min_count: int | None = None
    """Smallest count with which the workload can start; absent = `count` (all or nothing)."""
    requests: tuple[tuple[str, int], ...] = ()
    """Per pod: resource name and amount (cpu in millicores, memory in bytes, others as counts)."""
    instance_types: tuple[InstanceTypeName, ...] = ()
    """Types that the podset accepts, in order; empty = any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A job as admission sees it."""

    name: str
    cluster: ClusterName
    team: TeamName | None
    priority: int
    created_at: datetime
    podsets: tuple[PodSet, ...]
