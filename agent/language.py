"""Which language a person writes in."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.messages.message import Language
from state.records import Speaker, TranscriptEntry

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"(?<![\w.-])[A-Za-z]{2,}(?![\w-])")


def language_of(text: str) -> Language | None:
    """Chinese where Chinese characters stand, English where words do; `None` for `2` or `ok?`-less texts.

    A single English word (`llama`, `yes`) says nothing: names are Latin in both languages.
    """
    if _CHINESE.search(text):
        return Language.CHINESE
    return Language.ENGLISH if len(_WORD.findall(text)) >= 2 else None


def language_of_conversation(entries: Sequence[TranscriptEntry], start: Language) -> Language:
    """The language of the person's last telling message, `start` before there is one."""
    for entry in reversed(entries):
        if entry.speaker is Speaker.USER and (found := language_of(entry.text)) is not None:
            return found
    return start
