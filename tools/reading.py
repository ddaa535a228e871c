"""Typed looks into JSON that came from outside: a member of another type counts as absent.

AWS and Kubernetes add members and values without notice; what a reader needs and does not find is a value
that its caller decides about, never a crash in the middle of watching a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from core.json_value import JsonObject, JsonValue


def at(value: JsonValue, *path: str) -> JsonValue:
    """The value under `path`, `None` where any part of it is missing."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def text(value: JsonValue, *path: str) -> str:
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def number(value: JsonValue, *path: str) -> int:
    found = at(value, *path)
    return int(found) if isinstance(found, int | float) else 0


def flag(value: JsonValue, *path: str) -> bool:
    return at(value, *path) is True


def child(value: JsonValue, *path: str) -> JsonObject:
    found = at(value, *path)
    return found if isinstance(found, Mapping) else {}


def items(value: JsonValue, *path: str) -> list[JsonValue]:
    found = at(value, *path)
    return list(found) if isinstance(found, Sequence) and not isinstance(found, str) else []


def children(value: JsonValue, *path: str) -> list[JsonObject]:
    return [item for item in items(value, *path) if isinstance(item, Mapping)]


def texts(value: JsonValue, *path: str) -> list[str]:
    return [item for item in items(value, *path) if isinstance(item, str)]


def moment(value: JsonValue, *path: str) -> datetime | None:
    """An ISO 8601 time stamp in UTC; `None` for anything else."""
    found = text(value, *path)
    try:
        parsed = datetime.fromisoformat(found)
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
