"""A node as the cluster's orchestrator sees it: joined, labelled, ready, gone. Slurm clusters have none here."""

from __future__ import annotations

from twin.ports import JoiningNode
from twin.world.simulation import Simulation
from twin.world.state import Cluster, Group, Node

HEALTH_LABEL = "sagemaker.amazonaws.com/node-health-status"
FAULT_TYPE_LABEL = "sagemaker.amazonaws.com/fault-types"
FAULT_REASON_LABEL = "sagemaker.amazonaws.com/fault-reasons"
CHECK_LABEL = "sagemaker.amazonaws.com/deep-health-check-status"


def join(sim: Simulation, cluster: Cluster, group: Group, node: Node) -> None:
    eks_name = cluster.eks_name
    if eks_name is None or node.instance_id is None or node.zone is None:
        return
    kubernetes = group.spec.get("KubernetesConfig", {})
    joining = JoiningNode(
        name=node.kubernetes_name,
        cluster_name=cluster.name,
        group=group.name,
        instance_id=node.instance_id,
        logical_id=node.logical_id,
        instance_type=node.instance_type,
        zone=node.zone,
        provider_id=f"aws:///{node.zone}/sagemaker/cluster/hyperpod-{cluster.cluster_id}-{node.instance_id}",
        labels=_topology(node)
        | {
            HEALTH_LABEL: node.health,
            "sagemaker.amazonaws.com/cluster-name": cluster.name,
            "sagemaker.amazonaws.com/instance-group-name": group.name,
        }
        | kubernetes.get("Labels", {}),
        taints=tuple(
            {"key": taint["Key"], "value": taint.get("Value", ""), "effect": taint["Effect"]}
            for taint in kubernetes.get("Taints", [])
        ),
    )
    sim.orchestration.node_joined(eks_name, joining)
    node.is_joined = True


def leave(sim: Simulation, cluster: Cluster, node: Node) -> None:
    node.is_ready = False
    if cluster.eks_name is not None and node.is_joined:
        node.is_joined = False
        sim.orchestration.node_left(cluster.eks_name, node.kubernetes_name)


def set_ready(sim: Simulation, cluster: Cluster, node: Node, ready: bool, reason: str) -> None:
    node.is_ready = ready
    if cluster.eks_name is not None and node.is_joined:
        sim.orchestration.set_node_ready(cluster.eks_name, node.kubernetes_name, ready, reason)


def health(sim: Simulation, cluster: Cluster, node: Node, value: str) -> None:
    """The health label, and the taint that keeps jobs away while it is not Schedulable."""
    label(sim, cluster, node, HEALTH_LABEL, value)
    if cluster.eks_name is not None and node.is_joined:
        present = value != "Schedulable"
        sim.orchestration.set_node_taint(cluster.eks_name, node.kubernetes_name, HEALTH_LABEL, "Unschedulable", present)


def label(sim: Simulation, cluster: Cluster, node: Node, name: str, value: str | None) -> None:
    if cluster.eks_name is not None and node.is_joined:
        sim.orchestration.set_node_label(cluster.eks_name, node.kubernetes_name, name, value)


def _topology(node: Node) -> dict[str, str]:
    """Three layers of network nodes: one spine per zone, and racks below it that the instance id picks."""
    rack = int((node.instance_id or "0")[-4:], 16)
    return {
        "topology.k8s.aws/network-node-layer-1": f"nn-{node.zone}",
        "topology.k8s.aws/network-node-layer-2": f"nn-{node.zone}-{rack % 2}",
        "topology.k8s.aws/network-node-layer-3": f"nn-{node.zone}-{rack % 4}",
    }
