"""The kinds that the twin's API server holds: one row each.

A row says where a kind lives, what fields it takes and what `kubectl get` shows of it; storing, watching,
patching, discovery and OpenAPI follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from core.json_value import JsonValue
from twin.kube.parts import reference
from twin.kube.schema_notation import object_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of `kubectl get`. `path` is dotted; a priority above 0 shows with `-o wide` only."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePaths:
    """Where the scale subresource reads and writes, dotted."""

    spec: str
    status: str
    selector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    group: str
    """Empty for the core group."""
    version: str
    kind: str
    plural: str
    schema: dict[str, JsonValue]
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    has_status: bool = True
    """Status is written through its own subresource and survives a write of the rest."""
    scale: ScalePaths | None = None
    custom: bool = False
    """Defined by a CRD at AWS: no strategic merge patch, lists are whole."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`nodes`, or `workloads.kueue.x-k8s.io`: the same for all versions of a group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def subresources(self) -> tuple[str, ...]:
        extra = _EXTRA_SUBRESOURCES.get(self.resource, ())
        return (*(["status"] if self.has_status else []), *(["scale"] if self.scale else []), *extra)


_EXTRA_SUBRESOURCES: Final[dict[str, tuple[str, ...]]] = {
    "pods": ("log", "eviction"),
    "namespaces": ("finalize",),
}

_STATUS = "status:any"
_KUEUE, _SAGEMAKER, _INFERENCE = (
    "kueue.x-k8s.io",
    "sagemaker.amazonaws.com",
    "inference.sagemaker.aws.amazon.com",
)


def _row(
    api: str,
    kind: str,
    plural: str,
    fields: str,
    *,
    columns: str = "",
    short: str = "",
    namespaced: bool = True,
    scale: ScalePaths | None = None,
) -> Kind:
    """`fields` in schema notation beside apiVersion, kind and metadata; `columns` as `Name=path` words."""
    group, _, version = api.rpartition("/")
    schema = object_schema(f"apiVersion:str kind:str {fields}")
    properties = schema["properties"]
    if isinstance(properties, dict):
        properties["metadata"] = reference("ObjectMeta")
    return Kind(
        group=group,
        version=version,
        kind=kind,
        plural=plural,
        schema=schema,
        namespaced=namespaced,
        short_names=tuple(short.split()),
        columns=tuple(_column(word) for word in columns.split()),
        has_status="status:" in fields,
        scale=scale,
        custom=("." in group and not group.endswith(".k8s.io")) or group == _KUEUE,
    )


def _column(word: str) -> Column:
    name, _, path = word.partition("=")
    return Column(name=name.replace("_", " ").lstrip("~"), path=path, priority=int(name.startswith("~")))


BUILT_IN: Final[tuple[Kind, ...]] = (
    _row("v1", "Node", "nodes", f"spec:NodeSpec {_STATUS}", namespaced=False, short="no"),
    _row("v1", "Pod", "pods", f"spec*:PodSpec {_STATUS}", short="po"),
    _row(
        "v1",
        "Namespace",
        "namespaces",
        f"spec:any {_STATUS}",
        namespaced=False,
        short="ns",
        columns="Status=status.phase",
    ),
    _row(
        "v1",
        "Event",
        "events",
        "involvedObject*:any reason:str message:str type:str source:any firstTimestamp:any lastTimestamp:any "
        "count:int eventTime:any action:str reportingComponent:str reportingInstance:str related:any "
        "series:any",
        short="ev",
        columns="Last_Seen=lastTimestamp Type=type Reason=reason Object=involvedObject Message=message",
    ),
    _row(
        "v1",
        "ConfigMap",
        "configmaps",
        "data:{str} binaryData:{str} immutable:bool",
        short="cm",
        columns="Data=data",
    ),
    _row(
        "v1",
        "Secret",
        "secrets",
        "data:{str} stringData:{str} type:str immutable:bool",
        columns="Type=type Data=data",
    ),
    _row(
        "v1",
        "Service",
        "services",
        f"spec:any {_STATUS}",
        short="svc",
        columns="Type=spec.type Cluster-IP=spec.clusterIP",
    ),
    _row(
        "v1",
        "ServiceAccount",
        "serviceaccounts",
        "secrets:[any] imagePullSecrets:[any] automountServiceAccountToken:bool",
        short="sa",
    ),
    _row(
        "v1",
        "PersistentVolume",
        "persistentvolumes",
        f"spec:any {_STATUS}",
        namespaced=False,
        short="pv",
        columns="Capacity=spec.capacity.storage Reclaim_Policy=spec.persistentVolumeReclaimPolicy "
        "Status=status.phase Claim=spec.claimRef.name StorageClass=spec.storageClassName",
    ),
    _row(
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        f"spec:any {_STATUS}",
        short="pvc",
        columns="Status=status.phase Volume=spec.volumeName Capacity=status.capacity.storage "
        "StorageClass=spec.storageClassName",
    ),
    _row(
        "apps/v1",
        "DaemonSet",
        "daemonsets",
        f"spec:any {_STATUS}",
        short="ds",
        columns="Desired=status.desiredNumberScheduled Ready=status.numberReady",
    ),
    _row(
        "policy/v1",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        f"spec:any {_STATUS}",
        short="pdb",
        columns="Min_Available=spec.minAvailable Max_Unavailable=spec.maxUnavailable "
        "Allowed_Disruptions=status.disruptionsAllowed",
    ),
    _row(
        "storage.k8s.io/v1",
        "StorageClass",
        "storageclasses",
        "provisioner*:str parameters:{str} reclaimPolicy:str volumeBindingMode:str allowVolumeExpansion:bool "
        "mountOptions:[str] allowedTopologies:any",
        namespaced=False,
        short="sc",
        columns="Provisioner=provisioner",
    ),
    _row(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        f"spec*:any {_STATUS}",
        namespaced=False,
        short="crd crds",
    ),
    _row(
        f"{_SAGEMAKER}/v1",
        "HyperPodPyTorchJob",
        "hyperpodpytorchjobs",
        f"spec:PyTorchJobSpec {_STATUS}",
        columns="Status=status.conditions Restarts=status.restartCount",
    ),
    _row(
        f"{_KUEUE}/v1beta2",
        "ClusterQueue",
        "clusterqueues",
        f"spec:ClusterQueueSpec {_STATUS}",
        namespaced=False,
        short="cq",
        columns="Cohort=spec.cohortName Pending_Workloads=status.pendingWorkloads",
    ),
    _row(
        f"{_KUEUE}/v1beta2",
        "LocalQueue",
        "localqueues",
        f"spec:LocalQueueSpec {_STATUS}",
        short="queue queues",
        columns="ClusterQueue=spec.clusterQueue Pending_Workloads=status.pendingWorkloads",
    ),
    _row(
        f"{_KUEUE}/v1beta2",
        "ResourceFlavor",
        "resourceflavors",
        "spec:FlavorSpec",
        namespaced=False,
        short="rf",
    ),
    _row(f"{_KUEUE}/v1beta2", "Topology", "topologies", "spec:any", namespaced=False),
    _row(f"{_KUEUE}/v1beta2", "Cohort", "cohorts", f"spec:any {_STATUS}", namespaced=False),
    _row(
        f"{_KUEUE}/v1beta2",
        "WorkloadPriorityClass",
        "workloadpriorityclasses",
        "value*:int description:str",
        namespaced=False,
        columns="Value=value",
    ),
    _row(
        f"{_KUEUE}/v1beta2",
        "Workload",
        "workloads",
        f"spec:WorkloadSpec {_STATUS}",
        short="wl",
        columns="Queue=spec.queueName Reserved_In=status.admission.clusterQueue",
    ),
    _row(
        f"{_INFERENCE}/v1",
        "InferenceEndpointConfig",
        "inferenceendpointconfigs",
        f"spec:any {_STATUS}",
        scale=ScalePaths(spec="spec.replicas", status="status.replicas"),
        columns="State=status.state",
    ),
    _row(
        f"{_INFERENCE}/v1",
        "JumpStartModel",
        "jumpstartmodels",
        f"spec:any {_STATUS}",
        columns="State=status.state",
    ),
)


class Kinds:
    """The registry of one control plane: the built-in rows and those that CRDs add."""

    def __init__(self, rows: Iterable[Kind] = BUILT_IN) -> None:
        self._rows = {(row.group, row.version, row.plural): row for row in rows}

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._rows.values()))

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        return self._rows.get((group, version, plural))

    def group_versions(self) -> list[tuple[str, str]]:
        """(group, version) in the order of the rows, the core group among them."""
        return list(dict.fromkeys((row.group, row.version) for row in self))

    def named(self, resource: str) -> Kind:
        """The first row of `nodes` or `workloads.kueue.x-k8s.io`; KeyError without one."""
        for row in self:
            if row.resource == resource:
                return row
        raise KeyError(resource)

    def add(self, row: Kind) -> None:
        self._rows[(row.group, row.version, row.plural)] = row

    def remove(self, row: Kind) -> None:
        self._rows.pop((row.group, row.version, row.plural), None)
