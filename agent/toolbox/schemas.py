"""JSON Schemas that every Chat Completions server accepts, strict ones included.

Strict servers want each property required, no extra ones, no defaults and no keyword outside a small set;
an optional value is a null. Whatever a server makes of the schema, pydantic validates the arguments again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from core.json_value import JsonObject, JsonValue

_KEPT = ("type", "enum", "const", "description", "anyOf", "items")


def object_schema(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def properties_of(model: type[BaseModel]) -> dict[str, JsonValue]:
    """Each field of a flat model as a nullable property.

    Raises `ValueError` for a field that no strict schema can express (a free mapping, a nested object).
    """
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    return {name: nullable(_plain(field, definitions, name)) for name, field in schema.get("properties", {}).items()}


def nullable(schema: JsonObject) -> dict[str, JsonValue]:
    """`schema` or null, with the description outside, where models look for it."""
    description = {"description": schema["description"]} if "description" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "description"}
    branches = inner.get("anyOf")
    options = list(branches) if isinstance(branches, Sequence) and not isinstance(branches, str) else [inner]
    if {"type": "null"} not in options:
        options.append({"type": "null"})
    return {"anyOf": options, **description}


def function_tool(name: str, description: str, properties: Mapping[str, JsonValue]) -> JsonObject:
    """A Chat Completions tool."""
    function: JsonObject = {"name": name, "description": description, "parameters": object_schema(properties)}
    return {"type": "function", "function": function}


def _plain(schema: JsonObject, definitions: JsonObject, where: str) -> dict[str, JsonValue]:
    """References resolved, everything outside the small set dropped."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = definitions[reference.rsplit("/", 1)[-1]]
        return _plain(
            {**_object(target, where), **{k: v for k, v in schema.items() if k != "$ref"}}, definitions, where
        )
    kept: dict[str, JsonValue] = {key: schema[key] for key in _KEPT if key in schema}
    if kept.get("type") == "object" or "oneOf" in schema or "prefixItems" in schema:
        raise ValueError(f"the parameter {where!r} is not flat: {dict(schema)}")
    if "anyOf" in kept:
        branches = kept["anyOf"]
        assert isinstance(branches, Sequence)
        kept["anyOf"] = [_plain(_object(branch, where), definitions, where) for branch in branches]
    if "items" in kept:
        kept["items"] = _plain(_object(kept["items"], where), definitions, where)
    if "const" in kept:
        kept["enum"] = [kept.pop("const")]
    return kept


def _object(value: JsonValue, where: str) -> JsonObject:
    if not isinstance(value, Mapping):
        raise ValueError(f"the parameter {where!r} has no schema: {value!r}")
    return value
