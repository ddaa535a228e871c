"""Cluster events and operations as the API shows them."""

from __future__ import annotations

from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.aws.sagemaker import rules
from twin.aws.sagemaker.clusters import find
from twin.world.state import Cluster, Event, Operation


def list_cluster_events(ctx: Context, params: Params) -> Reply:
    """Without metadata: the failure message comes from DescribeClusterEvent alone."""
    cluster = find(ctx.seen, params.text("ClusterName"))
    rules.require_continuous(cluster, "ListClusterEvents")
    after, before = params.moment("EventTimeAfter"), params.moment("EventTimeBefore")
    wanted = {
        "group": params.text("InstanceGroupName"),
        "instance_id": params.text("NodeId"),
        "resource_type": params.text("ResourceType"),
        "operation_id": params.text("OperationId"),
    }
    found = [
        event
        for event in cluster.events
        if all(not value or getattr(event, key) == value for key, value in wanted.items())
        and (after is None or event.time > after)
        and (before is None or event.time < before)
    ]
    found.sort(key=lambda event: event.time, reverse=params.text("SortOrder", "Descending") == "Descending")
    chosen, token = page(found, params)
    return {"Events": [_event(cluster, event) for event in chosen], "NextToken": token}


def describe_cluster_event(ctx: Context, params: Params) -> Reply:
    """Doubly nested, as the service has it: EventDetails.EventDetails.EventMetadata."""
    cluster = find(ctx.seen, params.text("ClusterName"))
    rules.require_continuous(cluster, "DescribeClusterEvent")
    for event in cluster.events:
        if event.event_id == params.text("EventId"):
            metadata = {"EventMetadata": event.metadata} if event.metadata else None
            return {"EventDetails": {**_event(cluster, event), "EventDetails": metadata}}
    raise AwsError("ResourceNotFound", f"Event {params.text('EventId')} not found.")


def list_cluster_operations(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.seen, params.text("ClusterName"))
    after, before = params.moment("CreationTimeAfter"), params.moment("CreationTimeBefore")
    found = [
        operation
        for operation in cluster.operations
        if params.text("Status", operation.status) == operation.status
        and params.text("Type", operation.kind) == operation.kind
        and (after is None or operation.created_at > after)
        and (before is None or operation.created_at < before)
    ]
    found.sort(key=lambda op: op.created_at, reverse=params.text("SortOrder", "Descending") == "Descending")
    chosen, token = page(found, params)
    return {"ClusterOperationSummaries": [_operation(cluster, op) for op in chosen], "NextToken": token}


def describe_cluster_operation(ctx: Context, params: Params) -> Reply:
    cluster = find(ctx.seen, params.text("ClusterName"))
    for operation in cluster.operations:
        if operation.operation_id == params.text("OperationId"):
            return {
                **_operation(cluster, operation),
                "ScalingDetails": operation.scaling or None,
                "DeepHealthCheckDetails": operation.health_checks or None,
            }
    raise AwsError("ResourceNotFound", f"Operation {params.text('OperationId')} not found.")


OPERATIONS: dict[str, Handler] = {
    "ListClusterEvents": list_cluster_events,
    "DescribeClusterEvent": describe_cluster_event,
    "ListClusterOperations": list_cluster_operations,
    "DescribeClusterOperation": describe_cluster_operation,
}


def _event(cluster: Cluster, event: Event) -> dict[str, object]:
    return {
        "EventId": event.event_id,
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "InstanceGroupName": event.group or None,
        "InstanceId": event.instance_id or None,
        "ResourceType": event.resource_type,
        "EventTime": event.time,
        "Description": event.description,
        "EventLevel": event.level,
        "OperationId": event.operation_id or None,
    }


def _operation(cluster: Cluster, operation: Operation) -> dict[str, object]:
    return {
        "OperationId": operation.operation_id,
        "ClusterArn": cluster.arn,
        "Type": operation.kind,
        "Status": operation.status,
        "CreationTime": operation.created_at,
    }
