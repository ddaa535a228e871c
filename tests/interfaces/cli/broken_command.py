"""A command with a fault of its own."""

from __future__ import annotations

import typer

app = typer.Typer()


@app.command()
def broken() -> None:
    raise ZeroDivisionError("planted")
