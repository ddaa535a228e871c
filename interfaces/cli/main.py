"""`muster`: maps each command to the module that holds it and loads it when it is called, not before.

`muster --help` therefore costs what typer costs. Commands of other packages (`eval`, `bench`) are found
through the entry-point group `muster.commands` and listed without being imported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

import typer

# Typer carries its own copy of click; a lazy group can only be typed with that copy's classes.
from typer._click.core import Command, Context
from typer._click.formatting import HelpFormatter
from typer.core import TyperGroup
from typer.main import get_command

from core.messages.catalogue import TEXTS
from interfaces.cli.texts import LANGUAGE, say

_COMMANDS: Mapping[str, str] = {
    "chat": "interfaces.cli.chat:app",
    "demo": "interfaces.cli.demo.command:app",
    "runs": "interfaces.cli.runs:app",
    "questions": "interfaces.cli.questions:app",
    "plans": "interfaces.cli.plans:app",
    "clusters": "interfaces.cli.clusters:app",
    "jobs": "interfaces.cli.jobs:app",
    "events": "interfaces.cli.events:app",
    "logs": "interfaces.cli.logs:app",
    "audit": "interfaces.cli.audit:app",
    "explain": "interfaces.cli.explain:app",
    "simulate": "interfaces.cli.simulate:app",
    "doctor": "interfaces.cli.doctor:app",
    "env": "interfaces.cli.env:app",
    "worker": "interfaces.cli.processes:worker_app",
    "twin": "interfaces.cli.processes:twin_app",
    "planner": "interfaces.cli.processes:planner_app",
}


def main() -> None:
    """The console script. Ends the process with a code of `interfaces.errors.ExitCode`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line and return its exit code; every error becomes one sentence."""
    root = LazyCommands(
        name="muster",
        help=say("cli.about"),
        epilog=say("cli.epilog"),
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode=None,
    )
    try:
        code = root.main(list(arguments) or ["--help"], prog_name="muster", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001  the edge: whatever it is becomes a sentence and an exit code
        return report(error, wants_json="--json" in arguments)
    return code if isinstance(code, int) else 0


def report(error: BaseException, *, wants_json: bool) -> int:
    """Loaded on error only: it knows every package's errors, which costs more than the help does."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 1
    reporter = import_module("interfaces.cli.failures")
    code: int = reporter.report(error, wants_json=wants_json)
    return code


class LazyCommands(TyperGroup):
    """The top level: names and help lines from a table and the entry points, code on demand."""

    def list_commands(self, ctx: Context) -> list[str]:
        return [*_COMMANDS, *sorted(_foreign())]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if cmd_name in _COMMANDS:
            module, _, attribute = _COMMANDS[cmd_name].partition(":")
            app = getattr(import_module(module), attribute)
        elif entry := _foreign().get(cmd_name):
            app = entry.load()
        else:
            return None
        if not isinstance(app, typer.Typer):
            raise TypeError(f"the command {cmd_name!r} is not a typer application")
        app.rich_markup_mode = None
        command = get_command(app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        with formatter.section(say("cli.commands")):
            formatter.write_dl([(name, _help_line(name)) for name in self.list_commands(ctx)])


def _foreign() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="muster.commands")}


def _help_line(name: str) -> str:
    key = f"cli.help_{name}"
    return say(key) if key in TEXTS[LANGUAGE] else say("cli.help_foreign", name=name)
