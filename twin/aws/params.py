"""Typed access to a request whose shape was already checked against the service's model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
"""Mutable JSON: what a request or a stored specification is."""
Reply: TypeAlias = Mapping[str, object]
"""An operation's output: JSON values, datetimes and nested mappings, checked against the output shape."""


class Params(Mapping[str, Json]):
    """One structure of a request. A getter of the wrong type is a fault of the twin, hence `TypeError`."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self._values = values

    def __getitem__(self, key: str) -> Json:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def text(self, key: str, default: str = "") -> str:
        value = self._values.get(key)
        return default if value is None else _is(value, str, key)

    def flag(self, key: str, default: bool = False) -> bool:
        value = self._values.get(key)
        return default if value is None else _is(value, bool, key)

    def integer(self, key: str, default: int = 0) -> int:
        value = self._values.get(key)
        return default if value is None else _is(value, int, key)

    def texts(self, key: str) -> list[str]:
        return [_is(item, str, key) for item in _is(self._values.get(key) or [], list, key)]

    def structure(self, key: str) -> Params:
        """Empty when absent."""
        return Params(_is(self._values.get(key) or {}, dict, key))

    def structures(self, key: str) -> list[Params]:
        return [Params(_is(item, dict, key)) for item in _is(self._values.get(key) or [], list, key)]

    def moment(self, key: str) -> datetime | None:
        """A timestamp member: the wire carries epoch seconds."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{key} is {value!r}, not epoch seconds")
        return datetime.fromtimestamp(value, UTC)

    def to_json(self) -> dict[str, Json]:
        return dict(self._values)


def _is(value: object, kind: type[T], key: str) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{key} is {value!r}, not {kind.__name__}")
    return value
