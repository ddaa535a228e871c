"""HyperPod's own care for nodes: its agent sees a fault, labels the node, and recovery reboots or replaces it.

What the agent does per Xid is published for 74 (replace) and 73 (reboot) only; the other codes follow the list
of the EKS node monitoring agent, sorted by whether the part can come back after a reset. A fault of EFA alone is
in nobody's list: nothing happens.
"""

from __future__ import annotations

import json

from twin.world import durations, events, joining, nodelogs
from twin.world.environment import Environment
from twin.world.provisioning import Provisioning
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import Cluster, Node

REPLACE_XIDS = frozenset({48, 54, 62, 64, 74, 79, 95, 140, 142, 151})
REBOOT_XIDS = frozenset({46, 63, 73, 109, 110, 119, 120, 136, 143, 155, 156, 158})
FAULT_TYPES = {
    "UnschedulablePendingReboot": "NvidiaErrorReboot",
    "UnschedulablePendingReplacement": "NvidiaErrorTerminate",
}
PENDING = {"UnschedulablePendingReboot": "reboot", "UnschedulablePendingReplacement": "replace"}


class Recovery:
    """Faults of nodes and what follows from them."""

    def __init__(self, provisioning: Provisioning, environment: Environment) -> None:
        self._provisioning, self._environment = provisioning, environment

    def actions(self) -> dict[str, TimerAction]:
        return {"recovery.label": self._label, "recovery.act": self._act}

    def xid(self, sim: Simulation, cluster: Cluster, node: Node, code: int) -> None:
        """A kernel line in the node's log; the agent reads it like everybody else."""
        line = f"kernel: NVRM: Xid (PCI:0000:53:00): {code}, pid='<unknown>', name=<unknown>"
        verdict = (
            "UnschedulablePendingReplacement"
            if code in REPLACE_XIDS
            else "UnschedulablePendingReboot"
            if code in REBOOT_XIDS
            else ""
        )
        self._detect(sim, cluster, node, line, "XidHardwareFailure", verdict)

    def gpu_lost(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        """A count mismatch is rebooted (release notes of the agent)."""
        line = "nvidia-smi: GPU count mismatch: one GPU is not listed"
        self._detect(sim, cluster, node, line, "NvidiaGPUUnhealthy", "UnschedulablePendingReboot")

    def efa_down(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        self._detect(sim, cluster, node, "kernel: efa 0000:5a:00.0: device is not responding", "NetworkFaultType", "")

    def unreachable(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        node.is_reachable = False
        joining.set_ready(sim, cluster, node, False, "NodeStatusUnknown")
        self._label_later(sim, cluster, node, "UnschedulablePendingReplacement", durations.UNREACHABLE_DETECTION)

    def label_changed(self, sim: Simulation, eks_name: str, node_name: str, value: str | None) -> None:
        """Somebody labelled a node: the manual way into the same recovery."""
        for cluster in sim.world.clusters.values():
            for node in cluster.nodes.values():
                is_meant = cluster.eks_name == eks_name and node.kubernetes_name == node_name
                if is_meant and value and value != node.health:
                    node.health = value
                    self._act_later(sim, cluster, node)

    def _detect(self, sim: Simulation, cluster: Cluster, node: Node, line: str, reason: str, verdict: str) -> None:
        lines, node.defect = [line], reason if node.defect == "" else node.defect
        if verdict:
            event = {"HealthMonitoringAgentDetectionEvent": {"reason": reason, "message": line, "action": verdict}}
            lines.append(json.dumps(event))
            self._label_later(sim, cluster, node, verdict, durations.AGENT_DETECTION)
        nodelogs.write(self._environment, sim, cluster, node, "SagemakerHealthMonitoringAgent", lines)

    def _label_later(self, sim: Simulation, cluster: Cluster, node: Node, value: str, bounds: durations.Bounds) -> None:
        sim.after(sim.between(bounds), "recovery.label", **_names(cluster, node), value=value)

    def _label(self, sim: Simulation, args: dict[str, str]) -> None:
        found = _find(sim, args)
        if found is not None:
            cluster, node = found
            self._provisioning.set_health(sim, cluster, node, args["value"])
            joining.label(sim, cluster, node, joining.FAULT_REASON_LABEL, node.defect or None)
            joining.label(sim, cluster, node, joining.FAULT_TYPE_LABEL, FAULT_TYPES.get(args["value"]))
            self._act_later(sim, cluster, node)

    def _act_later(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        """With NodeRecovery None the label stays and nothing happens."""
        if node.health in PENDING and cluster.spec.get("NodeRecovery", "Automatic") == "Automatic":
            delay = sim.between(durations.RECOVERY_START)
            sim.after(delay, "recovery.act", **_names(cluster, node), value=node.health)

    def _act(self, sim: Simulation, args: dict[str, str]) -> None:
        found = _find(sim, args)
        if found is None or found[1].health != args["value"] or found[1].status != "Running":
            return
        cluster, node = found
        events.emit(
            sim,
            cluster,
            "Instance likely experienced a hardware failure and is being recovered.",
            level="Warn",
            resource="Instance",
            node=node,
        )
        if PENDING[args["value"]] == "reboot":
            self._provisioning.reboot(sim, cluster, node)
        else:
            self._provisioning.replace(sim, cluster, node)


def _names(cluster: Cluster, node: Node) -> dict[str, str]:
    return {"cluster": cluster.cluster_id, "instance": node.instance_id or ""}


def _find(sim: Simulation, args: dict[str, str]) -> tuple[Cluster, Node] | None:
    """By the instance: a replacement has no part in its predecessor's fault."""
    cluster = events.find_cluster(sim.world, args["cluster"])
    if cluster is None:
        return None
    node = next((n for n in cluster.nodes.values() if n.instance_id == args["instance"]), None)
    return (cluster, node) if node is not None else None
