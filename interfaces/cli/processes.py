"""`muster worker`, `muster twin`, `muster planner`: one process of Muster in the foreground, for operators."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interfaces.bootstrap import planner as planner_process
from interfaces.bootstrap import twin as twin_process
from interfaces.bootstrap.home import Home
from interfaces.bootstrap.log_lines import log_as_json
from interfaces.bootstrap.worker import work
from interfaces.bootstrap.world import open_world
from interfaces.cli.texts import say
from interfaces.settings import read_settings

worker_app = typer.Typer()
twin_app = typer.Typer()
planner_app = typer.Typer()

FolderOption = Annotated[Path | None, typer.Option("--folder", help=say("cli.option_folder"))]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help=say("cli.option_port"))]


@worker_app.command(help=say("cli.help_worker"))
def worker() -> None:
    settings = read_settings()
    log_as_json()
    with open_world(settings) as world:
        work(settings, world)


@twin_app.command(help=say("cli.help_twin"))
def twin(
    folder: FolderOption = None,
    port: PortOption = 0,
    factor: Annotated[
        float | None, typer.Option("--time-factor", min=0.001, help=say("cli.option_time_factor"))
    ] = None,
) -> None:
    settings = read_settings()
    where = folder or Home(settings.home).twin
    where.mkdir(parents=True, exist_ok=True, mode=0o700)
    twin_process.main(
        [
            *("--folder", str(where)),
            *("--port", str(port)),
            *("--time-factor", str(factor or settings.time_factor)),
            *("--region", settings.region),
        ]
    )


@planner_app.command(help=say("cli.help_planner"))
def planner(folder: FolderOption = None, port: PortOption = 0) -> None:
    where = folder or Home(read_settings().home).planner
    where.mkdir(parents=True, exist_ok=True, mode=0o700)
    planner_process.main(["--folder", str(where), "--port", str(port)])
