"""Word lists are written as text, which is easier to read and to extend than lists of quoted strings."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of `text`, separated by white space."""
    return frozenset(text.split())


def phrases(text: str) -> frozenset[str]:
    """The phrases of `text`, separated by `|`; line breaks around them do not count."""
    return frozenset(phrase.strip() for phrase in text.split("|"))
