"""The pieces of schemas that kinds share: the `parts` of `kinds.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import yaml

from core.json_value import JsonObject, JsonValue
from twin.kube.objects import strings, text
from twin.kube.schema_notation import PART_PREFIX, object_schema

TABLE: Final[JsonObject] = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text())
PARTS: Final[dict[str, dict[str, JsonValue]]] = {
    name: object_schema(notation) for name, notation in strings(TABLE, "parts").items()
}
"""Name -> OpenAPI schema."""


def part_name(schema: JsonValue) -> str:
    """The part a `$ref` names, empty for any other schema."""
    return text(schema, "$ref").removeprefix(PART_PREFIX)
