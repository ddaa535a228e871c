"""What `kubectl get` prints: `meta.k8s.io/v1` Tables, with the columns that the real API server shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from core.json_value import JsonValue
from twin.kube.kinds import Column, Kind
from twin.kube.objects import (
    Obj,
    array,
    condition_of,
    dig,
    is_array,
    is_terminating,
    mapping,
    moment_of,
    number,
    objects,
    strings,
    text,
)

_NODE: Final = (
    ("Status", "string", 0), ("Roles", "string", 0), ("Age", "string", 0), ("Version", "string", 0),
    ("Instance-Type", "string", 1), ("Group", "string", 1),
)  # fmt: skip
_POD: Final = (
    ("Ready", "string", 0), ("Status", "string", 0), ("Restarts", "integer", 0), ("Age", "string", 0),
    ("IP", "string", 1), ("Node", "string", 1), ("Nominated Node", "string", 1),
    ("Readiness Gates", "string", 1),
)  # fmt: skip


def table(kind: Kind, items: Sequence[Obj], metadata: Obj, now: datetime, include: str) -> dict[str, JsonValue]:
    """`include`: `Object`, `Metadata` (the default) or `None`, as a request's includeObject says."""
    rows: list[JsonValue] = [
        {
            "cells": [text(item, "metadata", "name"), *_cells(kind, item, now)],
            "object": _embedded(item, include),
        }
        for item in items
    ]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": _definitions(kind),
        "rows": rows,
    }


def _definitions(kind: Kind) -> list[JsonValue]:
    special = _SPECIAL.get(kind.resource)
    columns = special[0] if special else [*((c.name, c.type, c.priority) for c in kind.columns), ("Age", "string", 0)]
    named = [("Name", "string", 0), *columns]
    return [
        {
            "name": name,
            "type": kind_of,
            "format": "name" if name == "Name" else "",
            "description": "",
            "priority": rank,
        }
        for name, kind_of, rank in named
    ]


def _cells(kind: Kind, obj: Obj, now: datetime) -> list[JsonValue]:
    if special := _SPECIAL.get(kind.resource):
        return special[1](obj, now)
    return [*(_cell(column, obj, now) for column in kind.columns), age(obj, now)]


def _cell(column: Column, obj: Obj, now: datetime) -> JsonValue:
    found = dig(obj, *column.path.split("."))
    if found is None:
        return 0 if column.name == "Data" else "<none>"
    if column.path == "involvedObject":
        return f"{text(found, 'kind').lower()}/{text(found, 'name')}"
    if column.path == "status.conditions":
        return next(
            (text(c, "type") for c in reversed(objects(obj, "status", "conditions")) if c.get("status") == "True"),
            "",
        )
    if column.path == "lastTimestamp":
        return _since(text(obj, "lastTimestamp"), now)
    return (
        len(found) if isinstance(found, Mapping) or (is_array(found) and not isinstance(found, int | float)) else found
    )


def age(obj: Obj, now: datetime) -> str:
    return _since(text(obj, "metadata", "creationTimestamp"), now)


def _since(written: str, now: datetime) -> str:
    moment = moment_of(written)
    if moment is None:
        return "<unknown>"
    seconds = max(0, int((now - moment).total_seconds()))
    if seconds < 120:
        return f"{seconds}s"
    if seconds < 7_200:
        return f"{seconds // 60}m"
    return f"{seconds // 3_600}h" if seconds < 172_800 else f"{seconds // 86_400}d"


def _node_cells(node: Obj, now: datetime) -> list[JsonValue]:
    status = "Ready" if condition_of(node, "Ready").get("status") == "True" else "NotReady"
    if dig(node, "spec", "unschedulable") is True:
        status += ",SchedulingDisabled"
    labels = strings(node, "metadata", "labels")
    return [
        status,
        "<none>",
        age(node, now),
        text(node, "status", "nodeInfo", "kubeletVersion"),
        labels.get("node.kubernetes.io/instance-type", "<none>"),
        labels.get("sagemaker.amazonaws.com/instance-group-name", "<none>"),
    ]


def _pod_cells(pod: Obj, now: datetime) -> list[JsonValue]:
    containers = objects(pod, "status", "containerStatuses")
    ready = sum(c.get("ready") is True for c in containers)
    return [
        f"{ready}/{len(array(pod, 'spec', 'containers'))}",
        _pod_status(pod, containers),
        sum(number(c, "restartCount") or 0 for c in containers),
        age(pod, now),
        text(pod, "status", "podIP") or "<none>",
        text(pod, "spec", "nodeName") or "<none>",
        "<none>",
        "<none>",
    ]


def _pod_status(pod: Obj, containers: Sequence[Obj]) -> str:
    if is_terminating(pod):
        return "Terminating"
    for container in containers:
        for state in ("waiting", "terminated"):
            reason = text(container, "state", state, "reason")
            if reason:
                return reason
    return text(pod, "status", "reason") or text(pod, "status", "phase")


def _embedded(obj: Obj, include: str) -> JsonValue:
    if include == "Object":
        return obj
    if include == "None":
        return None
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": mapping(obj, "metadata"),
    }


_SPECIAL: Final[Mapping[str, tuple[Sequence[tuple[str, str, int]], Callable[[Obj, datetime], list[JsonValue]]]]] = {
    "nodes": (_NODE, _node_cells),
    "pods": (_POD, _pod_cells),
}
