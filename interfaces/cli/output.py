"""How rows reach a terminal or a program: one table or one JSON object, from the same values."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Annotated

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.json_value import JsonValue
from core.messages.message import Language, Message
from interfaces.cli.texts import say

JsonFlag = Annotated[bool, typer.Option("--json", help=say("cli.option_json"))]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1000, help=say("cli.option_limit"))]


def print_json(value: Mapping[str, JsonValue]) -> None:
    """One JSON object, the only thing on stdout."""
    print(json.dumps(value, ensure_ascii=False))


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
    """Cells are untrusted text: shown as they are, never read as markup, control characters made visible."""
    if not rows:
        print(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for position, header in enumerate(headers):
        # The last column takes what is left and wraps; ids and states stay whole.
        table.add_column(header, no_wrap=position < len(headers) - 1, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    _print(table)


def print_fields(fields: Sequence[tuple[str, str]]) -> None:
    """Name and value per line, for one row."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, value in fields:
        table.add_row(name, Text(visible(value)))
    _print(table)


def console(*, to_stderr: bool = False) -> Console:
    """Colour only on a terminal and without NO_COLOR, which rich looks after; a pipe gets whole lines."""
    is_terminal = (sys.stderr if to_stderr else sys.stdout).isatty()
    return Console(stderr=to_stderr, width=None if is_terminal else 200, highlight=False, soft_wrap=not is_terminal)


def _print(table: Table) -> None:
    """Without the blanks that rich fills the last column up with."""
    screen = console()
    with screen.capture() as drawn:
        screen.print(table)
    for line in drawn.get().splitlines():
        print(line.rstrip())


def to_json(value: object, language: Language) -> JsonValue:
    """A row as JSON: field names as they are, times in ISO 8601, texts as `{"key", "text"}`."""
    match value:
        case Message():
            return {"key": value.key, "text": value.render(language)}
        case Enum():
            return to_json(value.value, language)
        case datetime():
            return value.isoformat()
        case BaseModel():
            return to_json(value.model_dump(), language)
        case None | str() | int() | float() | bool():
            return value
        case Mapping():
            return {str(key): to_json(item, language) for key, item in value.items()}
        case Sequence() | set() | frozenset():
            return [to_json(item, language) for item in value]
        case _ if dataclasses.is_dataclass(value):
            return {field.name: to_json(getattr(value, field.name), language) for field in dataclasses.fields(value)}
        case _:
            return str(value)


def visible(text: str) -> str:
    """Control and bidirectional characters as escapes: a log line must not repaint the terminal."""
    return "".join(
        char if char in "\n\t" or (char.isprintable() and char not in _BIDI) else f"\\x{ord(char):02x}" for char in text
    )


def moment(at: datetime | None) -> str:
    """Local time, to the second."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else "-"


_BIDI = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
