"""What goes wrong while nodes are set up, read from a cluster's events: no capacity, or a fault that came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from core.ids import EvidenceId
from core.messages.message import Message
from core.reasons import FailureClass
from tools.events import CLUSTER_EVENTS, ClusterEvent, EventsArgs
from tools.logs import NODE_LOG_TAIL, NodeLogArgs
from workflows.catalogue.failures import fail
from workflows.definition import Fail, StepContext

_ROUND: Final = timedelta(minutes=8)
"""HyperPod tries a node again after about ten minutes: in this long each node fails once at most."""
_ROUND_IS_OVER: Final = timedelta(minutes=3)
"""After the first refusal: by then every node of the round has been tried."""
_CAME_BACK: Final = timedelta(minutes=5)
"""A fault this much later is another attempt's, not the same one told twice."""
_NO_NEW_ATTEMPT: Final = timedelta(minutes=30)
_AT_ONCE: Final = frozenset({FailureClass.PERMISSION, FailureClass.QUOTA})
"""Another attempt cannot end otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """`said` is AWS's sentence."""

    got: int
    wanted: int
    said: str


def errors_of(ctx: StepContext, cluster: str, group: str, since: datetime) -> tuple[ClusterEvent, ...]:
    """Error events of the group and of the cluster as a whole, newest last."""
    found = ctx.read(CLUSTER_EVENTS, EventsArgs(cluster=cluster, after=since, errors_only=True))
    return tuple(event for event in found if event.group in {group, ""})


def find_shortage(
    errors: Sequence[ClusterEvent], *, wanted: int, running: int, now: datetime, patient_until: datetime | None
) -> Shortage | None:
    """Present only when the first round of attempts is over and the person has not chosen to wait."""
    if patient_until is not None and now < patient_until:
        return None
    refused = [event for event in errors if event.failure_class is FailureClass.CAPACITY]
    if not refused or now - refused[0].time < _ROUND_IS_OVER:
        return None
    recent = [event for event in errors if now - event.time <= _ROUND and event.resource_type == "Instance"]
    if not any(event.failure_class is FailureClass.CAPACITY for event in recent):
        return None
    # Only the newest events are told their reason; the others of the same round failed for the same one.
    missing = sum(event.failure_class is FailureClass.CAPACITY or not event.failure_message for event in recent)
    missing = min(missing, wanted - running)
    if missing <= 0:
        return None
    return Shortage(got=wanted - missing, wanted=wanted, said=said(refused[-1]))


def lasting_fault(errors: Sequence[ClusterEvent]) -> ClusterEvent | None:
    """The newest event of a fault that another attempt has not cured, or cannot."""
    first: dict[FailureClass, datetime] = {}
    for event in errors:
        kind = event.failure_class
        if kind is FailureClass.CAPACITY or not event.failure_message:
            continue  # the first is asked about; of the second nobody knows what it was
        if kind in _AT_ONCE or event.time - first.setdefault(kind, event.time) >= _CAME_BACK:
            return event
    return None


def somebody_tries(ctx: StepContext, cluster: str) -> bool:
    """Whether HyperPod has told anything of late."""
    recent = ctx.now - _NO_NEW_ATTEMPT
    return bool(ctx.read(CLUSTER_EVENTS, EventsArgs(cluster=cluster, after=recent)))


def node_failed(ctx: StepContext, cluster: str, cluster_arn: str, event: ClusterEvent, text: Message) -> Fail:
    """With the event and the end of the node's own log as evidence."""
    evidence = [keep_events(ctx, [event])]
    if event.instance_id:
        args = NodeLogArgs(cluster=cluster, cluster_arn=cluster_arn, group=event.group, instance_id=event.instance_id)
        if tail := ctx.read(NODE_LOG_TAIL, args):
            evidence.append(ctx.keep_evidence("lifecycle_log", tail))
    return fail(event.failure_class, text, *evidence)


def keep_events(ctx: StepContext, events: Sequence[ClusterEvent]) -> EvidenceId:
    lines = (
        f"{event.time.isoformat()} {event.level} {event.group} {event.instance_id} {event.description}"
        f" {event.failure_message}"
        for event in events
    )
    return ctx.keep_evidence("cluster_events", "\n".join(lines) or "no error events")


def said(event: ClusterEvent) -> str:
    """AWS's sentence about the fault."""
    return event.failure_message or event.description
