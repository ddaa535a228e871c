"""Requests against the service's model, as the real services check them.

botocore checks required members, types and minimum sizes before it sends; the services also check maximum,
pattern and enum (knowledge of botocore 1.44.8). The texts follow AWS's own form.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

from twin.aws.params import Json

MAX_REPORTED = 10
# Java's Unicode classes, which Python's `re` lacks, as close as one class element gets.
_UNICODE_CLASSES = {
    r"\p{L}": r"\w",
    r"\p{M}": r"\u0300-\u036f",
    r"\p{N}": r"\d",
    r"\p{Z}": r"\s",
    r"\p{S}": r"$+<=>^`|~\u00a2-\u00b4\u20a0-\u20bf\u2190-\u23ff",
    r"\p{P}": r"!-#%-*,-/:;?@\[-\]_{}\u2010-\u205e\u3001-\u303f",
}
_NUMBERS = frozenset({"integer", "long", "float", "double"})


def violations(shape: StructureShape | None, params: Mapping[str, Json]) -> list[str]:
    """One sentence per violated constraint, at most `MAX_REPORTED`."""
    if shape is None:
        return [] if not params else [f"Unknown member '{next(iter(params))}'"]
    found: list[str] = []
    for text in _structure(shape, params, ""):
        found.append(text)
        if len(found) == MAX_REPORTED:
            break
    return found


def summary(found: list[str]) -> str:
    """AWS's sentence over all of them."""
    noun = "error" if len(found) == 1 else "errors"
    return f"{len(found)} validation {noun} detected: {'; '.join(found)}"


def _check(shape: Shape, value: Json, path: str) -> Iterator[str]:
    match shape:
        case StructureShape():
            if not isinstance(value, dict):
                yield f"Value at '{path}' must be a structure"
            else:
                yield from _structure(shape, value, path)
        case ListShape():
            if not isinstance(value, list):
                yield f"Value at '{path}' must be a list"
                return
            yield from _size(shape, len(value), value, path)
            for number, item in enumerate(value, start=1):
                yield from _check(shape.member, item, f"{path}.{number}.member")
        case MapShape():
            if not isinstance(value, dict):
                yield f"Value at '{path}' must be a map"
                return
            yield from _size(shape, len(value), value, path)
            for key, item in value.items():
                yield from _check(shape.key, key, f"{path}.key")
                yield from _check(shape.value, item, f"{path}.{key}.value")
        case StringShape():
            yield from _string(shape, value, path)
        case _:
            yield from _scalar(shape, value, path)


def _structure(shape: StructureShape, value: Mapping[str, Json], path: str) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name) is None:
            yield f"Value null at '{_join(path, name)}' failed to satisfy constraint: Member must not be null"
    if shape.metadata.get("union") and sum(item is not None for item in value.values()) != 1:
        yield f"Value at '{path}' failed to satisfy constraint: exactly one member of the union must be set"
    for name, item in value.items():
        if name not in shape.members:
            yield f"Unknown member '{_join(path, name)}'"
        elif item is not None:
            yield from _check(shape.members[name], item, _join(path, name))


def _string(shape: StringShape, value: Json, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"Value at '{path}' must be a string"
        return
    yield from _size(shape, len(value), value, path)
    enum = shape.enum
    if enum and value not in enum:
        yield _constraint(value, path, f"Member must satisfy enum value set: [{', '.join(sorted(enum))}]")
    pattern = shape.metadata.get("pattern")
    if pattern and not _compiled(pattern).fullmatch(value):
        yield _constraint(value, path, f"Member must satisfy regular expression pattern: {pattern}")


def _scalar(shape: Shape, value: Json, path: str) -> Iterator[str]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if shape.type_name == "boolean":
        if not isinstance(value, bool):
            yield f"Value at '{path}' must be a boolean"
    elif shape.type_name in _NUMBERS:
        if not is_number or (shape.type_name in {"integer", "long"} and not isinstance(value, int)):
            yield f"Value at '{path}' must be {'an' if shape.type_name == 'integer' else 'a'} {shape.type_name}"
            return
        assert isinstance(value, int | float)
        low, high = shape.metadata.get("min"), shape.metadata.get("max")
        if low is not None and value < low:
            yield _constraint(value, path, f"Member must have value greater than or equal to {low}")
        if high is not None and value > high:
            yield _constraint(value, path, f"Member must have value less than or equal to {high}")


def _size(shape: Shape, size: int, value: Json, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and size < low:
        yield _constraint(value, path, f"Member must have length greater than or equal to {low}")
    if high is not None and size > high:
        yield _constraint(value, path, f"Member must have length less than or equal to {high}")


def _constraint(value: Json, path: str, constraint: str) -> str:
    return f"Value '{str(value)[:200]}' at '{path}' failed to satisfy constraint: {constraint}"


def _join(path: str, name: str) -> str:
    spelled = name[0].lower() + name[1:]
    return f"{path}.{spelled}" if path else spelled


@functools.lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    for java, python in _UNICODE_CLASSES.items():
        pattern = pattern.replace(java, python)
    return re.compile(pattern)
