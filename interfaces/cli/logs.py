"""`muster logs`: the end of a training job's log."""

from __future__ import annotations

from typing import Annotated

import typer

from interfaces.bootstrap.world import open_world
from interfaces.cli.clusters import ClusterArgument, find_cluster
from interfaces.cli.jobs import JobArgument, NamespaceOption, find_job
from interfaces.cli.output import JsonFlag, print_json, visible
from interfaces.cli.texts import say
from interfaces.settings import read_settings
from state.errors import RowNotFound
from tools.jobs import POD_LOGS, LogArgs

app = typer.Typer()


@app.command(help=say("cli.help_logs"), epilog=say("cli.example_logs"))
def logs(
    cluster: ClusterArgument,
    job: JobArgument,
    pod: Annotated[str | None, typer.Option("--pod", help=say("cli.option_pod"))] = None,
    tail: Annotated[int, typer.Option("--tail", min=1, max=10_000, help=say("cli.option_tail"))] = 50,
    namespace: NamespaceOption = "",
    as_json: JsonFlag = False,
) -> None:
    with open_world(read_settings()) as world:
        name = find_cluster(world, cluster).eks_name
        found = find_job(world, name, job, namespace)
        pods = sorted(item.name for item in found.pods if pod is None or item.name == pod)
        if not pods:
            raise RowNotFound("pod", pod or job)
        text = world.read(POD_LOGS, LogArgs(eks_name=name, namespace=found.namespace, pod=pods[0], lines=tail))
    lines = text.splitlines()
    if as_json:
        print_json({"pod": pods[0], "lines": lines})
        return
    for line in lines:
        print(visible(line))
