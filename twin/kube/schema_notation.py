"""A short notation for OpenAPI schemas, so that a kind's fields fit on a line.

`"name*:str replicas:int env:[EnvVar] labels:{str} policy:=All/None"`: a star marks a required field,
brackets a
list, braces a map, `=` an enum; `int+` is an integer of at least 0; `quantity` is a number or text; `any` is
not
looked into; a word in capitals names a part.
"""

from __future__ import annotations

from core.json_value import JsonValue

PART_PREFIX = "#/components/schemas/"

_SCALARS: dict[str, dict[str, JsonValue]] = {
    "str": {"type": "string"},
    "int": {"type": "integer", "format": "int64"},
    "int+": {"type": "integer", "format": "int64", "minimum": 0},
    "num": {"type": "number"},
    "bool": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "quantity": {"x-kubernetes-int-or-string": True},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
}


def object_schema(notation: str) -> dict[str, JsonValue]:
    """The OpenAPI v3 schema of an object with the fields of `notation`."""
    properties: dict[str, JsonValue] = {}
    required: list[str] = []
    for field in notation.split():
        name, _, kind = field.partition(":")
        if name.endswith("*"):
            name = name[:-1]
            required.append(name)
        properties[name] = type_schema(kind)
    schema: dict[str, JsonValue] = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def type_schema(kind: str) -> dict[str, JsonValue]:
    if kind.startswith("["):
        return {"type": "array", "items": type_schema(kind[1:-1])}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": type_schema(kind[1:-1])}
    if kind.startswith("="):
        return {"type": "string", "enum": kind[1:].split("/")}
    if kind in _SCALARS:
        return _SCALARS[kind]
    return {"$ref": PART_PREFIX + kind}
