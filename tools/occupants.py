"""What runs on which node: the work that is disturbed when a node goes."""

from __future__ import annotations

from typing import Final

from core.json_value import JsonObject
from tools.arguments import ByName
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.jobs import JOB_LABEL, PODS
from tools.reading import children, text

_OPERATOR_LABEL: Final = "sagemaker.amazonaws.com/job-name"
_OF_THE_SYSTEM: Final = ("kube-", "aws-", "amazon-", "kueue-", "cert-manager")
_ENDED: Final = frozenset({"Succeeded", "Failed"})


def _occupants(clients: Clients, args: ByName) -> dict[str, tuple[str, ...]]:
    """`name` is the EKS cluster's. Kubernetes node -> `namespace/job`, a pod's own name where it is of no job.

    Pods of the system and of DaemonSets are on every node and count as nothing. Raises `ToolError` when the API
    server gives no answer: nobody may think then that nothing runs.
    """
    found: dict[str, set[str]] = {}
    for pod in clients.kubernetes.connect(args.name).list(PODS):
        node, namespace = text(pod, "spec", "nodeName"), text(pod, "metadata", "namespace")
        owners = children(pod, "metadata", "ownerReferences")
        is_daemon = any(text(owner, "kind") == "DaemonSet" for owner in owners)
        if node and not is_daemon and not namespace.startswith(_OF_THE_SYSTEM) and _is_live(pod):
            found.setdefault(node, set()).add(f"{namespace}/{_work_of(pod, owners)}")
    return {node: tuple(sorted(names)) for node, names in found.items()}


def _is_live(pod: JsonObject) -> bool:
    return text(pod, "status", "phase") not in _ENDED


def _work_of(pod: JsonObject, owners: list[JsonObject]) -> str:
    by_label = (text(pod, "metadata", "labels", label) for label in (JOB_LABEL, _OPERATOR_LABEL))
    by_owner = (text(owner, "name") for owner in owners)
    return next(filter(None, (*by_label, *by_owner)), text(pod, "metadata", "name"))


OCCUPANTS: Final[ReadTool[ByName, dict[str, tuple[str, ...]]]] = ReadTool(name="occupants", read=_occupants)
