"""From columns to values and back: the one place that knows how a value is spelled in a row.

Times are ISO 8601 text in UTC with microseconds, so that text order is time order in every database.
Structured values (parameters, data, options, messages, principals) are canonical JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from core.failures import Failure, NextAction
from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, EvidenceId
from core.json_value import JsonObject, JsonValue, canonical_json
from core.messages.message import Message, message_from_json
from core.questions import Option
from core.reasons import FailureClass

Cell: TypeAlias = str | int | None
"""What a column holds in both databases."""
Params: TypeAlias = Mapping[str, Cell]


class Row:
    """One row by column name, read as the type that the column is documented to hold."""

    __slots__ = ("_cells",)

    def __init__(self, cells: Mapping[str, object]) -> None:
        self._cells = cells

    def text(self, column: str) -> str:
        value = self._cells[column]
        if not isinstance(value, str):
            raise ValueError(f"column {column!r} holds {value!r}, not text")
        return value

    def text_or_none(self, column: str) -> str | None:
        return None if self._cells[column] is None else self.text(column)

    def number(self, column: str) -> int:
        value = self._cells[column]
        if not isinstance(value, int):
            raise ValueError(f"column {column!r} holds {value!r}, not a whole number")
        return value

    def flag(self, column: str) -> bool:
        return self.number(column) != 0

    def time(self, column: str) -> datetime:
        return datetime.fromisoformat(self.text(column))

    def time_or_none(self, column: str) -> datetime | None:
        return None if self._cells[column] is None else self.time(column)

    def json(self, column: str) -> JsonValue:
        value: JsonValue = json.loads(self.text(column))
        return value

    def json_or_none(self, column: str) -> JsonValue:
        return None if self._cells[column] is None else self.json(column)

    def object(self, column: str) -> JsonObject:
        return as_object(self.json(column))

    def message_or_none(self, column: str) -> Message | None:
        return None if self._cells[column] is None else message_from_json(self.json(column))

    def message(self, column: str) -> Message:
        return message_from_json(self.json(column))

    def principal(self, column: str) -> Principal:
        return principal_from_json(self.json(column))

    def principal_or_none(self, column: str) -> Principal | None:
        return None if self._cells[column] is None else self.principal(column)


def time_text(at: datetime) -> str:
    """Raises `ValueError` for a time without a zone: it could mean any hour."""
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone")
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def time_text_or_none(at: datetime | None) -> str | None:
    return None if at is None else time_text(at)


def storable(text: str) -> str:
    """Text from outside as every database can hold it: no half surrogate pair, no NUL."""
    return text.encode(errors="replace").decode().replace("\0", "\N{SYMBOL FOR NULL}")


def message_text(text: Message | None) -> str | None:
    return None if text is None else canonical_json(text.to_json())


def principal_text(principal: Principal | None) -> str | None:
    return None if principal is None else canonical_json(principal.to_json())


def as_object(value: JsonValue) -> JsonObject:
    if not isinstance(value, Mapping):
        raise ValueError(f"not a JSON object: {value!r}")
    return value


def as_list(value: JsonValue) -> Sequence[JsonValue]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ValueError(f"not a JSON list: {value!r}")
    return value


def as_text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ValueError(f"not text: {value!r}")
    return value


def principal_from_json(value: JsonValue) -> Principal:
    """The inverse of `Principal.to_json`. Raises `ValueError` on another shape."""
    fields = as_object(value)
    project = fields.get("project")
    return Principal(
        id=ActorId(as_text(fields.get("id"))),
        role=Role(as_text(fields.get("role"))),
        channel=Channel(as_text(fields.get("channel"))),
        project=None if project is None else as_text(project),
        is_scripted=fields.get("is_scripted") is True,
    )


def failure_from_json(value: JsonValue) -> Failure:
    """The inverse of `Failure.to_json`. Raises `ValueError` on another shape."""
    fields = as_object(value)
    return Failure(
        failure_class=FailureClass(as_text(fields.get("class"))),
        message=message_from_json(fields.get("message")),
        evidence=tuple(EvidenceId(as_text(item)) for item in as_list(fields.get("evidence"))),
        next_actions=tuple(NextAction(as_text(item)) for item in as_list(fields.get("next_actions"))),
    )


def option_from_json(value: JsonValue) -> Option:
    """The inverse of `Option.to_json`. Raises `ValueError` on another shape."""
    fields = as_object(value)
    return Option(
        id=as_text(fields.get("id")),
        value=fields.get("value"),
        label=message_from_json(fields.get("label")),
        evidence=tuple(message_from_json(item) for item in as_list(fields.get("evidence"))),
        is_recommended=fields.get("is_recommended") is True,
    )


def messages_text(texts: Sequence[Message]) -> str:
    return canonical_json([text.to_json() for text in texts])


def messages_from_json(value: JsonValue) -> tuple[Message, ...]:
    return tuple(message_from_json(item) for item in as_list(value))
