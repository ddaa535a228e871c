"""Clusters, their nodes and their events, as the platform shows them at this moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from agent.toolbox.reads import Looking, LookTool, look_tool
from core.cluster.clusters import InstanceGroup, InstanceStatus, Node
from core.json_value import JsonObject, JsonValue
from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from tools.arguments import ByName, NoArgs
from tools.clusters import DESCRIBE_CLUSTER as READ_CLUSTER
from tools.clusters import LIST_CLUSTERS as READ_CLUSTERS
from tools.clusters import ClusterDetails
from tools.events import CLUSTER_EVENTS, EventsArgs
from tools.nodes import CLUSTER_NODES, ClusterNodes, NodesArgs

_MOST_CLUSTERS: Final = 25
_MOST_EVENTS: Final = 15


class NoParams(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ClusterParams(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster. Null when there is only one.")


def clusters_meant(looking: Looking, name: str | None) -> list[ClusterDetails]:
    """The named cluster, or all. Raises `InputRefused` when there is none of that name."""
    if name is not None:
        details = looking.reads.read(READ_CLUSTER, ByName(name=name))
        if details is None:
            raise InputRefused(RefusalReason.NAME_UNKNOWN, message("agent.no_such_cluster", name=name))
        return [details]
    summaries = looking.reads.read(READ_CLUSTERS, NoArgs())[:_MOST_CLUSTERS]
    found = (looking.reads.read(READ_CLUSTER, ByName(name=summary.name)) for summary in summaries)
    return [details for details in found if details is not None]


def _list_clusters(looking: Looking, params: NoParams) -> JsonObject:
    return {"clusters": [_brief(details) for details in clusters_meant(looking, None)]}


def _describe_cluster(looking: Looking, params: ClusterParams) -> JsonObject:
    return {"clusters": [_whole(looking, details) for details in clusters_meant(looking, params.cluster)]}


def _list_nodes(looking: Looking, params: ClusterParams) -> JsonObject:
    nodes: list[JsonValue] = [
        _node(details, node)
        for details in clusters_meant(looking, params.cluster)
        for node in _nodes_of(looking, details).nodes
    ]
    return {"nodes": nodes}


def _list_events(looking: Looking, params: ClusterParams) -> JsonObject:
    return {
        "events": [
            event for details in clusters_meant(looking, params.cluster) for event in _events_of(looking, details)
        ]
    }


def _brief(details: ClusterDetails) -> JsonObject:
    cluster = details.cluster
    return {
        "name": cluster.name,
        "status": cluster.status.value,
        "orchestrator": cluster.orchestrator.value,
        "nodes": f"{sum(group.current_count for group in cluster.groups)} of "
        f"{sum(group.target_count for group in cluster.groups)}",
        "groups": [_group(group) for group in cluster.groups],
        "message": cluster.failure_message,
    }


def _whole(looking: Looking, details: ClusterDetails) -> JsonObject:
    nodes = _nodes_of(looking, details)
    unusable: list[JsonValue] = [_node(details, node) for node in nodes.nodes if not node.is_usable]
    zones = Counter(node.zone for node in nodes.nodes if node.zone is not None)
    return {
        **_brief(details),
        "recovery": details.cluster.node_recovery.value,
        "running": nodes.running,
        "ready": nodes.usable if nodes.orchestrator_answers else None,
        "zones": [f"{zone}: {count}" for zone, count in sorted(zones.items())],
        "not_ready": unusable,
    }


def _group(group: InstanceGroup) -> str:
    types = ", ".join(group.instance_types)
    return f"{group.name}: {group.current_count}/{group.target_count} {types} ({group.capacity.value})"


def _nodes_of(looking: Looking, details: ClusterDetails) -> ClusterNodes:
    return looking.reads.read(CLUSTER_NODES, NodesArgs(cluster=details.cluster.name, eks_name=details.eks_name))


def _node(details: ClusterDetails, node: Node) -> JsonObject:
    return {
        "name": node.instance_id or node.logical_id,
        "cluster": details.cluster.name,
        "group": node.group,
        "status": node.status.value,
        "ready": node.is_ready,
        "health": node.health.value,
        "zone": node.zone,
        # The platform keeps the text of an old failure on a node that runs again.
        "message": "" if node.status is InstanceStatus.RUNNING else node.message,
    }


def _events_of(looking: Looking, details: ClusterDetails) -> Iterator[JsonObject]:
    events = looking.reads.read(CLUSTER_EVENTS, EventsArgs(cluster=details.cluster.name))
    for event in reversed(events[-_MOST_EVENTS:]):
        yield {
            "at": event.time.isoformat(timespec="seconds"),
            "cluster": details.cluster.name,
            "level": event.level,
            "group": event.group,
            "node": event.instance_id,
            "message": event.failure_message or event.description,
        }


LIST_CLUSTERS: Final[LookTool] = look_tool(
    "list_clusters", "All HyperPod clusters with status and node counts.", NoParams, _list_clusters
)
DESCRIBE_CLUSTER: Final[LookTool] = look_tool(
    "describe_cluster",
    "One cluster: groups, nodes running and ready, zones, recovery setting, nodes that are not usable.",
    ClusterParams,
    _describe_cluster,
)
LIST_NODES: Final[LookTool] = look_tool(
    "list_nodes", "The nodes of a cluster with status, readiness and health.", ClusterParams, _list_nodes
)
LIST_EVENTS: Final[LookTool] = look_tool(
    "list_events", "The newest events of a cluster, failures with their cause.", ClusterParams, _list_events
)
