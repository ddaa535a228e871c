"""Node labels, conditions and annotations to signals: what HyperPod and Kubernetes say about a node.

No closed list of HyperPod's fault types is published, so every type and reason is kept as it is written. Marks may
contradict each other (a node labelled Schedulable with a hardware condition that is True): both are kept, and the
contradiction is named, since either side may be the stale one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from core.health.signals import NodeIdentity, Signal, SignalFamily
from core.json_value import JsonValue

PREFIX: Final = "sagemaker.amazonaws.com/"
HEALTH_STATUS: Final = PREFIX + "node-health-status"
DEEP_CHECK_STATUS: Final = PREFIX + "deep-health-check-status"
FAULT_TYPES: Final = (PREFIX + "fault-types", PREFIX + "fault-type")
"""The node carries the plural; a page of the documentation says the singular."""
FAULT_REASONS: Final = (PREFIX + "fault-reasons", PREFIX + "fault-reason")
FAULT_DETAILS: Final = PREFIX + "fault-details"
"""Annotation: a JSON array of recent faults."""
_ORDINARY: Final = frozenset({"Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"})
_DETAILS_LIMIT: Final = 50
"""An annotation is at most 256 KiB; more faults than this in one say nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCondition:
    type: str
    status: str
    """`True`, `False` or `Unknown`."""
    reason: str = ""
    message: str = ""
    since: datetime | None = None


class Contradiction(StrEnum):
    SCHEDULABLE_WITH_FAULT = "schedulable_with_fault"
    PENDING_WITHOUT_FAULT = "pending_without_fault"
    DETAILS_UNREADABLE = "details_unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMarks:
    signals: tuple[Signal, ...]
    contradictions: tuple[Contradiction, ...]


def read_marks(
    *,
    node: NodeIdentity,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    conditions: Sequence[NodeCondition],
    at: datetime,
) -> ReadMarks:
    """Signals of one node's marks as read at `at`. Never raises on what stands in them."""
    details, details_are_readable = _details(node, annotations.get(FAULT_DETAILS, ""), at)
    faults = (*_conditions(node, conditions, at), *_fault_labels(node, labels, at), *details)
    health = labels.get(HEALTH_STATUS, "")
    signals = [*faults]
    if health and health != "Schedulable":
        signals.append(_signal("health_label", health, node, at, f"{HEALTH_STATUS}={health}"))
    if deep_check := labels.get(DEEP_CHECK_STATUS, ""):
        signals.append(_signal("deep_check", deep_check, node, at, f"{DEEP_CHECK_STATUS}={deep_check}"))
    return ReadMarks(
        signals=tuple(dict.fromkeys(signals)),
        contradictions=tuple(_contradictions(health, faults, details_are_readable)),
    )


def _conditions(node: NodeIdentity, conditions: Sequence[NodeCondition], at: datetime) -> list[Signal]:
    signals = []
    for condition in conditions:
        if condition.type == "Ready" and condition.status != "True":
            signals.append(_signal("node_not_ready", condition.reason, node, condition.since or at, condition.message))
        if condition.type in _ORDINARY or condition.status != "True":
            continue
        text = f"Node condition {condition.type} is now: True, reason: {condition.reason}, message: {condition.message}"
        when = condition.since or at
        signals.append(_signal("node_condition", condition.type, node, when, text, (("state", "True"),)))
        signals.append(_signal("fault_type", condition.type, node, when, text))
    return signals


def _fault_labels(node: NodeIdentity, labels: Mapping[str, str], at: datetime) -> list[Signal]:
    """Several types stand in one label, joined by characters that label values allow."""
    reason = next((labels[name] for name in FAULT_REASONS if name in labels), "")
    return [
        _signal("fault_type", fault_type, node, at, f"{name}={labels[name]} reason {reason}")
        for name in FAULT_TYPES
        for fault_type in labels.get(name, "").replace("_", ".").replace("-", ".").split(".")
        if fault_type
    ]


def _details(node: NodeIdentity, annotation: str, at: datetime) -> tuple[list[Signal], bool]:
    if not annotation:
        return [], True
    try:
        faults: JsonValue = json.loads(annotation)
    except (ValueError, RecursionError):
        return [], False
    if not isinstance(faults, list):
        return [], False
    signals = []
    for fault in faults[:_DETAILS_LIMIT]:
        if not isinstance(fault, Mapping):
            continue
        fault_type, message = str(fault.get("type", "")), str(fault.get("message", ""))
        signals.append(_signal("fault_type", fault_type, node, _moment(fault.get("timestamp"), at), message))
    return signals, True


def _moment(value: JsonValue, otherwise: datetime) -> datetime:
    """ISO 8601 with a zone; anything else takes the time of reading."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else otherwise
    except ValueError:
        return otherwise
    return moment if moment.tzinfo is not None else otherwise


def _contradictions(health: str, faults: Sequence[Signal], details_are_readable: bool) -> list[Contradiction]:
    found = []
    if health == "Schedulable" and any(fault.kind == "node_condition" for fault in faults):
        found.append(Contradiction.SCHEDULABLE_WITH_FAULT)
    if health.startswith("UnschedulablePending") and not faults:
        found.append(Contradiction.PENDING_WITHOUT_FAULT)
    if not details_are_readable:
        found.append(Contradiction.DETAILS_UNREADABLE)
    return found


def _signal(
    kind: str, code: str, node: NodeIdentity, at: datetime, text: str, attributes: tuple[tuple[str, str], ...] = ()
) -> Signal:
    return Signal(
        kind=kind, family=SignalFamily.HYPERPOD, code=code, at=at, node=node, text=text[:400], attributes=attributes
    )
