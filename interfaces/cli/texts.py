"""The terminal's language and its texts."""

from __future__ import annotations

from core.messages.message import Language, MessageParam, message
from interfaces.settings import detect_language

LANGUAGE: Language = detect_language()
"""Of help texts and of whatever is printed before the settings are read."""


def say(key: str, /, **params: MessageParam) -> str:
    """The catalogue's text in the terminal's language."""
    return message(key, **params).render(LANGUAGE)
