"""Kueue's objects (v1beta2) as the world that `core.scheduling` decides on. All amounts in thousandths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from core.json_value import JsonValue
from core.scheduling import (
    AdmittedPodSet,
    AdmittedWorkload,
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
from core.scheduling.policies import PreemptionPolicy, QueueingStrategy, QueuePreemption
from twin.kube.objects import (
    Obj,
    array,
    condition_of,
    mapping,
    moment_of,
    name_of,
    number,
    objects,
    strings,
    text,
    uid_of,
)
from twin.kube.planes import ControlPlane
from twin.kube.quantity import requests_of, thousandths

GROUP: Final = "kueue.x-k8s.io"


def world_of(plane: ControlPlane, pending: Iterable[PendingWorkload], admitted: Iterable[AdmittedWorkload]) -> World:
    """Raises ValueError for a quota that is no quantity."""
    return World(
        flavors=tuple(
            ResourceFlavor(name=name_of(flavor).name, labels=strings(flavor, "spec", "nodeLabels"))
            for flavor in plane.store.objects(f"resourceflavors.{GROUP}")
        ),
        cohorts=tuple(_cohort(cohort) for cohort in plane.store.objects(f"cohorts.{GROUP}")),
        queues=tuple(_queue(queue) for queue in plane.store.objects(f"clusterqueues.{GROUP}")),
        pending=tuple(pending),
        admitted=tuple(admitted),
    )


def pending_workload(workload: Obj, queue: ClusterQueue, *, queued_at: str, is_eligible: bool) -> PendingWorkload:
    """Only what the queue covers is counted: HyperPod's quotas leave out what they do not name."""
    covered = {resource for group in queue.groups for resource in group.resources}
    return PendingWorkload(
        uid=uid_of(workload),
        queue=queue.name,
        podsets=tuple(_podset(podset, covered) for podset in objects(workload, "spec", "podSets")),
        priority=number(workload, "spec", "priority") or 0,
        queued_at_s=seconds(queued_at),
        is_eligible=is_eligible,
    )


def admitted_workload(workload: Obj, *, is_evicting: bool) -> AdmittedWorkload:
    """From `status.admission`, which `admission_of` wrote."""
    return AdmittedWorkload(
        uid=uid_of(workload),
        queue=text(workload, "status", "admission", "clusterQueue"),
        podsets=tuple(
            AdmittedPodSet(
                name=text(row, "name"),
                count=number(row, "count") or 0,
                flavors=strings(row, "flavors"),
                usage={name: thousandths(amount) for name, amount in mapping(row, "resourceUsage").items()},
            )
            for row in objects(workload, "status", "admission", "podSetAssignments")
        ),
        priority=number(workload, "spec", "priority") or 0,
        queued_at_s=seconds(text(workload, "metadata", "creationTimestamp")),
        reserved_at_s=seconds(text(condition_of(workload, "QuotaReserved"), "lastTransitionTime")) or 0.0,
        is_evicting=is_evicting,
    )


def admission_of(admitted: AdmittedWorkload) -> Obj:
    """`status.admission` of a Workload."""
    rows: list[JsonValue] = [
        {
            "name": podset.name,
            "count": podset.count,
            "flavors": dict(podset.flavors),
            "resourceUsage": {name: f"{amount}m" for name, amount in podset.usage.items()},
        }
        for podset in admitted.podsets
    ]
    return {"clusterQueue": admitted.queue, "podSetAssignments": rows}


def seconds(written: str) -> float | None:
    moment = moment_of(written)
    return moment.timestamp() if moment is not None else None


def _podset(podset: Obj, covered: set[str]) -> PodSetRequest:
    template = mapping(podset, "template")
    return PodSetRequest(
        name=text(podset, "name"),
        count=number(podset, "count") or 0,
        requests={name: amount for name, amount in requests_of(template).items() if name in covered},
        node_selector=strings(template, "spec", "nodeSelector"),
    )


def _cohort(cohort: Obj) -> Cohort:
    parent = text(cohort, "spec", "parentName") or None
    return Cohort(name=name_of(cohort).name, parent=parent, weight=_weight(cohort), groups=_groups(cohort))


def _queue(queue: Obj) -> ClusterQueue:
    preemption = mapping(queue, "spec", "preemption")
    return ClusterQueue(
        name=name_of(queue).name,
        cohort=text(queue, "spec", "cohortName") or None,
        strategy=QueueingStrategy(text(queue, "spec", "queueingStrategy") or "BestEffortFIFO"),
        weight=_weight(queue),
        groups=_groups(queue),
        preemption=QueuePreemption(
            within_queue=PreemptionPolicy(text(preemption, "withinClusterQueue") or "Never"),
            reclaim_in_cohort=PreemptionPolicy(text(preemption, "reclaimWithinCohort") or "Never"),
        ),
    )


def _groups(owner: Obj) -> tuple[ResourceGroup, ...]:
    return tuple(
        ResourceGroup(
            resources=tuple(name for name in array(group, "coveredResources") if isinstance(name, str)),
            flavors=tuple(
                FlavorQuotas(
                    flavor=text(flavor, "name"),
                    quotas={text(row, "name"): _quota(row) for row in objects(flavor, "resources")},
                )
                for flavor in objects(group, "flavors")
            ),
        )
        for group in objects(owner, "spec", "resourceGroups")
    )


def _quota(row: Obj) -> Quota:
    borrowing, lending = row.get("borrowingLimit"), row.get("lendingLimit")
    return Quota(
        nominal=thousandths(row.get("nominalQuota", 0)),
        borrowing_limit=None if borrowing is None else thousandths(borrowing),
        lending_limit=None if lending is None else thousandths(lending),
    )


def _weight(owner: Obj) -> float:
    written = mapping(owner, "spec", "fairSharing").get("weight", "1")
    return thousandths(written) / 1000
