"""Where the two halves of the twin meet: the AWS side moves nodes, the Kubernetes side shows and uses them.

The AWS half owns instances; it tells the Kubernetes half through `Orchestration`. The Kubernetes half owns
objects and pods; it tells the AWS half nothing but what `NodeAgent` names (what HyperPod's own agents on a
node would report).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from core.ids import InstanceId, InstanceTypeName, NodeLogicalId, ZoneId
from core.json_value import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class JoiningNode:
    """An instance as it registers with the cluster's API server."""

    name: str
    """`hyperpod-<instance id>`, AWS's Kubernetes node name."""
    cluster_name: str
    """The HyperPod cluster's name."""
    group: str
    instance_id: InstanceId
    logical_id: NodeLogicalId
    instance_type: InstanceTypeName
    zone: ZoneId
    provider_id: str
    labels: Mapping[str, str] = field(default_factory=dict)
    """Beyond the standard ones: the group's `KubernetesConfig.Labels`."""
    taints: tuple[Mapping[str, str], ...] = ()


class Orchestration(Protocol):
    """What the AWS half asks of the Kubernetes half. `eks_name` is the EKS cluster's name."""

    def create_control_plane(self, eks_name: str) -> None:
        """An empty API server with its standard namespaces."""

    def delete_control_plane(self, eks_name: str) -> None:
        """Its objects are gone and its pods are killed."""

    def node_joined(self, eks_name: str, node: JoiningNode) -> None:
        """Registered, `Ready=False` until `set_node_ready`."""

    def set_node_ready(self, eks_name: str, node_name: str, ready: bool, reason: str) -> None:
        """Ready=False kills nothing by itself; pods there stop being counted as ready."""

    def set_node_label(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        """`None` removes the label."""

    def set_node_taint(self, eks_name: str, node_name: str, key: str, value: str, present: bool) -> None:
        """With the effect `NoSchedule`."""

    def node_left(self, eks_name: str, node_name: str) -> None:
        """The instance is gone: its pods die with it and the node object is removed."""


class NodeAgent(Protocol):
    """What the Kubernetes half tells the AWS half."""

    def label_changed(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        """Someone set a label on a node; `sagemaker.amazonaws.com/node-health-status` triggers recovery."""

    def job_running(self, eks_name: str, job: str) -> None:
        """All pods of the job run for the first time: faults may wait for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFault:
    """What processes on a node feel of a fault."""

    kind: str
    """`xid`, `gpu_lost`, `efa_down`, `slow_node` or `node_unreachable`, as scenarios name them."""
    code: int | None = None
    """Of an Xid."""
    factor: float | None = None
    """How much slower, of `slow_node`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedJob:
    """A job that stands in a world from its first moment on."""

    name: str
    team: str
    """Empty: no team, the default namespace."""
    nodes: int
    priority: str
    """`high` or `low`."""
    state: str
    """`Pending`, `Running`, `Suspended`, `Succeeded`, `Failed` or `Stopped`; a Running one never ends by itself."""
    log: str
    """Its last line."""


class Workloads(Protocol):
    """Jobs, as the AWS half's faults and worlds need them; the Kubernetes half implements it."""

    def seed(self, eks_name: str, teams: tuple[str, ...], jobs: tuple[SeedJob, ...], mounts: tuple[str, ...]) -> None:
        """Namespaces of teams, jobs as if they had been submitted, and paths that pods can read."""

    def nodes_of_job(self, eks_name: str, job: str) -> tuple[str, ...]:
        """Node names in order of rank. Raises LookupError for an unknown job."""

    def node_fault(self, eks_name: str, node_name: str, fault: NodeFault) -> None:
        """An `xid` fails the rank there with the matching CUDA error; an unreachable node's pods fall silent."""

    def job_fault(self, eks_name: str, job: str, kind: str) -> None:
        """`job_hang`: its processes stop making steps; `loss_nan`: its next losses are NaN."""

    def live_jobs(self, eks_name: str) -> dict[str, dict[str, object]]:
        """Job name -> `state`, `nodes`, `resumed_from_step`, as a scenario's `live` block has them."""

    def readable_mounts(self, eks_name: str) -> tuple[str, ...]:
        """Paths that a pod of the cluster can read."""

    def govern(self, eks_name: str, quotas: tuple[JsonObject, ...], scheduler: JsonObject | None) -> None:
        """All compute quotas that are in force (`Name`, `ComputeQuotaTarget`, `ComputeQuotaConfig`, `ActivationState`,
        as SageMaker's API has them) and the `SchedulerConfig`: task governance turns them into Kueue objects and one
        namespace per team.
        """
