"""The three patches: JSON Patch (RFC 6902), merge patch (RFC 7386) and Kubernetes' strategic merge patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from core.json_value import JsonValue
from twin.kube.errors import ApiError, bad_request
from twin.kube.objects import array, is_array, mapping, objects, text

LIST_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "imagePullSecrets": ("name",),
    "volumeMounts": ("mountPath",),
    "conditions": ("type",),
    "ownerReferences": ("uid",),
    "hostAliases": ("ip",),
}
"""Lists of built-in kinds whose items are matched by key (the `patchMergeKey` of the API reference)."""
SETS: Final = frozenset({"finalizers"})


def merge_patch(target: JsonValue, patch: JsonValue) -> JsonValue:
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def strategic_patch(target: JsonValue, patch: JsonValue) -> JsonValue:
    """Maps merge, keyed lists merge by key, other lists are replaced; `$patch`, `$retainKeys` and the list
    directives are honoured, `$setElementOrder` only in that unnamed items keep their place."""
    if not isinstance(patch, Mapping):
        return patch
    if patch.get("$patch") == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    result = dict(target) if isinstance(target, Mapping) else {}
    if retained := array(patch, "$retainKeys"):
        result = {key: value for key, value in result.items() if key in retained}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            result[field] = [item for item in array(result, field) if item not in array(value)]
        elif not key.startswith("$"):
            _merge_field(result, key, value)
    return result


def json_patch(target: JsonValue, operations: JsonValue) -> JsonValue:
    """Raises 400 for what is no patch, 422 when an operation does not apply."""
    if not is_array(operations) or len(objects(operations)) != len(array(operations)):
        raise bad_request("a JSON patch is an array of operations")
    for operation in objects(operations):
        target = _apply_operation(target, operation)
    return target


def _merge_field(result: dict[str, JsonValue], key: str, value: JsonValue) -> None:
    if value is None or (isinstance(value, Mapping) and value.get("$patch") == "delete"):
        result.pop(key, None)
    elif is_array(value) and key in LIST_KEYS:
        result[key] = _merge_keyed(objects(result, key), objects(value), LIST_KEYS[key])
    elif is_array(value) and key in SETS:
        old = array(result, key)
        result[key] = [*old, *(item for item in array(value) if item not in old)]
    else:
        result[key] = strategic_patch(result.get(key), value)


def _merge_keyed(
    old: Sequence[Mapping[str, JsonValue]], new: Sequence[Mapping[str, JsonValue]], keys: tuple[str, ...]
) -> list[JsonValue]:
    merged: dict[tuple[JsonValue, ...], JsonValue] = {tuple(item.get(k) for k in keys): item for item in old}
    for item in new:
        key = tuple(item.get(k) for k in keys)
        if set(item) == {"$patch"} and item["$patch"] == "replace":
            merged = {}
        elif item.get("$patch") == "delete":
            merged.pop(key, None)
        else:
            merged[key] = strategic_patch(merged.get(key), item)
    return list(merged.values())


def _apply_operation(target: JsonValue, operation: Mapping[str, JsonValue]) -> JsonValue:
    path = _pointer(text(operation, "path"))
    match operation.get("op"):
        case "add":
            return _edit(target, path, operation.get("value"), insert=True)
        case "replace":
            _resolve(target, path)
            return _edit(target, path, operation.get("value"), insert=False)
        case "remove":
            _resolve(target, path)
            return _cut(target, path)
        case "move":
            source = _pointer(text(operation, "from"))
            return _edit(_cut(target, source), path, _resolve(target, source), insert=True)
        case "copy":
            return _edit(target, path, _resolve(target, _pointer(text(operation, "from"))), insert=True)
        case "test":
            if _resolve(target, path) != operation.get("value"):
                raise _unapplied(f"testing path {text(operation, 'path')} failed")
            return target
        case other:
            raise bad_request(f"Unexpected kind: {other}")


def _pointer(written: str) -> list[str]:
    if written and not written.startswith("/"):
        raise bad_request(f"a JSON pointer starts with a slash: {written!r}")
    return [step.replace("~1", "/").replace("~0", "~") for step in written.split("/")[1:]]


def _resolve(value: JsonValue, path: Sequence[str]) -> JsonValue:
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif is_array(value) and step.isdigit() and int(step) < len(array(value)):
            value = array(value)[int(step)]
        else:
            raise _unapplied(f"path /{'/'.join(path)} does not exist")
    return value


def _edit(value: JsonValue, path: Sequence[str], new: JsonValue, *, insert: bool) -> JsonValue:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        inner = new if not rest else _edit(_resolve(value, [step]), rest, new, insert=insert)
        return {**value, step: inner}
    items = list(array(value))
    if step == "-" and not rest:
        return [*items, new]
    if not is_array(value) or not step.isdigit() or int(step) > len(items) or (rest and int(step) == len(items)):
        raise _unapplied(f"path /{'/'.join(path)} does not exist")
    at = int(step)
    if rest:
        items[at] = _edit(items[at], rest, new, insert=insert)
    else:
        items[at : at if insert else at + 1] = [new]
    return items


def _cut(value: JsonValue, path: Sequence[str]) -> JsonValue:
    if not path:
        return None
    step, rest = path[0], path[1:]
    if isinstance(value, Mapping):
        if rest:
            return {**value, step: _cut(value[step], rest)}
        return {key: item for key, item in mapping(value).items() if key != step}
    items = list(array(value))
    if rest:
        items[int(step)] = _cut(items[int(step)], rest)
    else:
        del items[int(step)]
    return items


def _unapplied(why: str) -> ApiError:
    return ApiError(422, "Invalid", f"the server rejected our request due to an error in our request: {why}")
