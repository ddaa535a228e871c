"""LinePattern: one shape of line, declared as data.

`needles` are lower-case literals of which at least one stands in every line that `regex` matches: they make
the combined pre-filter, so that a regex runs on few lines only. A pattern without any is tried on every line of a
report, and never on a log. Named groups `code`, `device`, `peer` and
`host` fill the signal's fields, every other named group becomes an attribute. Quantifiers are bounded, since
logs are hostile input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.health.signals import SignalFamily


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePattern:
    kind: str
    family: SignalFamily
    regex: re.Pattern[str]
    needles: tuple[str, ...]
    code: str = ""
    """Given to the signal where the regex has no `code` group."""


def pattern(
    family: SignalFamily, kind: str, needles: str | tuple[str, ...], regex: str = "", *, code: str = ""
) -> LinePattern:
    """Without `regex` the needles themselves are the shape."""
    words = (needles,) if isinstance(needles, str) else needles
    if any(word != word.lower() or not word for word in words):
        raise ValueError(f"needles of {kind} have to be lower case: {words}")
    shape = regex or "|".join(re.escape(word) for word in words)
    return LinePattern(kind=kind, family=family, regex=re.compile(shape, re.IGNORECASE), needles=words, code=code)


def sentence(family: SignalFamily, kind: str, regex: str) -> LinePattern:
    """A shape of what people write. It has no words for the pre-filter: it is sought in reports only."""
    return LinePattern(kind=kind, family=family, regex=re.compile(regex, re.IGNORECASE), needles=())
