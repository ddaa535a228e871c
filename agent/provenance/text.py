"""One spelling for matching, at unchanged positions, and what counts as the edge of a word in mixed text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_TABLE = {wide: _LOWER.get(narrow, narrow) for wide, narrow in _FULL_WIDTH.items()} | _LOWER
_SENTENCE_END = re.compile(r"[;!?\n。；！？…]|\.(?=\s|$)")


def normalise(text: str) -> str:
    """`text` in lower case with full-width forms narrowed, character for character.

    Only ASCII letters and their full-width forms are touched. Look-alikes of other scripts (Cyrillic, the
    Kelvin sign, mathematical letters) stay what they are, so no pattern of ASCII letters matches them.
    """
    return text.translate(_TABLE)


def is_cjk(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\u3000" <= character <= "\u303f"


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a word of its own: Chinese may touch it, letters, digits and `-_` may not.

    Marks and invisible format characters join as well: `usw2-az2` followed by a zero-width space is not
    the zone that the reader sees.
    """
    before = text[start - 1] if start > 0 else " "
    after = text[end] if end < len(text) else " "
    if _joins(before) or before in "./@=\\":
        return False
    if after == "." or after == ":":
        return end + 1 >= len(text) or not _joins(text[end + 1])
    return not _joins(after) and after not in "/@=\\"


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, its closing mark included."""
    start = 0
    for match in _SENTENCE_END.finditer(text):
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def sentence_around(text: str, position: int) -> tuple[int, int]:
    """The sentence that holds `position`."""
    for start, end in sentences(text):
        if start <= position < end:
            return start, end
    return 0, len(text)


def _joins(character: str) -> bool:
    if character in "-_":
        return True
    if is_cjk(character):
        return False
    return character.isalnum() or unicodedata.category(character) in {"Cf", "Mn", "Me"}
