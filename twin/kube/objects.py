"""Reading and changing Kubernetes objects as immutable JSON.

Objects are never changed in place: `put` and `drop` copy along the path only, so that a snapshot, the watch
history and a list page may share what did not change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from core.json_value import JsonObject, JsonValue

Obj: TypeAlias = JsonObject


class ObjectName(NamedTuple):
    """Where an object of one kind lives; `namespace` is empty for cluster-wide kinds."""

    namespace: str
    name: str


def is_object(value: JsonValue) -> bool:
    return isinstance(value, Mapping)


def is_array(value: JsonValue) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def dig(value: JsonValue, *path: str) -> JsonValue:
    """The value at `path`, `None` where any step is absent."""
    for step in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(step)
    return value


def text(value: JsonValue, *path: str) -> str:
    found = dig(value, *path)
    return found if isinstance(found, str) else ""


def number(value: JsonValue, *path: str) -> int | None:
    found = dig(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def mapping(value: JsonValue, *path: str) -> Obj:
    found = dig(value, *path)
    return found if isinstance(found, Mapping) else {}


def array(value: JsonValue, *path: str) -> Sequence[JsonValue]:
    found = dig(value, *path)
    return found if isinstance(found, Sequence) and not isinstance(found, str) else ()


def objects(value: JsonValue, *path: str) -> list[Obj]:
    """The objects of the array at `path`."""
    return [item for item in array(value, *path) if isinstance(item, Mapping)]


def strings(value: JsonValue, *path: str) -> dict[str, str]:
    """The map of text at `path`: labels, annotations, selectors."""
    return {key: item for key, item in mapping(value, *path).items() if isinstance(item, str)}


def put(value: JsonValue, new: JsonValue, *path: str) -> dict[str, JsonValue]:
    """A copy with `new` at `path`; missing objects on the way are made."""
    copy = dict(value) if isinstance(value, Mapping) else {}
    copy[path[0]] = new if len(path) == 1 else put(copy.get(path[0]), new, *path[1:])
    return copy


def drop(value: Obj, *path: str) -> dict[str, JsonValue]:
    """A copy without `path`."""
    copy = dict(value)
    if len(path) == 1:
        copy.pop(path[0], None)
    elif isinstance(inner := copy.get(path[0]), Mapping):
        copy[path[0]] = drop(inner, *path[1:])
    return copy


def merged(value: Obj, changes: Mapping[str, JsonValue | None], *path: str) -> dict[str, JsonValue]:
    """A copy whose map at `path` has `changes` laid over it; `None` removes a key."""
    inner = {key: item for key, item in {**mapping(value, *path), **changes}.items() if item is not None}
    return put(value, inner, *path)


def name_of(obj: Obj) -> ObjectName:
    return ObjectName(text(obj, "metadata", "namespace"), text(obj, "metadata", "name"))


def uid_of(obj: Obj) -> str:
    return text(obj, "metadata", "uid")


def version_of(obj: Obj) -> int:
    """The object's own resourceVersion."""
    return int(text(obj, "metadata", "resourceVersion") or 0)


def is_terminating(obj: Obj) -> bool:
    return bool(text(obj, "metadata", "deletionTimestamp"))


def owner_of(obj: Obj) -> Obj:
    """The controlling owner reference, empty without one."""
    return next((ref for ref in objects(obj, "metadata", "ownerReferences") if ref.get("controller") is True), {})


def with_condition(
    obj: Obj, kind: str, *, status: str, reason: str, message: str, now: datetime
) -> dict[str, JsonValue]:
    """A copy whose `status.conditions` holds this condition; its transition time moves with the status."""
    conditions = objects(obj, "status", "conditions")
    before = next((c for c in conditions if c.get("type") == kind), {})
    moved = text(before, "lastTransitionTime") if before.get("status") == status else timestamp(now)
    condition: Obj = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": moved,
    }
    kept = [condition if c.get("type") == kind else c for c in conditions]
    return put(obj, kept if before else [*conditions, condition], "status", "conditions")


def condition_of(obj: Obj, kind: str) -> Obj:
    return next((c for c in objects(obj, "status", "conditions") if c.get("type") == kind), {})


def timestamp(moment: datetime) -> str:
    """RFC 3339 in whole seconds, as Kubernetes writes times."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(written: str) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        return None


def parse_json(raw: bytes) -> JsonValue:
    """Raises ValueError when `raw` is no JSON."""
    value: JsonValue = json.loads(raw)
    return value


def encode(value: JsonValue) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
