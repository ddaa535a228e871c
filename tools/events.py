"""Cluster events with their failure messages, one per fault.

The list says that something failed, DescribeClusterEvent alone says why. One provisioning fault writes two
error events about a second apart with different texts; only the first of a pair is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from core.json_value import JsonObject, JsonValue
from core.reasons import FailureClass
from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.errors import RejectedByPlatform, TargetNotFound
from tools.reading import at, child, moment, text

_PAIR: Final = timedelta(seconds=2)
_MAX_EVENTS: Final = 500
_MAX_DESCRIBED: Final = 40
_LOST_READY: Final = "orchestration-ready"
"""Scaling writes "N node(s) lost orchestration-ready status" warnings: no fault."""

_CLASSES: Final = (
    (re.compile(r"sufficient capacity|InsufficientInstanceCapacity|capacity AZ", re.IGNORECASE), FailureClass.CAPACITY),
    (re.compile(r"service limit|quota", re.IGNORECASE), FailureClass.QUOTA),
    (
        re.compile(r"not authorized|does not have permission|access ?denied|assume the execution role", re.IGNORECASE),
        FailureClass.PERMISSION,
    ),
    (
        re.compile(
            r"lifecycle scripts? did not run|EFA health checks did not run|subnet|security group", re.IGNORECASE
        ),
        FailureClass.CONFIG,
    ),
)


class EventsArgs(ToolArgs):
    cluster: str
    after: datetime | None = None
    errors_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvent:
    """`level` is AWS's `Info`, `Warn` or `Error`; `failure_message` is empty where none was given."""

    event_id: str
    time: datetime
    level: str
    resource_type: str
    group: str
    instance_id: str
    description: str
    failure_message: str = ""

    @property
    def failure_class(self) -> FailureClass:
        return classify(self.failure_message or self.description)


def classify(failure: str) -> FailureClass:
    """By AWS's wording, the only thing that tells; `UNKNOWN` for words not seen before."""
    return next((found for pattern, found in _CLASSES if pattern.search(failure)), FailureClass.UNKNOWN)


def is_efa_failure(failure: str) -> bool:
    """EFA checks fail for a moment now and then; anything else of its class does not pass by itself."""
    return "EFA health checks" in failure


def _read(clients: Clients, args: EventsArgs) -> tuple[ClusterEvent, ...]:
    """Newest last. None for a cluster without Continuous provisioning, which has no events."""
    query: dict[str, JsonValue] = {"ClusterName": args.cluster, "SortOrder": "Descending"}
    if args.after is not None:
        query["EventTimeAfter"] = args.after.isoformat()
    try:
        listed = clients.aws.pages("sagemaker", "ListClusterEvents", query, "Events")
        newest = [event for row in islice(listed, _MAX_EVENTS) if (event := _event(row)) is not None]
    except RejectedByPlatform as error:
        if error.failure_class is FailureClass.CONFIG:
            return ()
        raise
    wanted = [event for event in newest if not args.errors_only or event.level == "Error"]
    kept = list(_without_pairs(reversed(wanted)))
    undescribed, described = kept[:-_MAX_DESCRIBED], kept[-_MAX_DESCRIBED:]
    return (*undescribed, *(_with_failure(clients, args.cluster, event) for event in described))


def _event(row: JsonObject) -> ClusterEvent | None:
    time = moment(row, "EventTime")
    if time is None or _LOST_READY in text(row, "Description"):
        return None
    return ClusterEvent(
        event_id=text(row, "EventId"),
        time=time,
        level=text(row, "EventLevel"),
        resource_type=text(row, "ResourceType"),
        group=text(row, "InstanceGroupName"),
        instance_id=text(row, "InstanceId"),
        description=text(row, "Description"),
    )


def _without_pairs(events: Iterator[ClusterEvent]) -> Iterator[ClusterEvent]:
    """Drops the group's own event that follows an instance's error; several instances may fail together."""
    last_instance_error: dict[str, datetime] = {}
    for event in events:
        if event.level == "Error" and event.resource_type == "Instance":
            last_instance_error[event.group] = event.time
        elif event.level == "Error" and event.resource_type == "InstanceGroup":
            before = last_instance_error.get(event.group)
            if before is not None and event.time - before <= _PAIR:
                continue
        yield event


def _with_failure(clients: Clients, cluster: str, event: ClusterEvent) -> ClusterEvent:
    if event.level == "Info":
        return event
    try:
        query: JsonObject = {"ClusterName": cluster, "EventId": event.event_id}
        answer = clients.aws.call("sagemaker", "DescribeClusterEvent", query)
    except TargetNotFound:
        return event  # only about the newest 500 are kept
    metadata = child(answer, "EventDetails", "EventDetails", "EventMetadata")
    failure = next((found for part in metadata.values() if (found := text(at(part), "FailureMessage"))), "")
    return ClusterEvent(
        event_id=event.event_id,
        time=event.time,
        level=event.level,
        resource_type=event.resource_type,
        group=event.group,
        instance_id=event.instance_id,
        description=event.description,
        failure_message=failure,
    )


CLUSTER_EVENTS: Final[ReadTool[EventsArgs, tuple[ClusterEvent, ...]]] = ReadTool(name="cluster_events", read=_read)
