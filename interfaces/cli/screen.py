"""The terminal as the chat sees it: lines that stay, one line that is redrawn, and a prompt below them.

On a terminal, progress of one run rewrites its own line and a half-typed answer survives what is printed above
it. Anywhere else (a pipe, a dumb terminal) everything is a plain line. Colours are rich's business, which knows
NO_COLOR.
"""

from __future__ import annotations

import readline
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from interfaces.cli.flowing import Flow
from interfaces.cli.output import visible

_WIDEST = 100
_PIPE_WIDTH = 80
_ERASE_LINE = "\r\x1b[K"
_UP_AND_ERASE = "\x1b[1A\x1b[2K"
_BAR_CELLS = 20


class Screen:
    """Only the main thread writes here; the line reader's thread owns what is typed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_live = console.is_terminal and not console.is_dumb_terminal
        self._prompt: str | None = None
        self._redrawable: tuple[str, int] | None = None
        self._flow: Flow | None = None

    @property
    def width(self) -> int:
        return min(self._console.width, _WIDEST if self._console.is_terminal else _PIPE_WIDTH)

    @property
    def is_live(self) -> bool:
        return self._is_live

    def show_prompt(self, prompt: str | None) -> None:
        """What the line reader has printed (or no longer has): it is drawn again below each new line."""
        self._prompt = prompt

    def line(self, text: str = "", *, style: str = "", indent: int = 0) -> None:
        """A line that stays, wrapped to the width."""
        self._write(self._wrapped(text, indent), style)
        self._redrawable = None

    def progress(self, key: str, text: str, *, style: str = "") -> None:
        """A line that the next progress of the same `key` replaces, where the terminal can."""
        lines = self._wrapped(text, 0)
        if self._is_live and self._redrawable is not None and self._redrawable[0] == key:
            self._console.file.write(_ERASE_LINE + _UP_AND_ERASE * self._redrawable[1])
        self._write(lines, style)
        self._redrawable = (key, len(lines))

    def piece(self, text: str) -> None:
        """Part of a streamed text; `end_stream` closes it."""
        if self._flow is None:
            self._hide_prompt()
            self._flow = Flow(self.width)
        self._console.file.write(self._flow.feed(visible(text)))
        self._console.file.flush()
        self._redrawable = None

    def end_stream(self) -> None:
        if self._flow is not None:
            self._console.file.write(self._flow.end())
            self._console.file.flush()
        self._flow = None

    def _write(self, lines: Sequence[str], style: str) -> None:
        self.end_stream()
        self._hide_prompt()
        for line in lines:
            self._console.print(Text(line, style=style), soft_wrap=True)
        self._draw_prompt()

    def _wrapped(self, text: str, indent: int) -> list[str]:
        lines: list[str] = []
        for part in visible(text).split("\n"):
            own = len(part) - len(part.lstrip(" "))
            margin = " " * (indent + own)
            wrapped = Text(part.lstrip(" ")).wrap(self._console, max(self.width - len(margin), 20))
            lines += [margin + piece.plain.rstrip() for piece in wrapped] or [""]
        return lines

    def _hide_prompt(self) -> None:
        if self._is_live and self._prompt is not None:
            self._console.file.write(_ERASE_LINE)

    def _draw_prompt(self) -> None:
        if self._is_live and self._prompt is not None:
            self._console.file.write(self._prompt + readline.get_line_buffer())
            self._console.file.flush()


def bar(done: int, total: int) -> str:
    """`[#####...............] 2/8`"""
    filled = _BAR_CELLS * min(done, total) // total if total > 0 else 0
    return f"[{'#' * filled}{'.' * (_BAR_CELLS - filled)}] {done}/{total}"


def rows_of_cells(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns aligned by what the characters take on a terminal: Chinese ones take two cells."""
    if not rows:
        return []
    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
