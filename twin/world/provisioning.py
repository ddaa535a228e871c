"""The life of a node: searched, launched, checked, joined, ready, replaced, gone; and groups that follow a target.

Pending (no instance) -> Pending (launching) -> [DeepHealthCheckInProgress] -> Running, then Ready in the orchestrator
      |  ^                    |
      v  | retry              v  lifecycle script or network
    Failure <-----------------+            (message sticky; not terminal under Continuous provisioning)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.ids import InstanceTypeName, NodeLogicalId, ZoneId
from twin.world import capacity, durations, events, joining, nodelogs
from twin.world.environment import Environment, Subnet
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import LATEST_RELEASE, Cluster, Group, Node, World

CURED_BY_REBOOT = frozenset({"NvidiaGPUUnhealthy", "XidHardwareFailure"})


class Provisioning:
    """Timer actions and the verbs that API operations use. `environment` is what else exists in the account."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def actions(self) -> dict[str, TimerAction]:
        on_node = _on_node
        return {
            "event.second": events.emit_second_failure,
            "cluster.setup": self._cluster_is_set_up,
            "cluster.gone": self._cluster_is_gone,
            "group.minimum": self._minimum_is_due,
            "node.attempt": on_node(self._attempt),
            "node.launched": on_node(self._launched),
            "node.checked": on_node(self._checked),
            "node.ready": on_node(self._ready),
            "node.gone": on_node(self._gone),
            "node.rebooted": on_node(self._rebooted),
            "node.listed": _show_in_list,
        }

    def reconcile(self, sim: Simulation, cluster: Cluster, group: Group) -> list[Node]:
        """Start or end nodes until as many stay as the target says; returns the nodes that were added."""
        staying = [node for node in cluster.nodes_of(group.name) if node.status != "ShuttingDown"]
        surplus = len(staying) - group.target
        # The service says nothing about whom a lower target hits; the twin ends the newest, unborn ones first.
        staying.sort(key=lambda node: (node.instance_id is not None, -node.created_at.timestamp()))
        for node in staying[: max(surplus, 0)]:
            self.terminate(sim, cluster, node)
        return [self.add_node(sim, cluster, group) for _ in range(-surplus)]

    def add_node(
        self,
        sim: Simulation,
        cluster: Cluster,
        group: Group,
        *,
        zones: list[str] | None = None,
        types: list[str] | None = None,
    ) -> Node:
        own_types = capacity.group_types(group)
        node = Node(
            logical_id=sim.logical_id(group.name),
            group=group.name,
            status="Pending",
            created_at=sim.now,
            instance_type=own_types[0] if len(own_types) == 1 else InstanceTypeName(""),
            only_zones=zones or [],
            only_types=[InstanceTypeName(name) for name in types or []],
        )
        cluster.nodes[node.logical_id] = node
        self.set_status(sim, cluster, node, "Pending")
        _later(sim, cluster, node, durations.CAPACITY_SEARCH, "node.attempt")
        return node

    def set_status(self, sim: Simulation, cluster: Cluster, node: Node, status: str) -> None:
        """The one place where a node's status changes; the list view follows later."""
        node.status = status
        node.status_number += 1
        args = {"cluster": cluster.cluster_id, "node": node.logical_id, "number": str(node.status_number)}
        sim.after(sim.between(durations.LIST_LAG), "node.listed", **args, status=status)
        events.settle_operations(cluster)

    def terminate(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        node.attempt += 1
        if node.instance_id is None:
            del cluster.nodes[node.logical_id]
            events.settle_operations(cluster)
            return
        joining.leave(sim, cluster, node)
        self.set_status(sim, cluster, node, "ShuttingDown")
        _later(sim, cluster, node, durations.NODE_TERMINATION, "node.gone")

    def replace(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        """New instance, same logical id; root and secondary volumes are lost and lifecycle scripts run again."""
        self._release(sim, cluster, node)
        node.replaced += 1
        self.set_status(sim, cluster, node, "Pending")
        _later(sim, cluster, node, durations.CAPACITY_SEARCH, "node.attempt")
        events.emit(sim, cluster, f"Node {node.logical_id} is being replaced.", resource="Instance", node=node)

    def reboot(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        """Instance id, addresses and volumes are kept; lifecycle scripts do not run."""
        node.attempt += 1
        node.rebooted += 1
        joining.set_ready(sim, cluster, node, False, "Rebooting")
        self.set_status(sim, cluster, node, "Pending")
        _later(sim, cluster, node, durations.NODE_REBOOT, "node.rebooted")
        events.emit(sim, cluster, "Instance is being rebooted.", resource="Instance", node=node)

    def deep_check(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        node.attempt += 1
        self.set_status(sim, cluster, node, "DeepHealthCheckInProgress")
        joining.label(sim, cluster, node, joining.CHECK_LABEL, "InProgress")
        self.set_health(sim, cluster, node, "Unschedulable")
        _later(sim, cluster, node, durations.DEEP_HEALTH_CHECK, "node.checked")

    def set_health(self, sim: Simulation, cluster: Cluster, node: Node, health: str) -> None:
        node.health = health
        joining.health(sim, cluster, node, health)
        if health == "Schedulable":
            for name in (joining.FAULT_TYPE_LABEL, joining.FAULT_REASON_LABEL):
                joining.label(sim, cluster, node, name, None)

    def delete_cluster(self, sim: Simulation, cluster: Cluster) -> None:
        cluster.status = "Deleting"
        for group in cluster.groups.values():
            group.status, group.target = "Deleting", 0
        for node in list(cluster.nodes.values()):
            self.terminate(sim, cluster, node)
        for node in cluster.nodes.values():
            # They end with the cluster, not each at its own time.
            sim.cancel("node.gone", cluster=cluster.cluster_id, node=node.logical_id)
        sim.after(sim.between(durations.CLUSTER_DELETION), "cluster.gone", cluster=cluster.cluster_id)

    def zones_of(self, cluster: Cluster, group: Group) -> list[ZoneId]:
        return [subnet.zone for subnet in self.subnets_of(cluster, group)]

    def subnets_of(self, cluster: Cluster, group: Group) -> list[Subnet]:
        """The group's own subnets, or the cluster's."""
        network = group.spec.get("OverrideVpcConfig") or cluster.spec.get("VpcConfig") or {}
        found = (self._environment.subnet(subnet_id) for subnet_id in network.get("Subnets", []))
        return [subnet for subnet in found if subnet is not None]

    def hold_addresses(self, world: World) -> None:
        """Once after a restart: what nodes hold is the world's knowledge, not the account's."""
        for cluster in world.clusters.values():
            for node in cluster.nodes.values():
                self._hold(cluster, node, 1)

    def make_running(self, sim: Simulation, cluster: Cluster, node: Node, grant: capacity.Grant) -> None:
        """Skip the launch, and take nothing from the pools: for worlds that begin with nodes that run."""
        sim.cancel("node.attempt", cluster=cluster.cluster_id, node=node.logical_id)
        self._assign(sim, cluster, node, grant)
        node.status = node.listed_status = "Running"
        node.status_number += 1
        node.listed_number = node.status_number  # the news of its Pending is on its way, and old by now
        joining.join(sim, cluster, cluster.groups[node.group], node)
        joining.set_ready(sim, cluster, node, True, "KubeletReady")

    def _cluster_is_set_up(self, sim: Simulation, args: dict[str, str]) -> None:
        cluster = events.find_cluster(sim.world, args["cluster"])
        if cluster is None or cluster.status == "Deleting":
            return
        if not cluster.is_continuous and (shortage := self._classic_shortage(sim, cluster)):
            _fail_classic(cluster, shortage)
            return
        if cluster.is_continuous:
            cluster.status = "InService"
            events.emit(sim, cluster, "Cluster is in service.")
        for group in cluster.groups.values():
            self.begin_group(sim, cluster, group)

    def begin_group(self, sim: Simulation, cluster: Cluster, group: Group) -> None:
        """First provisioning of a group."""
        if int(group.spec.get("MinInstanceCount", 0)) > 0:
            sim.after(durations.MINIMUM_DEADLINE, "group.minimum", cluster=cluster.cluster_id, group=group.name)
        elif cluster.is_continuous:
            group.status = "InService"
        self.reconcile(sim, cluster, group)
        self._settle_cluster(sim, cluster, group)

    def _cluster_is_gone(self, sim: Simulation, args: dict[str, str]) -> None:
        cluster = events.find_cluster(sim.world, args["cluster"])
        if cluster is not None:
            for node in list(cluster.nodes.values()):
                self._gone(sim, cluster, node)
            del sim.world.clusters[cluster.name]

    def _minimum_is_due(self, sim: Simulation, args: dict[str, str]) -> None:
        cluster = events.find_cluster(sim.world, args["cluster"])
        group = cluster.groups.get(args["group"]) if cluster is not None else None
        if cluster is None or group is None or group.has_reached_minimum:
            return
        failure = f"Instance group {group.name} did not reach MinInstanceCount within 3 hours and was rolled back."
        group.status, group.target = "Failed", 0
        self.reconcile(sim, cluster, group)
        metadata = {"InstanceGroupScaling": {"FailureMessage": failure, "TargetCount": 0}}
        events.emit(sim, cluster, failure, level="Error", resource="InstanceGroup", group=group.name, metadata=metadata)

    def _attempt(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        group = cluster.groups[node.group]
        subnets = [s for s in self.subnets_of(cluster, group) if _may_use(sim, node, s.zone)]
        if node.status == "Failure":
            self.set_status(sim, cluster, node, "Pending")
        grant = capacity.take(sim.world, group, node, [subnet.zone for subnet in subnets])
        node.waits_for_capacity = isinstance(grant, str)
        if isinstance(grant, str):
            self._fail(sim, cluster, node, grant)
            return
        needed = capacity.addresses(grant.instance_type, on_eks=cluster.eks_name is not None)
        here = max((s for s in subnets if s.zone == grant.zone), key=lambda subnet: subnet.free_addresses)
        self._assign(sim, cluster, node, replace(grant, subnet=here.subnet_id))
        if here.free_addresses < needed:
            self._release(sim, cluster, node)
            left, kind = here.free_addresses, grant.instance_type
            text = capacity.NO_ADDRESSES.format(subnet=here.subnet_id, type=kind, needed=needed, left=left)
            self._fail(sim, cluster, node, text)
            return
        events.emit(sim, cluster, "Instance is being provisioned.", resource="Instance", node=node)
        _later(sim, cluster, node, durations.NODE_LAUNCH, "node.launched")

    def _launched(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        group = cluster.groups[node.group]
        failure = self._environment.network_fault(cluster, group) or self.run_lifecycle(sim, cluster, group, node)
        if failure:
            self._release(sim, cluster, node)
            self._fail(sim, cluster, node, failure)
            return
        joining.join(sim, cluster, group, node)
        if group.spec.get("OnStartDeepHealthChecks"):
            self.deep_check(sim, cluster, node)
        else:
            self.run(sim, cluster, node)

    def _checked(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        """A defect that nobody acted on is found here, and the node replaced."""
        verdict = "Failed" if node.defect else "Passed"
        joining.label(sim, cluster, node, joining.CHECK_LABEL, verdict)
        lines = [f"Deep health check {verdict.lower()} on {node.instance_id}. {node.defect}".strip()]
        nodelogs.write(self._environment, sim, cluster, node, "DeepHealthCheckResults", lines)
        if node.defect:
            self.replace(sim, cluster, node)
        else:
            self.set_health(sim, cluster, node, "Schedulable")
            self.run(sim, cluster, node)
        _finish_health_checks(cluster)

    def run(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        self.set_status(sim, cluster, node, "Running")
        events.emit(sim, cluster, "Instance is running.", resource="Instance", node=node)
        _later(sim, cluster, node, durations.NODE_READY, "node.ready")
        self._settle_cluster(sim, cluster, cluster.groups[node.group])

    def _ready(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        if node.is_reachable:
            joining.set_ready(sim, cluster, node, True, "KubeletReady")

    def _rebooted(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        node.is_reachable = True
        if node.defect in CURED_BY_REBOOT:
            node.defect = ""
        self.set_health(sim, cluster, node, "Schedulable")
        self.run(sim, cluster, node)

    def _gone(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        self._release(sim, cluster, node)
        cluster.nodes.pop(node.logical_id, None)
        events.emit(sim, cluster, f"Node {node.logical_id} was deleted.", resource="Instance", node=node)
        events.settle_operations(cluster)
        group = cluster.groups.get(node.group)
        if group is not None and group.status == "Deleting" and not cluster.nodes_of(group.name):
            del cluster.groups[group.name]

    def _fail(self, sim: Simulation, cluster: Cluster, node: Node, failure: str) -> None:
        node.message = failure
        self.set_status(sim, cluster, node, "Failure")
        events.emit_node_failure(sim, cluster, node, failure)
        _later(sim, cluster, node, durations.CAPACITY_RETRY, "node.attempt")

    def _assign(self, sim: Simulation, cluster: Cluster, node: Node, grant: capacity.Grant) -> None:
        node.subnet = grant.subnet
        node.zone, node.instance_type = grant.zone, grant.instance_type
        node.instance_id, node.launched_at = sim.instance_id(), sim.now
        node.is_reachable, node.health, node.defect = True, "Schedulable", ""
        node.image_release = LATEST_RELEASE
        node.ip = f"10.{sim.random.randrange(256)}.{sim.random.randrange(256)}.{sim.random.randrange(4, 255)}"

        self._hold(cluster, node, 1)

    def _hold(self, cluster: Cluster, node: Node, sign: int) -> None:
        if node.subnet and node.instance_id is not None:
            count = capacity.addresses(node.instance_type, on_eks=cluster.eks_name is not None)
            self._environment.hold_addresses(node.subnet, sign * count)

    def _release(self, sim: Simulation, cluster: Cluster, node: Node) -> None:
        """The instance is gone: out of the orchestrator, back into its pool."""
        node.attempt += 1
        joining.leave(sim, cluster, node)
        self._hold(cluster, node, -1)
        capacity.give_back(sim.world, cluster.groups[node.group], node)
        node.instance_id, node.launched_at, node.zone, node.ip = None, None, None, ""

    def run_lifecycle(self, sim: Simulation, cluster: Cluster, group: Group, node: Node) -> str:
        """Run the scripts: their log is written whether they succeed or not. AWS's text of a failure, or empty."""
        failure = self._environment.lifecycle_fault(group)
        if sim.world.failing_scripts > 0:
            sim.world.failing_scripts -= 1
            failure = "Lifecycle scripts did not run successfully. The script exited with code 1."
        script = group.spec.get("LifeCycleConfig", {}).get("OnCreate")
        lines = [f"[start] running {script} on {node.instance_id}", f"[end] {failure or 'exit code 0'}"]
        if script:
            nodelogs.write(self._environment, sim, cluster, node, "LifecycleConfig", lines)
        return failure

    def _settle_cluster(self, sim: Simulation, cluster: Cluster, group: Group) -> None:
        running = sum(node.status == "Running" for node in cluster.nodes_of(group.name))
        if running >= int(group.spec.get("MinInstanceCount", 0)) and cluster.is_continuous:
            group.has_reached_minimum = True
            if group.status == "Creating":
                group.status = "InService"
        self.settle(cluster)

    def settle(self, cluster: Cluster) -> None:
        """Without Continuous provisioning a cluster is in service again when its last node is."""
        if not cluster.is_continuous and _is_complete(cluster):
            cluster.status = "InService"
            for group in cluster.groups.values():
                group.status = "InService"

    def _classic_shortage(self, sim: Simulation, cluster: Cluster) -> str:
        """Without Continuous provisioning a cluster gets all of its nodes or none."""
        for group in cluster.groups.values():
            zones = self.zones_of(cluster, group)
            types = capacity.group_types(group)
            free = max((sim.world.zones[z].free.get(t, 0) for z in zones for t in types), default=0)
            if free < group.target and capacity.plan_of(sim.world, group) is None:
                return capacity.NO_CAPACITY.format(zones=", ".join(zones), types=", ".join(types))
        return ""


def _finish_health_checks(cluster: Cluster) -> None:
    if any(node.status == "DeepHealthCheckInProgress" for node in cluster.nodes.values()):
        return
    for operation in cluster.operations:
        if operation.kind == "DeepHealthCheck" and operation.status == "InProgress":
            operation.status = "Done"


def _may_use(sim: Simulation, node: Node, zone: ZoneId) -> bool:
    return not node.only_zones or sim.world.zones[zone].name in node.only_zones


def _later(sim: Simulation, cluster: Cluster, node: Node, bounds: durations.Bounds, kind: str) -> None:
    args = {"cluster": cluster.cluster_id, "node": node.logical_id, "attempt": str(node.attempt)}
    sim.after(sim.between(bounds), kind, **args)


def _is_complete(cluster: Cluster) -> bool:
    return cluster.status in {"Creating", "Updating"} and all(
        sum(node.status == "Running" for node in cluster.nodes_of(group.name)) == group.target
        for group in cluster.groups.values()
    )


def _fail_classic(cluster: Cluster, failure: str) -> None:
    cluster.status, cluster.failure_message = "Failed", failure
    for group in cluster.groups.values():
        group.status, group.target = "Failed", 0


def _on_node(action: Callable[[Simulation, Cluster, Node], None]) -> TimerAction:
    """Find the timer's node; a timer of an earlier attempt, or of a node that is gone, does nothing."""

    def run(sim: Simulation, args: dict[str, str]) -> None:
        cluster = events.find_cluster(sim.world, args["cluster"])
        node = cluster.nodes.get(NodeLogicalId(args["node"])) if cluster is not None else None
        if cluster is None or node is None or args.get("attempt", str(node.attempt)) != str(node.attempt):
            return
        action(sim, cluster, node)

    return run


def _show_in_list(sim: Simulation, args: dict[str, str]) -> None:
    cluster = events.find_cluster(sim.world, args["cluster"])
    node = cluster.nodes.get(NodeLogicalId(args["node"])) if cluster is not None else None
    if node is not None and int(args["number"]) > node.listed_number:
        node.listed_status, node.listed_number = args["status"], int(args["number"])
