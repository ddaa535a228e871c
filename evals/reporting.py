"""How a measuring command ends: lines or one JSON object, the figure last, and an exit code that means the goal.

With `--json` stdout holds one JSON object and nothing else. The exit code is 0 only when the goal holds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated

import typer

from core.json_value import JsonObject

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def finish(result: JsonObject, *, lines: Sequence[str], figure: str, holds: bool, as_json: bool) -> None:
    """Prints the result and ends the command with 0 or 1."""
    if as_json:
        typer.echo(json.dumps(result, ensure_ascii=False, allow_nan=False))
    else:
        for line in lines:
            typer.echo(line)
        typer.echo(figure)
    raise typer.Exit(0 if holds else 1)
