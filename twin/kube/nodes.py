"""Node objects as HyperPod's nodes show up in Kubernetes."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from core.cluster.instance_types import AcceleratorKind, InstanceType, find_instance_type
from core.json_value import JsonValue
from twin.kube.objects import Obj, ObjectName, condition_of, mapping, name_of, objects, text, with_condition
from twin.kube.resources import Resources
from twin.ports import JoiningNode

HEALTH_LABEL: Final = "sagemaker.amazonaws.com/node-health-status"
SCHEDULABLE: Final = "Schedulable"
_POD_LIMIT: Final = 110
_GIB: Final = 1024**3


def node_object(node: JoiningNode, now: datetime) -> Obj:
    """A node that has registered and is not ready yet. LookupError for an instance type without figures."""
    figures = find_instance_type(node.instance_type)
    if figures is None:
        raise LookupError(f"no figures of instance type {node.instance_type}")
    labels: dict[str, JsonValue] = {
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": node.instance_type,
        "topology.k8s.aws/zone-id": node.zone,
        "sagemaker.amazonaws.com/cluster-name": node.cluster_name,
        "sagemaker.amazonaws.com/instance-group-name": node.group,
        "sagemaker.amazonaws.com/compute-type": "hyperpod",
        HEALTH_LABEL: SCHEDULABLE,
        **node.labels,
    }
    obj: Obj = {
        "metadata": {"name": node.name, "labels": labels},
        "spec": {"providerID": node.provider_id, "taints": [dict(taint) for taint in node.taints]},
        "status": {
            "capacity": _resources(figures, figures.vcpus * 1000, figures.memory_gib * _GIB),
            "allocatable": _resources(figures, _allocatable_millicpu(figures), _allocatable_bytes(figures)),
            "addresses": [
                {"type": "Hostname", "address": node.name},
                {"type": "InternalIP", "address": "127.0.0.1"},
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": node.instance_id,
                "containerRuntimeVersion": "processes://",
                "kernelVersion": "twin",
                "kubeProxyVersion": "v1.32.0-twin",
                "kubeletVersion": "v1.32.0-twin",
                "machineID": node.instance_id,
                "operatingSystem": "linux",
                "osImage": "Muster twin",
                "systemUUID": node.instance_id,
            },
        },
    }
    return with_condition(
        obj, "Ready", status="False", reason="KubeletNotReady", message="the node is starting", now=now
    )


def set_ready(resources: Resources, node_name: str, *, ready: bool, reason: str) -> None:
    """The node's condition, and with it whether its running pods count as ready."""
    now, status = resources.clock.now(), "True" if ready else "False"
    found = resources.modify(
        "nodes",
        ObjectName("", node_name),
        lambda node: with_condition(node, "Ready", status=status, reason=reason, message=reason, now=now),
    )
    if found is None:
        return

    def changed(pod: Obj) -> Obj:
        why = "" if ready else "NodeNotReady"
        return with_condition(pod, "Ready", status=status, reason=why, message="", now=now)

    for pod in resources.store.objects("pods"):
        running = any(mapping(c, "state", "running") for c in objects(pod, "status", "containerStatuses"))
        if text(pod, "spec", "nodeName") == node_name and running:
            resources.modify("pods", name_of(pod), changed)


def is_ready(node: Obj) -> bool:
    return condition_of(node, "Ready").get("status") == "True"


def _resources(figures: InstanceType, millicpu: int, memory_bytes: int) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {
        "cpu": f"{millicpu}m" if millicpu % 1000 else str(millicpu // 1000),
        "memory": f"{memory_bytes // 1024}Ki",
        "pods": str(_POD_LIMIT),
    }
    if figures.accelerator is not AcceleratorKind.NONE:
        found[figures.accelerator.value] = str(figures.accelerators)
    if figures.efa_interfaces:
        found["vpc.amazonaws.com/efa"] = str(figures.efa_interfaces)
    return found


def _allocatable_millicpu(figures: InstanceType) -> int:
    """What HyperPod's command line leaves of the CPUs.

    Kept: 0.1 + 0.3 for the first core, 0.15 for the second, 0.1 for the third and fourth, 6 % of the rest.
    """
    cores = figures.vcpus
    reserved = 100 + 300 * min(cores, 1) + 150 * (cores >= 2) + 100 * max(0, min(cores, 4) - 2) + 60 * max(0, cores - 4)
    return cores * 1000 - reserved


def _allocatable_bytes(figures: InstanceType) -> int:
    """Reserved: 0.5 GiB, and 30 % of the first 4 GiB, 25 % of 4, 20 % of 8, 17 % of 112, 7 % of the rest."""
    left, reserved = float(figures.memory_gib), 0.5
    for size, share in ((4, 0.30), (4, 0.25), (8, 0.20), (112, 0.17), (float("inf"), 0.07)):
        part = min(left, size)
        reserved, left = reserved + part * share, left - part
    return int((figures.memory_gib - reserved) * _GIB)
