"""Long changes of nodes that stay: new software in batches, and moves between clusters."""

from __future__ import annotations

from core.ids import NodeLogicalId
from twin.world import durations, events, joining
from twin.world.environment import Environment
from twin.world.provisioning import Provisioning
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import Cluster, Group, Node

ROLLBACK_FAILURE = "Software update of instance group {group} failed and is rolled back: {reason}"


class Upkeep:
    def __init__(self, provisioning: Provisioning, environment: Environment) -> None:
        self._provisioning, self._environment = provisioning, environment

    def actions(self) -> dict[str, TimerAction]:
        return {
            "software.batch": self._batch_is_done,
            "software.rolled_back": self._rolled_back,
            "move.detached": self._detached,
            "move.attached": self._attached,
        }

    def begin_update(self, sim: Simulation, cluster: Cluster, group: Group, batch: int) -> None:
        group.status, group.software_status = "SystemUpdating", "InProgress"
        self._next_batch(sim, cluster, group, batch)

    def begin_move(self, sim: Simulation, source: Cluster, target: Cluster, to_group: Group, node: Node) -> None:
        source.groups[node.group].target -= 1
        to_group.target += 1
        node.attempt += 1
        joining.leave(sim, source, node)
        self._provisioning.set_status(sim, source, node, "DetachInProgress")
        self._after_move(sim, "move.detached", source, target, to_group.name, node)

    def _next_batch(self, sim: Simulation, cluster: Cluster, group: Group, batch: int) -> None:
        old = [
            node
            for node in cluster.nodes_of(group.name)
            if node.status == "Running" and node.image_release != group.wanted_release
        ]
        if not old:
            self._finish(cluster, group, "Succeeded")
            return
        for node in old[:batch]:
            node.attempt += 1
            joining.set_ready(sim, cluster, node, False, "SoftwareUpdate")
            self._provisioning.set_status(sim, cluster, node, "SystemUpdating")
        delay = sim.between(durations.SOFTWARE_UPDATE_PER_BATCH)
        sim.after(delay, "software.batch", cluster=cluster.cluster_id, group=group.name, batch=str(batch))

    def _batch_is_done(self, sim: Simulation, args: dict[str, str]) -> None:
        cluster = events.find_cluster(sim.world, args["cluster"])
        group = cluster.groups.get(args["group"]) if cluster is not None else None
        if cluster is None or group is None or cluster.status == "Deleting":
            return
        updated = [node for node in cluster.nodes_of(group.name) if node.status == "SystemUpdating"]
        failures = [
            failure for node in updated if (failure := self._provisioning.run_lifecycle(sim, cluster, group, node))
        ]
        if failures:
            group.software_status = "RollbackInProgress"
            text = ROLLBACK_FAILURE.format(group=group.name, reason=failures[0])
            events.emit(
                sim,
                cluster,
                text,
                level="Error",
                resource="InstanceGroup",
                group=group.name,
                metadata={"InstanceGroup": {"FailureMessage": failures[0]}},
            )
            delay = sim.between(durations.SOFTWARE_UPDATE_PER_BATCH)
            sim.after(delay, "software.rolled_back", cluster=cluster.cluster_id, group=group.name)
            return
        for node in updated:
            node.image_release = group.wanted_release
            self._provisioning.run(sim, cluster, node)
        self._next_batch(sim, cluster, group, int(args["batch"]))

    def _rolled_back(self, sim: Simulation, args: dict[str, str]) -> None:
        cluster = events.find_cluster(sim.world, args["cluster"])
        group = cluster.groups.get(args["group"]) if cluster is not None else None
        if cluster is None or group is None:
            return
        for node in cluster.nodes_of(group.name):
            if node.status == "SystemUpdating":
                self._provisioning.run(sim, cluster, node)
        self._finish(cluster, group, "RollbackComplete")

    def _finish(self, cluster: Cluster, group: Group, status: str) -> None:
        group.software_status, group.status = status, "InService"
        if all(each.status != "SystemUpdating" for each in cluster.groups.values()):
            cluster.status = "InService"

    def _detached(self, sim: Simulation, args: dict[str, str]) -> None:
        source, target = events.find_cluster(sim.world, args["cluster"]), events.find_cluster(sim.world, args["target"])
        node = source.nodes.pop(NodeLogicalId(args["node"]), None) if source is not None else None
        if source is None or target is None or node is None:
            return
        events.settle_operations(source)
        node.group = args["group"]
        target.nodes[node.logical_id] = node
        self._provisioning.set_status(sim, target, node, "AttachInProgress")
        self._after_move(sim, "move.attached", target, target, node.group, node)

    def _attached(self, sim: Simulation, args: dict[str, str]) -> None:
        cluster = events.find_cluster(sim.world, args["cluster"])
        node = cluster.nodes.get(NodeLogicalId(args["node"])) if cluster is not None else None
        if cluster is not None and node is not None and node.status == "AttachInProgress":
            joining.join(sim, cluster, cluster.groups[node.group], node)
            self._provisioning.run(sim, cluster, node)

    def _after_move(
        self, sim: Simulation, kind: str, cluster: Cluster, target: Cluster, group: str, node: Node
    ) -> None:
        sim.after(
            sim.between(durations.NODE_DETACH),
            kind,
            cluster=cluster.cluster_id,
            target=target.cluster_id,
            group=group,
            node=node.logical_id,
        )
