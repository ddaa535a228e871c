"""Whether a value that the model wrote was ever said: names and numbers that it made up are taken out again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.provenance.counts import all_numbers
from agent.provenance.text import normalise
from core.json_value import JsonObject, JsonValue


class Grounding:
    """The requester's words of one conversation, quoted ones included: a name in quotation marks is a name."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._text = "\n".join(normalise(text) for text in texts)
        self._numbers = all_numbers(self._text)

    def holds(self, value: JsonValue) -> bool:
        """Booleans and nulls are always held: they are no names and no amounts."""
        if isinstance(value, bool) or value is None:
            return True
        if isinstance(value, int | float):
            return float(value) in self._numbers
        if isinstance(value, str):
            return normalise(value).strip() in self._text
        if isinstance(value, Mapping):
            return all(self.holds(item) for item in value.values())
        return all(self.holds(item) for item in value)

    def keep(self, params: JsonObject, free: Sequence[str]) -> dict[str, JsonValue]:
        """`params` without those of the `free` fields (names, amounts, texts) that nobody said."""
        return {name: value for name, value in params.items() if name not in free or self.holds(value)}
