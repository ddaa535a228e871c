"""`muster jobs`: the training jobs of a cluster, as its orchestrator shows them now."""

from __future__ import annotations

from typing import Annotated

import typer

from interfaces.bootstrap.world import World, open_world
from interfaces.cli.clusters import ClusterArgument, find_cluster
from interfaces.cli.output import JsonFlag, print_fields, print_json, print_table, to_json
from interfaces.cli.texts import LANGUAGE, say
from interfaces.settings import read_settings
from state.errors import RowNotFound
from tools.jobs import DESCRIBE_JOB, LIST_JOBS, Job, JobName, JobsArgs

app = typer.Typer(help=say("cli.help_jobs"), epilog=say("cli.example_jobs"), no_args_is_help=True)

JobArgument = Annotated[str, typer.Argument(metavar="JOB", help=say("cli.argument_job"))]
NamespaceOption = Annotated[str, typer.Option("--namespace", "-n", help=say("cli.option_namespace"))]


@app.command("list", help=say("cli.help_jobs_list"))
def list_jobs(cluster: ClusterArgument, namespace: NamespaceOption = "", as_json: JsonFlag = False) -> None:
    with open_world(read_settings()) as world:
        name = find_cluster(world, cluster).eks_name
        jobs = world.read(LIST_JOBS, JobsArgs(eks_name=name, namespace=namespace))
    if as_json:
        print_json({"jobs": [to_json(job, LANGUAGE) for job in jobs]})
        return
    print_table(
        [say("cli.column_name"), *(say(f"cli.column_{column}") for column in ("namespace", "status", "nodes", "why"))],
        [[job.name, job.namespace, job.state.value, str(job.nodes), job.text] for job in jobs],
        empty=say("cli.no_jobs"),
    )


@app.command("show", help=say("cli.help_jobs_show"))
def show_job(
    cluster: ClusterArgument, job: JobArgument, namespace: NamespaceOption = "", as_json: JsonFlag = False
) -> None:
    with open_world(read_settings()) as world:
        found = find_job(world, find_cluster(world, cluster).eks_name, job, namespace)
    if as_json:
        print_json({"job": to_json(found, LANGUAGE)})
        return
    print_fields(
        [
            (say("cli.column_name"), f"{found.namespace}/{found.name}"),
            (say("cli.column_status"), found.state.value),
            (say("cli.column_nodes"), str(found.nodes)),
            (say("cli.column_why"), found.text or "-"),
        ]
    )
    print()
    print_table(
        [say(f"cli.column_{name}") for name in ("pods", "node", "status", "why")],
        [[pod.name, pod.node or "-", pod.phase, pod.reason] for pod in found.pods],
        empty="-",
    )


def find_job(world: World, cluster_eks_name: str, name: str, namespace: str) -> Job:
    """In the given namespace, or wherever one job alone has that name. Raises `RowNotFound`."""
    everywhere = world.read(LIST_JOBS, JobsArgs(eks_name=cluster_eks_name, namespace=namespace))
    named = [job for job in everywhere if job.name == name]
    if len(named) != 1:
        raise RowNotFound("job", name if not named else ", ".join(f"{job.namespace}/{name}" for job in named))
    asked = JobName(eks_name=cluster_eks_name, namespace=named[0].namespace, name=name)
    found = world.read(DESCRIBE_JOB, asked)
    if found is None:
        raise RowNotFound("job", name)
    return found
