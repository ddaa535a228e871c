"""Changes to nodes in batches: added to a group, taken out, rebooted, replaced.

A batch answers 200 with what it did and what it refused, so each result names the refused nodes with AWS's
codes. The changes are recognised by what they leave behind: a target that grew, nodes that are gone, a node
that lost readiness, a logical id with another instance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from core.json_value import JsonObject, JsonValue
from core.messages.message import message
from core.reasons import FailureClass
from core.risk import Risk
from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool
from tools.errors import Conflict, RejectedByPlatform, RetryableToolError, TargetNotFound
from tools.nodes import NODES, kubernetes_name
from tools.reading import child, children, number, text, texts

MAX_PER_CALL: Final = 50
"""BatchAddClusterNodes: increments of one call; BatchDelete with logical ids among the nodes."""
_TOKEN_SECONDS: Final = 7 * 3600.0
"""SageMaker keeps a client token for 8 h; an hour less, because clocks differ."""
_LIST_LAG_SECONDS: Final = 60.0
"""ListClusterNodes shows a change that much later than it happened."""
_GOING: Final = frozenset({"ShuttingDown", "NotFound"})
_ALREADY_GONE: Final = frozenset({"NodeIdNotFound"})
_PASSING: Final = frozenset({"InvalidInstanceGroupStatus"})
"""A group that is being changed takes nodes again afterwards."""


class AddNodesArgs(ToolArgs):
    """One increment of a group's target."""

    cluster: str
    group: str
    count: int = Field(ge=1, le=MAX_PER_CALL)
    zone: str = ""
    """By this account's name (`us-west-2b`); empty = wherever the group may stand."""
    part: int = 0
    """Tells the equal increments of one step apart."""


class NodeRef(ToolArgs):
    """One node: the logical id stays when the instance is replaced; no instance id yet = empty."""

    logical_id: str
    instance_id: str = ""


class NodesOfClusterArgs(ToolArgs):
    cluster: str
    eks_name: str
    nodes: tuple[NodeRef, ...]
    round: int = 0
    """Tells another attempt on nodes that were busy apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedNode:
    """`code` is AWS's own, such as `NodeIdInUse`."""

    node: str
    code: str


def refused_nodes(result: JsonObject) -> tuple[RefusedNode, ...]:
    """The nodes that a batch did not take, from its recorded result."""
    return tuple(RefusedNode(node=text(row, "node"), code=text(row, "code")) for row in children(result, "refused"))


def _add(clients: Clients, args: AddNodesArgs, token: str) -> JsonObject:
    nodes: dict[str, JsonValue] = {"InstanceGroupName": args.group, "IncrementTargetCountBy": args.count}
    if args.zone:
        nodes["AvailabilityZones"] = [args.zone]
    params: JsonObject = {"ClusterName": args.cluster, "ClientToken": token, "NodesToAdd": [nodes]}
    answer = clients.aws.call("sagemaker", "BatchAddClusterNodes", params)
    for failure in children(answer, "Failed"):
        code = text(failure, "ErrorCode")
        kind = Conflict if code in _PASSING else RejectedByPlatform
        raise kind(
            message("tools.nodes_not_added", group=args.group, code=code),
            call="sagemaker:BatchAddClusterNodes",
            failure_class=FailureClass.TRANSIENT if code in _PASSING else FailureClass.CONFIG,
            code=code,
            raw=text(failure, "Message"),
        )
    return {"nodes": sorted(text(row, "NodeLogicalId") for row in children(answer, "Successful"))}


def _group_now(clients: Clients, args: AddNodesArgs) -> JsonObject:
    answer = clients.aws.call("sagemaker", "DescribeCluster", {"ClusterName": args.cluster})
    groups = children(answer, "InstanceGroups")
    target = next((number(row, "TargetCount") for row in groups if text(row, "InstanceGroupName") == args.group), -1)
    summaries = _summaries(clients, args.cluster)
    nodes = sorted(key for key, row in summaries.items() if text(row, "InstanceGroupName") == args.group)
    return {"target": target, "nodes": nodes}


def _is_added(clients: Clients, args: AddNodesArgs, intent: Intent) -> Observation:
    """Asked only where the token cannot answer: before the first call, and when AWS has forgotten it."""
    now, before = _group_now(clients, args), intent.before
    if now["target"] == before.get("target"):
        return Absent()
    if number(now, "target") == number(before, "target") + args.count:
        return Found({"nodes": sorted(set(texts(now, "nodes")) - set(texts(before, "nodes")))})
    return CannotTell(message("tools.group_changed_since", group=args.group, cluster=args.cluster))


def _delete(clients: Clients, args: NodesOfClusterArgs, token: str) -> JsonObject:
    return _batch(clients, args, "BatchDeleteClusterNodes")


def _reboot(clients: Clients, args: NodesOfClusterArgs, token: str) -> JsonObject:
    return _batch(clients, args, "BatchRebootClusterNodes")


def _replace(clients: Clients, args: NodesOfClusterArgs, token: str) -> JsonObject:
    return _batch(clients, args, "BatchReplaceClusterNodes")


def _batch(clients: Clients, args: NodesOfClusterArgs, operation: str) -> JsonObject:
    """By instance id where there is one: every cluster takes it, and it never means another machine later."""
    instances = [node.instance_id for node in args.nodes if node.instance_id]
    logical = [node.logical_id for node in args.nodes if not node.instance_id]
    params: dict[str, JsonValue] = {"ClusterName": args.cluster}
    if instances:
        params["NodeIds"] = instances
    if logical:
        params["NodeLogicalIds"] = logical
    answer = clients.aws.call("sagemaker", operation, params)
    rows = [*children(answer, "Failed"), *children(answer, "FailedNodeLogicalIds")]
    refused: list[JsonObject] = []
    for row in rows:
        code = text(row, "Code") or text(row, "ErrorCode")
        if code not in _ALREADY_GONE:
            refused.append({"node": text(row, "NodeId") or text(row, "NodeLogicalId"), "code": code})
    return {"refused": refused}


def _are_gone(clients: Clients, args: NodesOfClusterArgs, intent: Intent) -> Observation:
    """A batch is one call: nodes of it that are still whole were refused, if any of it went."""
    there = _by_either_id(_summaries(clients, args.cluster))
    left = [
        node
        for node in args.nodes
        if (row := there.get(node.instance_id or node.logical_id)) is not None
        and text(row, "InstanceStatus", "Status") not in _GOING
    ]
    if not left:
        return Found({"refused": []})
    return Absent()  # deleting again takes nothing that was not meant: the ids are of these nodes alone


def _instances_now(clients: Clients, args: NodesOfClusterArgs) -> JsonObject:
    return {"marks": _marks(clients, args)}


def _marks(clients: Clients, args: NodesOfClusterArgs) -> dict[str, JsonValue]:
    """Logical id -> what a reboot or a replacement changes for good: instance, boot and moment of readiness."""
    summaries, joined = _summaries(clients, args.cluster), _joined(clients, args.eks_name)
    marks: dict[str, JsonValue] = {}
    for node in args.nodes:
        instance = text(summaries.get(node.logical_id, {}), "InstanceId")
        row = joined.get(kubernetes_name(instance), {})
        ready = next((c for c in children(row, "status", "conditions") if text(c, "type") == "Ready"), {})
        marks[node.logical_id] = [
            instance,
            text(row, "status", "nodeInfo", "bootID"),
            text(ready, "status"),
            text(ready, "lastTransitionTime"),
        ]
    return marks


def _are_rebooted(clients: Clients, args: NodesOfClusterArgs, intent: Intent) -> Observation:
    """Any of them having left readiness since: one call asks for all, and who did not go was refused."""
    before, now = child(intent.before, "marks"), _marks(clients, args)
    summaries = _summaries(clients, args.cluster)
    untouched = [
        node.logical_id
        for node in args.nodes
        if now[node.logical_id] == _as_list(before, node.logical_id)
        and text(summaries.get(node.logical_id, {}), "InstanceStatus", "Status") in {"Running", "Failure"}
    ]
    return _from_untouched(args, untouched)


def _are_replaced(clients: Clients, args: NodesOfClusterArgs, intent: Intent) -> Observation:
    summaries = _summaries(clients, args.cluster)
    untouched = [
        node.logical_id
        for node in args.nodes
        if text(summaries.get(node.logical_id, {}), "InstanceId") == node.instance_id
        and text(summaries.get(node.logical_id, {}), "InstanceStatus", "Status") in {"Running", "Failure"}
    ]
    return _from_untouched(args, untouched)


def _from_untouched(args: NodesOfClusterArgs, untouched: Sequence[str]) -> Observation:
    if len(untouched) == len(args.nodes):
        return Absent()
    return Found({"refused": [{"node": node, "code": "NotTaken"} for node in untouched]})


def _as_list(marks: JsonObject, key: str) -> list[JsonValue]:
    found = marks.get(key)
    return list(found) if isinstance(found, list | tuple) else []


def _summaries(clients: Clients, cluster: str) -> dict[str, JsonObject]:
    query: JsonObject = {"ClusterName": cluster, "IncludeNodeLogicalIds": True}
    rows = clients.aws.pages("sagemaker", "ListClusterNodes", query, "ClusterNodeSummaries")
    return {text(row, "NodeLogicalId") or text(row, "InstanceId"): row for row in rows}


def _by_either_id(summaries: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    by_instance = {text(row, "InstanceId"): row for row in summaries.values() if text(row, "InstanceId")}
    return {**summaries, **by_instance}


def _joined(clients: Clients, eks_name: str) -> dict[str, JsonObject]:
    """Kubernetes nodes by name; none from an API server that does not answer."""
    try:
        rows = clients.kubernetes.connect(eks_name).list(NODES) if eks_name else []
    except (Conflict, RetryableToolError, TargetNotFound):
        return {}
    return {text(row, "metadata", "name"): row for row in rows}


NODE_MARKS: Final[ReadTool[NodesOfClusterArgs, dict[str, JsonValue]]] = ReadTool(name="node_marks", read=_marks)

ADD_NODES: Final[EffectTool[AddNodesArgs]] = EffectTool(
    name="add_nodes",
    call="sagemaker:BatchAddClusterNodes",
    risk=Risk.SPENDING,
    act=_add,
    observe=_is_added,
    before=_group_now,
    honours_token=True,
    may_repeat=False,
    token_seconds=_TOKEN_SECONDS,
)
DELETE_NODES: Final[EffectTool[NodesOfClusterArgs]] = EffectTool(
    name="delete_nodes",
    call="sagemaker:BatchDeleteClusterNodes",
    risk=Risk.DESTRUCTIVE,
    act=_delete,
    observe=_are_gone,
    settle_seconds=_LIST_LAG_SECONDS,
)
REBOOT_NODES: Final[EffectTool[NodesOfClusterArgs]] = EffectTool(
    name="reboot_nodes",
    call="sagemaker:BatchRebootClusterNodes",
    risk=Risk.DESTRUCTIVE,
    act=_reboot,
    observe=_are_rebooted,
    before=_instances_now,
    settle_seconds=_LIST_LAG_SECONDS,
)
REPLACE_NODES: Final[EffectTool[NodesOfClusterArgs]] = EffectTool(
    name="replace_nodes",
    call="sagemaker:BatchReplaceClusterNodes",
    risk=Risk.DESTRUCTIVE,
    act=_replace,
    observe=_are_replaced,
    settle_seconds=_LIST_LAG_SECONDS,
)
