"""Server-side apply: who owns which field, merging an applied configuration, and conflicts.

A field set is a set of paths; `managedFields` writes it as FieldsV1 (`f:name`, `k:{"key":"value"}`,
`v:item`).
Lists of custom kinds are owned whole, as a CRD without list types has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.json_value import JsonValue
from twin.kube.errors import conflict
from twin.kube.kinds import Kind
from twin.kube.merge import LIST_KEYS, SETS
from twin.kube.objects import Obj, array, is_array, mapping, name_of, objects, put, text

Path: TypeAlias = tuple[str, ...]
FieldSet: TypeAlias = frozenset[Path]

_UNOWNED: Final = frozenset(
    ("f:metadata", f"f:{field}")
    for field in (
        "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields",
        "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
    )
) | {("f:apiVersion",), ("f:kind",)}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    manager: str
    operation: str
    """`Apply` or `Update`."""
    subresource: str = ""


def fields_of(obj: Obj, *, custom: bool) -> FieldSet:
    """The paths of all leaves, without what the server itself sets."""
    return frozenset(path for path in _leaves(obj, (), custom) if path[:2] not in _UNOWNED and path not in _UNOWNED)


def applied(kind: Kind, live: Obj | None, config: Obj, owner: Owner, *, force: bool, time: str) -> dict[str, JsonValue]:
    """The live object with `config` merged in and ownership moved. Raises 409 naming conflicting fields."""
    base = live if live is not None else {"apiVersion": config["apiVersion"], "kind": config["kind"]}
    wanted = fields_of(config, custom=kind.custom)
    owners = _owners(base)
    if not force:
        _refuse_conflicts(kind, base, config, owner, owners, wanted)
    merged: JsonValue = _merge(base, config, custom=kind.custom)
    kept_by_others: set[Path] = set()
    for other, fields in owners.items():
        if other != owner:
            lost = {path for path in fields & wanted if _value_at(base, path) != _value_at(config, path)}
            owners[other] = fields - lost
            kept_by_others |= owners[other]
    for path in sorted(owners.get(owner, frozenset()) - wanted - kept_by_others, key=len, reverse=True):
        merged = _without(merged, path)
    owners[owner] = wanted
    return _with_owners(mapping(merged), owners, kind.api_version, time, changed=owner, before=base)


def updated(kind: Kind, before: Obj | None, after: Obj, owner: Owner, time: str) -> dict[str, JsonValue]:
    """`after` with ownership of each changed field moved to `owner`, as any write but an apply does."""
    owners = _owners(before or {})
    now = fields_of(after, custom=kind.custom)
    changed = frozenset(p for p in now if before is None or _value_at(before, p) != _value_at(after, p))
    owners = {other: (fields & now) - (changed if other != owner else frozenset()) for other, fields in owners.items()}
    owners[owner] = owners.get(owner, frozenset()) | changed
    return _with_owners(after, owners, kind.api_version, time, changed=owner if changed else None, before=before or {})


def _refuse_conflicts(
    kind: Kind, live: Obj, config: Obj, owner: Owner, owners: Mapping[Owner, FieldSet], wanted: FieldSet
) -> None:
    causes: list[Obj] = []
    for other, fields in owners.items():
        if other.manager == owner.manager and other.operation == owner.operation:
            continue
        for path in sorted(fields & wanted):
            if _value_at(live, path) != _value_at(config, path):
                message = f'conflict with "{other.manager}" using {kind.api_version}'
                causes.append({"reason": "FieldManagerConflict", "message": message, "field": _dotted(path)})
    if causes:
        listed = ", ".join(f"{text(cause, 'message')}: {text(cause, 'field')}" for cause in causes)
        why = f"Apply failed with {len(causes)} conflict{'s' if len(causes) > 1 else ''}: {listed}"
        error = conflict(kind.group, kind.plural, name_of(config).name, why, causes)
        error.message = why
        raise error


def _leaves(value: JsonValue, path: Path, custom: bool) -> Iterator[Path]:
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _leaves(item, (*path, f"f:{name}"), custom)
        return
    field = path[-1][2:] if path else ""
    if is_array(value) and field in LIST_KEYS and not custom:
        for item in objects(value):
            yield from _leaves(item, (*path, _item_key(item, field)), custom)
        return
    if is_array(value) and field in SETS:
        yield from ((*path, f"v:{json.dumps(item)}") for item in array(value))
        return
    yield path


def _item_key(item: Obj, field: str) -> str:
    return "k:" + json.dumps({key: item.get(key) for key in LIST_KEYS[field]}, separators=(",", ":"))


def _value_at(value: JsonValue, path: Path) -> JsonValue:
    field = ""
    for step in path:
        if step.startswith("f:"):
            field = step[2:]
            value = mapping(value).get(field)
        elif step.startswith("k:"):
            value = next((item for item in objects(value) if _item_key(item, field) == step), None)
        else:
            wanted: JsonValue = json.loads(step[2:])
            value = wanted if wanted in array(value) else None
    return value


def _without(value: JsonValue, path: Path, field: str = "") -> JsonValue:
    step, rest = path[0], path[1:]
    if step.startswith("f:"):
        name = step[2:]
        inner = mapping(value)
        if name not in inner:
            return value
        left = _without(inner[name], rest, name) if rest else None
        if left is None or left in ({}, []):
            return {key: item for key, item in inner.items() if key != name}
        return {**inner, name: left}
    if step.startswith("k:"):
        kept: list[JsonValue] = []
        for item in objects(value):
            left = _without(item, rest, field) if _item_key(item, field) == step else item
            # Only its key is left: nobody wants anything of the item any more.
            if not (_item_key(item, field) == step and set(mapping(left)) <= set(LIST_KEYS[field])):
                kept.append(left)
        return kept
    return [item for item in array(value) if f"v:{json.dumps(item)}" != step]


def _merge(live: JsonValue, config: JsonValue, field: str = "", *, custom: bool) -> JsonValue:
    if isinstance(live, Mapping) and isinstance(config, Mapping):
        return {
            **live,
            **{name: _merge(live.get(name), item, name, custom=custom) for name, item in config.items()},
        }
    if is_array(config) and field in LIST_KEYS and not custom:
        found: dict[str, JsonValue] = {_item_key(item, field): item for item in objects(live)}
        for item in objects(config):
            found[_item_key(item, field)] = _merge(found.get(_item_key(item, field)), item, custom=custom)
        return list(found.values())
    if is_array(config) and field in SETS:
        return [*array(live), *(item for item in array(config) if item not in array(live))]
    return config


def _owners(obj: Obj) -> dict[Owner, FieldSet]:
    return {
        Owner(
            manager=text(entry, "manager"),
            operation=text(entry, "operation"),
            subresource=text(entry, "subresource"),
        ): frozenset(_decode(entry.get("fieldsV1"), ()))
        for entry in objects(obj, "metadata", "managedFields")
    }


def _with_owners(
    obj: Obj,
    owners: Mapping[Owner, FieldSet],
    api_version: str,
    time: str,
    *,
    changed: Owner | None,
    before: Obj,
) -> dict[str, JsonValue]:
    times = {
        (text(e, "manager"), text(e, "operation"), text(e, "subresource")): text(e, "time")
        for e in objects(before, "metadata", "managedFields")
    }
    entries: list[JsonValue] = []
    for owner, fields in owners.items():
        if fields:
            known = times.get((owner.manager, owner.operation, owner.subresource), time)
            entry: dict[str, JsonValue] = {
                "manager": owner.manager,
                "operation": owner.operation,
                "apiVersion": api_version,
                "time": time if owner == changed else known,
                "fieldsType": "FieldsV1",
                "fieldsV1": _encode(fields),
            }
            entries.append({**entry, "subresource": owner.subresource} if owner.subresource else entry)
    return put(obj, entries, "metadata", "managedFields")


def _encode(fields: FieldSet) -> dict[str, JsonValue]:
    tree: dict[str, JsonValue] = {}
    for path in sorted(fields):
        tree = put(tree, {}, *path)
    return tree


def _decode(tree: JsonValue, path: Path) -> Iterator[Path]:
    inner = mapping(tree)
    if not inner and path:
        yield path
    for step, item in inner.items():
        if step == ".":
            yield path
        else:
            yield from _decode(item, (*path, step))


def _dotted(path: Path) -> str:
    """`.spec.containers[name="a"].image`, as kubectl prints a conflict."""
    written = ""
    for step in path:
        if step.startswith("k:"):
            pairs = ",".join(f"{key}={json.dumps(value)}" for key, value in mapping(json.loads(step[2:])).items())
            written += f"[{pairs}]"
        else:
            written += f".{step[2:]}"
    return written
