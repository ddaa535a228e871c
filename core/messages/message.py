"""A text for a person, kept as key and parameters until the reader's language is known.

Rows store messages, never sentences: the same question can be read in English in the terminal and in
Chinese in Slack. A parameter may itself be a message (a reason inside a refusal).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from core.json_value import JsonValue
from core.messages.catalogue import TEXTS


class Language(StrEnum):
    """The languages that every text exists in."""

    ENGLISH = "en"
    CHINESE = "zh"


MessageParam: TypeAlias = "str | int | float | Message"


@dataclass(frozen=True, slots=True)
class Message:
    """`key` names the text in the catalogue; `params` fill its `{placeholders}`."""

    key: str
    params: Mapping[str, MessageParam] = field(default_factory=dict)

    def render(self, language: Language) -> str:
        """The sentence in `language`. Raises `KeyError` for a key or parameter that the catalogue lacks."""
        shown = {
            name: value.render(language) if isinstance(value, Message) else value for name, value in self.params.items()
        }
        return TEXTS[language][self.key].format(**shown)

    def english(self) -> str:
        return self.render(Language.ENGLISH)

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "key": self.key,
            "params": {
                name: value.to_json() if isinstance(value, Message) else value for name, value in self.params.items()
            },
        }


def message(key: str, /, **params: MessageParam) -> Message:
    """Shorthand: `message("zone_unknown", zone="usw2-az9")`."""
    return Message(key, params)


def message_from_json(value: JsonValue) -> Message:
    """The inverse of `Message.to_json`. Raises `ValueError` on another shape."""
    if not isinstance(value, Mapping):
        raise ValueError(f"not a message: {value!r}")
    key, params = value.get("key"), value.get("params", {})
    if not isinstance(key, str) or not isinstance(params, Mapping):
        raise ValueError(f"not a message: {value!r}")
    return Message(key, {name: _param_from_json(param) for name, param in params.items()})


def _param_from_json(value: JsonValue) -> MessageParam:
    if isinstance(value, Mapping):
        return message_from_json(value)
    if isinstance(value, str | int | float):
        return value
    raise ValueError(f"not a message parameter: {value!r}")
