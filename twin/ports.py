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

    def node_left(self, eks_name: str, node_name: str) -> None:
        """The instance is gone: its pods die with it and the node object is removed."""


class NodeAgent(Protocol):
    """What the Kubernetes half tells the AWS half."""

    def label_changed(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        """Someone set a label on a node; `sagemaker.amazonaws.com/node-health-status` triggers recovery."""
