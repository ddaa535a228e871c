"""The measuring commands: `muster eval ...` and `muster bench ...`."""

from __future__ import annotations

import typer

eval_app = typer.Typer(help="Measure correctness.", no_args_is_help=True)
bench_app = typer.Typer(help="Measure speed and size against a baseline of the same run.", no_args_is_help=True)
