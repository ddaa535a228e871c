"""Comparison of what lives in the twin with what was expected: maps by their keys, lists as sets, numbers exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from core.json_value import JsonValue, canonical_json
from evals.scenario_format import ABSENT

_SUSPENDED: Final = frozenset({'"Stopped"', '"Suspended"'})
"""One condition of the platform, which knows no other word for a job that somebody stopped and that can go on."""


def differences(expected: JsonValue, found: JsonValue, where: str) -> list[str]:
    """One line per difference, empty when `found` holds everything that `expected` names."""
    if expected == ABSENT:
        return [f"{where} is there"]
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping):
            return [f"{where} is {_shown(found)}, not a map"]
        return [line for key, item in expected.items() for line in _of_key(item, found, key, where)]
    if _is_list(expected):
        same = _is_list(found) and _as_set(expected) == _as_set(found)
        return [] if same else [f"{where} is {_shown(found)}, not {_shown(expected)}"]
    is_same = isinstance(expected, bool) == isinstance(found, bool) and expected == found
    is_same = is_same or (where.endswith(".state") and {_shown(expected), _shown(found)} == _SUSPENDED)
    return [] if is_same else [f"{where} is {_shown(found)}, not {_shown(expected)}"]


def _of_key(expected: JsonValue, found: Mapping[str, JsonValue], key: str, where: str) -> list[str]:
    place = f"{where}.{key}"
    if key not in found:
        return [] if expected == ABSENT else [f"{place} is absent"]
    return differences(expected, found[key], place)


def _is_list(value: JsonValue) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _as_set(value: JsonValue) -> set[str]:
    items = value if isinstance(value, Sequence) else ()
    return {canonical_json(item) for item in items}


def _shown(value: JsonValue) -> str:
    return canonical_json(value)[:200]
