"""Wraps a text that arrives in pieces: words go out as soon as they are whole, lines end before the edge."""

from __future__ import annotations

from rich.cells import cell_len


class Flow:
    """Feed pieces in, write what comes out. Chinese characters may break anywhere; a Latin word stays whole."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._column = 0
        self._word = ""

    @property
    def is_mid_line(self) -> bool:
        return self._column > 0

    def feed(self, text: str) -> str:
        return "".join(self._take(char) for char in text)

    def end(self) -> str:
        """The last word, and the line's end where one is open."""
        rest = self._put(self._take_word())
        closing = "\n" if self._column > 0 else ""
        self._column = 0
        return rest + closing

    def _take(self, char: str) -> str:
        if char == "\n":
            out = self._put(self._take_word()) + "\n"
            self._column = 0
            return out
        if char.isspace():
            out = self._put(self._take_word())
            # A blank at the edge is the line break itself.
            return out + self._put(" ") if 0 < self._column < self._width else out
        if cell_len(char) > 1:
            return self._put(self._take_word()) + self._put(char)
        self._word += char
        return self._put(self._take_word()) if cell_len(self._word) >= self._width else ""

    def _take_word(self) -> str:
        word, self._word = self._word, ""
        return word

    def _put(self, word: str) -> str:
        cells = cell_len(word)
        if cells == 0:
            return ""
        breaks = self._column > 0 and self._column + cells > self._width
        self._column = cells if breaks else self._column + cells
        return f"\n{word}" if breaks else word
