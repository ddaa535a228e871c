"""Nodes as two systems see them: SageMaker says Running, the cluster's API server says Ready. Both count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.cluster.clusters import InstanceStatus, Node, NodeHealthStatus
from core.ids import InstanceId, InstanceTypeName, NodeLogicalId, ZoneId
from core.json_value import JsonObject
from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.errors import Conflict, RetryableToolError, TargetNotFound
from tools.reading import children, flag, number, text

HEALTH_LABEL: Final = "sagemaker.amazonaws.com/node-health-status"
NODES: Final = "v1/nodes"


class NodesArgs(ToolArgs):
    cluster: str
    eks_name: str = ""
    """Empty: the orchestrator is not asked, and no node counts as ready."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNodes:
    nodes: tuple[Node, ...]
    orchestrator_answers: bool
    """False: its API server gave no answer, so nothing is known about readiness."""
    allocatable: dict[str, dict[str, int]]
    """Kubernetes node name -> accelerator resource -> how many pods may ask for."""

    @property
    def running(self) -> int:
        return sum(node.status is InstanceStatus.RUNNING for node in self.nodes)

    @property
    def usable(self) -> int:
        return sum(node.is_usable for node in self.nodes)


def kubernetes_name(instance_id: str) -> str:
    return f"hyperpod-{instance_id}"


def _read(clients: Clients, args: NodesArgs) -> ClusterNodes:
    query: JsonObject = {"ClusterName": args.cluster, "IncludeNodeLogicalIds": True}
    summaries = list(clients.aws.pages("sagemaker", "ListClusterNodes", query, "ClusterNodeSummaries"))
    joined, answers = _joined(clients, args.eks_name)
    nodes = tuple(_node(summary, joined) for summary in summaries)
    return ClusterNodes(
        nodes=tuple(sorted(nodes, key=lambda node: (node.group, node.logical_id))),
        orchestrator_answers=answers,
        allocatable={name: _accelerators(row) for name, row in joined.items()},
    )


def _joined(clients: Clients, eks_name: str) -> tuple[dict[str, JsonObject], bool]:
    """Kubernetes nodes by name, and whether the API server answered."""
    if not eks_name:
        return {}, False
    try:
        rows = clients.kubernetes.connect(eks_name).list(NODES)
    except (Conflict, RetryableToolError, TargetNotFound):
        return {}, False
    return {text(row, "metadata", "name"): row for row in rows}, True


def _node(summary: JsonObject, joined: dict[str, JsonObject]) -> Node:
    instance_id = text(summary, "InstanceId")
    row = joined.get(kubernetes_name(instance_id), {}) if instance_id else {}
    return Node(
        logical_id=NodeLogicalId(text(summary, "NodeLogicalId") or instance_id),
        instance_id=InstanceId(instance_id) if instance_id else None,
        group=text(summary, "InstanceGroupName"),
        instance_type=InstanceTypeName(text(summary, "InstanceType")),
        zone=_zone(row),
        status=InstanceStatus(text(summary, "InstanceStatus", "Status")),
        is_ready=is_ready(row),
        health=NodeHealthStatus(text(row, "metadata", "labels", HEALTH_LABEL) or NodeHealthStatus.SCHEDULABLE),
        message=text(summary, "InstanceStatus", "Message"),
    )


def is_ready(row: JsonObject) -> bool:
    """Ready, and not cordoned."""
    is_up = any(
        text(condition, "type") == "Ready" and text(condition, "status") == "True"
        for condition in children(row, "status", "conditions")
    )
    return is_up and not flag(row, "spec", "unschedulable")


def _zone(row: JsonObject) -> ZoneId | None:
    """From `aws:///<zone id>/sagemaker/cluster/...`."""
    parts = text(row, "spec", "providerID").split("/")
    return ZoneId(parts[3]) if len(parts) > 3 and parts[3] else None


def _accelerators(row: JsonObject) -> dict[str, int]:
    found = {}
    for resource in ("nvidia.com/gpu", "aws.amazon.com/neurondevice"):
        value = text(row, "status", "allocatable", resource)
        count = int(value) if value.isdigit() else number(row, "status", "allocatable", resource)
        if count:
            found[resource] = count
    return found


CLUSTER_NODES: Final[ReadTool[NodesArgs, ClusterNodes]] = ReadTool(name="cluster_nodes", read=_read)
