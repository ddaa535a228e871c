"""`muster env`: shell lines that point `aws` and `kubectl` at the running twin."""

from __future__ import annotations

import shlex

import typer

from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from interfaces.bootstrap.embedded import embedded_processes
from interfaces.bootstrap.tools_environment import tools_environment
from interfaces.bootstrap.world import connect
from interfaces.cli.output import JsonFlag, print_json
from interfaces.cli.texts import say
from interfaces.settings import Profile, adopt_environment, read_settings

app = typer.Typer()


@app.command(help=say("cli.help_env"), epilog=say("cli.example_env"))
def env(as_json: JsonFlag = False) -> None:
    settings = read_settings()
    if settings.profile is not Profile.EMBEDDED:
        raise InputRefused(RefusalReason.NOT_SUPPORTED, message("cli.env_is_embedded"))
    with embedded_processes(settings) as processes:
        adopt_environment(processes.environment())
        variables = tools_environment(processes, connect(read_settings()))
    if as_json:
        print_json({"environment": dict(variables)})
        return
    for name, value in sorted(variables.items()):
        print(f"export {name}={shlex.quote(value)}")
