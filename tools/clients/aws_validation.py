"""Checks a request against what botocore's model says and botocore itself does not check.

botocore checks required members, types and minima before it sends; maxima, patterns and enums it leaves to
the service (measured with botocore 1.44.8: a cluster named `-bad-` with 99,999 instances passes). Checked
here, such a request costs no call and its error names the member.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from botocore.model import ListShape, MapShape, Shape, StructureShape

from core.json_value import JsonValue


@dataclass(frozen=True, slots=True)
class Violation:
    """`member` as a path from the request (`InstanceGroups[0].InstanceType`); `why` in plain English."""

    member: str
    why: str


def violations(shape: Shape | None, value: JsonValue, member: str = "") -> Iterator[Violation]:
    """What the service would refuse about `value`; values of a wrong type are left to botocore."""
    if shape is None or value is None:
        return
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        for name, part in value.items():
            yield from violations(shape.members.get(name), part, f"{member}.{name}" if member else name)
    elif isinstance(shape, MapShape) and isinstance(value, Mapping):
        yield from _too_many(shape, len(value), member, "entries")
        for name, part in value.items():
            yield from violations(shape.key, name, f"{member} key {name!r}")
            yield from violations(shape.value, part, f"{member}[{name!r}]")
    elif isinstance(shape, ListShape) and isinstance(value, Sequence) and not isinstance(value, str):
        yield from _too_many(shape, len(value), member, "items")
        for position, part in enumerate(value):
            yield from violations(shape.member, part, f"{member}[{position}]")
    elif isinstance(value, str) and shape.type_name == "string":
        yield from _text_violations(shape, value, member)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        maximum = shape.metadata.get("max")
        if isinstance(maximum, int | float) and value > maximum:
            yield Violation(member, f"{value} is more than {maximum}")


def _text_violations(shape: Shape, value: str, member: str) -> Iterator[Violation]:
    yield from _too_many(shape, len(value), member, "characters")
    allowed = shape.metadata.get("enum")
    if isinstance(allowed, list) and allowed and value not in allowed:
        yield Violation(member, f"{value!r} is not one of its {len(allowed)} values")
    pattern = _compiled(str(shape.metadata.get("pattern", "")))
    if pattern is not None and pattern.fullmatch(value) is None:
        yield Violation(member, f"{value!r} does not match {pattern.pattern}")


def _too_many(shape: Shape, size: int, member: str, what: str) -> Iterator[Violation]:
    maximum = shape.metadata.get("max")
    if isinstance(maximum, int) and size > maximum:
        yield Violation(member, f"{size} {what} are more than {maximum}")


@functools.lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """`None` for no pattern, and for the Java classes (`\\p{L}`) that Python cannot compile."""
    try:
        return re.compile(pattern) if pattern else None
    except re.error:
        return None
