"""Cluster events and scaling operations: what HyperPod tells about what it does."""

from __future__ import annotations

from twin.world import durations
from twin.world.simulation import Simulation
from twin.world.state import Cluster, Event, Node, Operation, Spec, World

MAX_EVENTS = 500
"""About as many of the newest are kept by the service."""


def emit(
    sim: Simulation,
    cluster: Cluster,
    description: str,
    *,
    level: str = "Info",
    resource: str = "Cluster",
    group: str = "",
    node: Node | None = None,
    metadata: Spec | None = None,
) -> None:
    """Events exist under Continuous provisioning only."""
    if not cluster.is_continuous:
        return
    running = next((op.operation_id for op in reversed(cluster.operations) if op.status == "InProgress"), "")
    cluster.events.append(
        Event(
            event_id=sim.uuid(),
            resource_type=resource,
            time=sim.now,
            level=level,
            description=description,
            group=node.group if node is not None else group,
            instance_id=(node.instance_id or "") if node is not None else "",
            operation_id=running,
            metadata=metadata or {},
        )
    )
    del cluster.events[:-MAX_EVENTS]


def emit_node_failure(sim: Simulation, cluster: Cluster, node: Node, failure: str) -> None:
    """One fault, two error events about a second apart with different texts."""
    metadata: Spec = {"Instance": {"FailureMessage": failure, "NodeLogicalId": node.logical_id}}
    where = {"level": "Error", "resource": "Instance"}
    emit(
        sim,
        cluster,
        f"Failed to provision EC2 Instance for instance group {node.group}.",
        node=node,
        metadata=metadata,
        **where,
    )
    sim.after(
        durations.SECOND_EVENT,
        "event.second",
        cluster=cluster.cluster_id,
        node=node.logical_id,
        group=node.group,
        failure=failure,
    )


def emit_second_failure(sim: Simulation, args: dict[str, str]) -> None:
    """The second of the pair."""
    cluster = find_cluster(sim.world, args["cluster"])
    if cluster is None:
        return
    metadata: Spec = {
        "InstanceGroupScaling": {
            "FailureMessage": args["failure"],
            "InstanceCount": current_count(cluster, args["group"]),
            "TargetCount": cluster.groups[args["group"]].target if args["group"] in cluster.groups else 0,
        }
    }
    text = f"Instance creation in instance group {args['group']} failed."
    emit(sim, cluster, text, level="Error", resource="InstanceGroup", group=args["group"], metadata=metadata)


def find_cluster(world: World, cluster_id: str) -> Cluster | None:
    """By its random id: a timer of a deleted cluster must not meet a new one of the same name."""
    return next((c for c in world.clusters.values() if c.cluster_id == cluster_id), None)


COUNTED = frozenset({"Running", "SystemUpdating", "DeepHealthCheckInProgress", "ShuttingDown"})
"""Node states that `CurrentCount` counts: the instance is there."""


def current_count(cluster: Cluster, group: str) -> int:
    return sum(node.status in COUNTED for node in cluster.nodes_of(group))


def begin_scaling(sim: Simulation, cluster: Cluster, changed: dict[str, int]) -> str:
    """A new Scaling operation for groups -> former target; one that was under way is superseded."""
    for operation in cluster.operations:
        if operation.kind == "Scaling" and operation.status == "InProgress":
            operation.status = "Superseded"
    operation = Operation(operation_id=sim.uuid(), kind="Scaling", status="InProgress", created_at=sim.now)
    for name, former_target in changed.items():
        group, current = cluster.groups[name], current_count(cluster, name)
        minimum = int(group.spec.get("MinInstanceCount", 0))
        original = {"CurrentCount": current, "TargetCount": former_target, "MinCount": minimum}
        desired = {"CurrentCount": group.target, "TargetCount": group.target, "MinCount": minimum}
        operation.scaling.append(
            {"InstanceGroupName": name, "Status": "InProgress", "Original": original, "Desired": desired}
        )
    cluster.operations.append(operation)
    for name, former_target in changed.items():
        lost = former_target - cluster.groups[name].target
        if lost > 0:  # noise that the service makes while it scales: no fault
            text = f"{lost} node(s) lost orchestration-ready status in instance group {name}."
            emit(sim, cluster, text, level="Warn", resource="InstanceGroup", group=name)
    settle_operations(cluster)
    return operation.operation_id


def settle_operations(cluster: Cluster) -> None:
    """A scaling operation is done when each of its groups has the count it was to have."""
    for operation in cluster.operations:
        if operation.kind != "Scaling" or operation.status != "InProgress":
            continue
        for detail in operation.scaling:
            group = cluster.groups.get(detail["InstanceGroupName"])
            if group is None or current_count(cluster, group.name) == group.target:
                detail["Status"] = "Done"
        if all(detail["Status"] == "Done" for detail in operation.scaling):
            operation.status = "Done"
