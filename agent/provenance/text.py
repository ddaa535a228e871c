"""One spelling for matching, at unchanged positions, and what counts as the edge of a word in mixed text."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache

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
    if _joins(before) or before in "./@\\":
        return False
    if after == "." or after == ":":
        return end + 1 >= len(text) or not _joins(text[end + 1])
    return not _joins(after) and after not in "/@=\\"


def sentence_around(text: str, position: int) -> tuple[int, int]:
    """Start and end of the sentence that holds `position`, its closing mark included."""
    edges = _sentence_edges(text)
    place = bisect_right(edges, position)
    return edges[place - 1], edges[place] if place < len(edges) else len(text)


@lru_cache(maxsize=4)
def _sentence_edges(text: str) -> tuple[int, ...]:
    """Where sentences begin. Remembered: a message is asked about once per mention."""
    return (0, *(match.end() for match in _SENTENCE_END.finditer(text)))


def _joins(character: str) -> bool:
    if character in "-_":
        return True
    if is_cjk(character):
        return False
    return character.isalnum() or unicodedata.category(character) in {"Cf", "Mn", "Me", "Pd"}
