"""What JSON can hold, and the one canonical spelling that hashes and keys are made of."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

# `Sequence` and `Mapping` rather than `list` and `dict`: read-only values stay covariant.
JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = Mapping[str, JsonValue]


def canonical_json(value: JsonValue) -> str:
    """One spelling per value: sorted keys, no blanks, no NaN (RFC 8785 without its number rules).

    Half a surrogate pair, which no UTF-8 text can hold, becomes `?`.
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text if text.isascii() else text.encode(errors="replace").decode()


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical spelling, in hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
