"""An object against its kind's schema: unknown fields are cut and named, wrong values are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from core.json_value import JsonValue
from twin.kube.errors import ApiError, invalid
from twin.kube.kinds import Kind
from twin.kube.objects import Obj, array, is_array, mapping, strings, text
from twin.kube.parts import PARTS, part_name

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL: Final = re.compile(r"[a-z0-9A-Z]([-a-z0-9A-Z_.]*[a-z0-9A-Z])?")
_NAME_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character"
)
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


@dataclass(slots=True)
class Findings:
    """Unknown fields by path, and refusals as (path, reason, message)."""

    unknown: list[str] = field(default_factory=list)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)


def checked(kind: Kind, obj: Obj, *, partial: bool = False) -> tuple[Obj, list[str]]:
    """The object without unknown fields, and the paths of those. Raises a 422 naming each wrong field.

    A `partial` object, as an apply sends it, may lack required fields.
    """
    findings = Findings()
    kept = _check(kind.schema, obj, "", findings)
    _check_names(obj, findings)
    wrong = [cause for cause in findings.wrong if not (partial and cause[1] == "FieldValueRequired")]
    if wrong:
        raise refused(kind, obj, wrong)
    return (kept if isinstance(kept, Mapping) else obj), findings.unknown


def refused(kind: Kind, obj: Obj, wrong: list[tuple[str, str, str]]) -> ApiError:
    return invalid(kind.group, kind.kind, text(obj, "metadata", "name"), wrong)


def _check(schema: JsonValue, value: JsonValue, path: str, findings: Findings) -> JsonValue:
    if part := part_name(schema):
        schema = PARTS[part]
    kind = text(schema, "type")
    if value is None or not kind:
        return value
    if kind == "object":
        return _check_object(schema, value, path, findings)
    if kind == "array":
        if not is_array(value):
            return _wrong_type(kind, value, path, findings)
        items = mapping(schema, "items")
        return [_check(items, item, f"{path}[{i}]", findings) for i, item in enumerate(array(value))]
    _check_scalar(schema, kind, value, path, findings)
    return value


def _check_object(schema: JsonValue, value: JsonValue, path: str, findings: Findings) -> JsonValue:
    if not isinstance(value, Mapping):
        return _wrong_type("object", value, path, findings)
    for name in array(schema, "required"):
        if isinstance(name, str) and value.get(name) is None:
            findings.wrong.append((_join(path, name), "FieldValueRequired", "Required value"))
    properties, rest = mapping(schema, "properties"), mapping(schema).get("additionalProperties")
    open_object = bool(mapping(schema).get("x-kubernetes-preserve-unknown-fields")) or not (properties or rest)
    kept: dict[str, JsonValue] = {}
    for name, item in value.items():
        inner = properties.get(name, rest)
        if inner is None and not open_object:
            findings.unknown.append(_join(path, name))
        else:
            kept[name] = _check(inner, item, _join(path, name), findings)
    return kept


def _check_scalar(schema: JsonValue, kind: str, value: JsonValue, path: str, findings: Findings) -> None:
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        _wrong_type(kind, value, path, findings)
        return
    choices = array(schema, "enum")
    if choices and value not in choices:
        supported = ", ".join(f'"{choice}"' for choice in choices)
        message = f'Unsupported value: "{value}": supported values: {supported}'
        findings.wrong.append((path, "FieldValueNotSupported", message))
    least, most = mapping(schema).get("minimum"), mapping(schema).get("maximum")
    if isinstance(value, int | float):
        if isinstance(least, int | float) and value < least:
            message = f"Invalid value: {value}: must be greater than or equal to {least}"
            findings.wrong.append((path, "FieldValueInvalid", message))
        if isinstance(most, int | float) and value > most:
            message = f"Invalid value: {value}: must be less than or equal to {most}"
            findings.wrong.append((path, "FieldValueInvalid", message))
    pattern = text(schema, "pattern")
    if pattern and isinstance(value, str) and not re.search(pattern, value):
        message = f"Invalid value: \"{value}\": should match '{pattern}'"
        findings.wrong.append((path, "FieldValueInvalid", message))


def _check_names(obj: Obj, findings: Findings) -> None:
    name = text(obj, "metadata", "name")
    if name and (len(name) > 253 or not _NAME.fullmatch(name)):
        findings.wrong.append(("metadata.name", "FieldValueInvalid", f'Invalid value: "{name}": {_NAME_RULE}'))
    for key, value in strings(obj, "metadata", "labels").items():
        if value and (len(value) > 63 or not _LABEL.fullmatch(value)):
            message = (
                f'Invalid value: "{value}": a valid label must be an empty string or consist of alphanumeric '
                "characters, '-', '_' or '.', and must start and end with an alphanumeric character"
            )
            findings.wrong.append((f"metadata.labels[{key}]", "FieldValueInvalid", message))


def _wrong_type(kind: str, value: JsonValue, path: str, findings: Findings) -> JsonValue:
    message = f"Invalid value: {type(value).__name__}: must be of type {kind}"
    findings.wrong.append((path, "FieldValueTypeInvalid", message))
    return value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
