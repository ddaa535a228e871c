"""`muster demo`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from interfaces.bootstrap.embedded import stop_processes
from interfaces.bootstrap.home import Home
from interfaces.cli.demo.human import Human, ScriptedHuman, TerminalHuman
from interfaces.cli.demo.play import play
from interfaces.cli.demo.script import LEASE_SECONDS, TIME_FACTOR
from interfaces.cli.demo.summary import Played, summary_json
from interfaces.cli.line_reader import LineReader
from interfaces.cli.output import JsonFlag, console, print_json
from interfaces.cli.screen import Screen
from interfaces.cli.texts import say
from interfaces.errors import ExitCode
from interfaces.settings import Settings, read_settings

app = typer.Typer()


@app.command(help=say("cli.help_demo"), epilog=say("cli.example_demo"))
def demo(
    yes: Annotated[bool, typer.Option("--yes", help=say("cli.option_yes"))] = False,
    language: Annotated[str | None, typer.Option("--lang", help=say("cli.option_lang"))] = None,
    keep: Annotated[bool, typer.Option("--keep", help=say("cli.option_keep"))] = False,
    as_json: JsonFlag = False,
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="muster-demo-"))
    settings = read_settings(
        profile="embedded",
        home=str(folder),
        language=language,
        time_factor=str(TIME_FACTOR),
        lease_seconds=str(LEASE_SECONDS),
    )
    screen = Screen(console(to_stderr=as_json))
    is_scripted = yes or as_json or not (sys.stdin.isatty() and sys.stdout.isatty())
    try:
        played = _play(settings, screen, is_scripted=is_scripted)
    finally:
        stop_processes(settings)
        if keep:
            screen.line(say("demo.kept", folder=str(folder)))
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if as_json:
        print_json(summary_json(played, settings.language))
    raise typer.Exit(int(ExitCode.DONE if played.proof.holds else ExitCode.DOES_NOT_HOLD))


def _play(settings: Settings, screen: Screen, *, is_scripted: bool) -> Played:
    if is_scripted:
        return play(settings, screen, ScriptedHuman())
    home = Home(settings.home)
    home.create()
    reader = LineReader(home.history)
    human: Human = TerminalHuman(settings.principal, reader, screen)
    with reader.reading():
        return play(settings, screen, human)
