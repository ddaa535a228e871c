"""The end of a node's own logs in CloudWatch: lifecycle scripts and HyperPod's health agent."""

from __future__ import annotations

from typing import Final

from core.json_value import JsonObject
from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.errors import TargetNotFound
from tools.reading import children, text


class NodeLogArgs(ToolArgs):
    """`stream`: `LifecycleConfig` or `SagemakerHealthMonitoringAgent`."""

    cluster: str
    cluster_arn: str
    group: str
    instance_id: str
    stream: str = "LifecycleConfig"
    lines: int = 50


def _tail(clients: Clients, args: NodeLogArgs) -> str:
    """Empty where nothing was logged."""
    query: JsonObject = {
        "logGroupName": f"/aws/sagemaker/Clusters/{args.cluster}/{args.cluster_arn.rpartition('/')[2]}",
        "logStreamName": f"{args.stream}/{args.group}/{args.instance_id}",
        "limit": args.lines,
        "startFromHead": False,
    }
    try:
        answer = clients.aws.call("logs", "GetLogEvents", query)
    except TargetNotFound:
        return ""
    return "\n".join(text(event, "message").rstrip("\n") for event in children(answer, "events"))


NODE_LOG_TAIL: Final[ReadTool[NodeLogArgs, str]] = ReadTool(name="node_log_tail", read=_tail)
