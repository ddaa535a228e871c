"""Task governance: SageMaker's compute quotas and scheduler config as Kueue objects, one namespace per team.

AWS does not publish the mapping; this is the one that its names, its published walkthroughs and Kueue's fields
suggest. Names are those of HyperPod's own command line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.cluster.instance_types import AcceleratorKind, find_instance_type
from core.json_value import JsonObject, JsonValue
from twin.jobs.seeding import seed_team, team_namespace
from twin.kube.objects import Obj, ObjectName, mapping, name_of, number, objects, put, text
from twin.kube.planes import ControlPlane

_KUEUE: Final = "kueue.x-k8s.io"
_MANAGED: Final = "sagemaker.amazonaws.com/sagemaker-managed-queue"
_COHORT: Final = "hyperpod"
_DEFAULT_BORROW_PERCENT: Final = 50


def govern(plane: ControlPlane, quotas: Sequence[JsonObject], scheduler: JsonObject | None) -> None:
    """Brings the managed Kueue objects to what the quotas in force say; namespaces of former teams stay."""
    wanted: dict[tuple[str, ObjectName], Obj] = {}
    for quota in quotas:
        team = text(quota, "ComputeQuotaTarget", "TeamName")
        seed_team(plane, team)
        namespace = team_namespace(team)
        queue = f"{namespace}-clusterqueue"
        wanted["clusterqueues", ObjectName("", queue)] = {"spec": _queue_spec(quota, namespace)}
        local = ObjectName(namespace, f"{namespace}-localqueue")
        wanted["localqueues", local] = {"spec": {"clusterQueue": queue}}
        for resource in _resources(quota):
            flavor = text(resource, "InstanceType")
            labels = {"node.kubernetes.io/instance-type": flavor}
            wanted["resourceflavors", ObjectName("", flavor)] = {"spec": {"nodeLabels": labels}}
    for row in objects(scheduler, "PriorityClasses") if scheduler else []:
        name = f"{text(row, 'Name')}-priority"
        wanted["workloadpriorityclasses", ObjectName("", name)] = {"value": number(row, "Weight") or 0}
    _bring_about(plane, wanted)


def _bring_about(plane: ControlPlane, wanted: dict[tuple[str, ObjectName], Obj]) -> None:
    for plural in ("clusterqueues", "localqueues", "resourceflavors", "workloadpriorityclasses"):
        for obj in plane.store.objects(f"{plural}.{_KUEUE}"):
            managed = text(obj, "metadata", "labels", _MANAGED) == "true"
            if managed and (plural, name_of(obj)) not in wanted:
                plane.resources.remove(f"{plural}.{_KUEUE}", name_of(obj))
    for (plural, name), body in wanted.items():
        resource = f"{plural}.{_KUEUE}"
        if plane.resources.modify(resource, name, _laid_over(body)) is None:
            metadata: dict[str, JsonValue] = {"name": name.name, "labels": {_MANAGED: "true"}}
            if name.namespace:
                metadata["namespace"] = name.namespace
            plane.resources.add(resource, {"metadata": metadata, **body})


def _laid_over(body: Obj) -> Callable[[Obj], Obj]:
    return lambda obj: {**obj, **body}


def _queue_spec(quota: JsonObject, namespace: str) -> JsonObject:
    config = mapping(quota, "ComputeQuotaConfig")
    sharing = mapping(config, "ResourceSharingConfig")
    strategy = text(sharing, "Strategy") or "LendAndBorrow"
    percent = number(sharing, "BorrowLimit")
    percent = _DEFAULT_BORROW_PERCENT if percent is None else percent
    flavors: list[JsonValue] = []
    covered: list[str] = []
    for resource in _resources(quota):
        kind, amount = _accelerators(resource)
        limits: dict[str, JsonValue] = {"name": kind, "nominalQuota": amount}
        limits["borrowingLimit"] = amount * percent // 100 if strategy == "LendAndBorrow" else 0
        if strategy == "DontLend":
            limits["lendingLimit"] = 0
        covered = [*covered, *([kind] if kind not in covered else [])]
        flavors.append({"name": text(resource, "InstanceType"), "resources": [limits]})
    own = {"LowerPriority": "LowerPriority"}.get(text(config, "PreemptTeamTasks"), "Never")
    spec: JsonObject = {
        "cohortName": _COHORT,
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [{"coveredResources": covered, "flavors": flavors}] if flavors else [],
        "preemption": {"withinClusterQueue": own, "reclaimWithinCohort": "Any"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "fairSharing": {"weight": str(number(quota, "ComputeQuotaTarget", "FairShareWeight") or 0)},
    }
    return spec if text(quota, "ActivationState") != "Disabled" else put(spec, "Hold", "stopPolicy")


def _resources(quota: JsonObject) -> list[Obj]:
    return objects(quota, "ComputeQuotaConfig", "ComputeQuotaResources")


def _accelerators(resource: Obj) -> tuple[str, int]:
    """Resource name and amount; `Count` is in instances, a type without accelerators counts its CPUs."""
    figures = find_instance_type(text(resource, "InstanceType"))
    if figures is None:
        raise LookupError(f"no figures of instance type {text(resource, 'InstanceType')}")
    has_none = figures.accelerator is AcceleratorKind.NONE
    kind, each = ("cpu", figures.vcpus) if has_none else (figures.accelerator.value, figures.accelerators)
    given = number(resource, "VCpu" if has_none else "Accelerators")
    return kind, given if given is not None else (number(resource, "Count") or 0) * each
