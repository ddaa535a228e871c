"""`muster clusters`: the HyperPod clusters of the account and region, as the platform shows them now."""

from __future__ import annotations

from typing import Annotated

import typer

from interfaces.bootstrap.world import World, open_world
from interfaces.cli.output import JsonFlag, print_fields, print_json, print_table, to_json
from interfaces.cli.texts import LANGUAGE, say
from interfaces.settings import read_settings
from state.errors import RowNotFound
from tools.arguments import ByName, NoArgs
from tools.clusters import DESCRIBE_CLUSTER, LIST_CLUSTERS, ClusterDetails
from tools.nodes import CLUSTER_NODES, NodesArgs

app = typer.Typer(help=say("cli.help_clusters"), epilog=say("cli.example_clusters"), no_args_is_help=True)

ClusterArgument = Annotated[str, typer.Argument(metavar="CLUSTER", help=say("cli.argument_cluster"))]


@app.command("list", help=say("cli.help_clusters_list"))
def list_clusters(as_json: JsonFlag = False) -> None:
    with open_world(read_settings()) as world:
        clusters = world.read(LIST_CLUSTERS, NoArgs())
    if as_json:
        print_json({"clusters": [to_json(cluster, LANGUAGE) for cluster in clusters]})
        return
    print_table(
        [say("cli.column_name"), say("cli.column_status"), "ARN"],
        [[cluster.name, cluster.status.value, cluster.arn] for cluster in clusters],
        empty=say("cli.no_clusters"),
    )


@app.command("show", help=say("cli.help_clusters_show"))
def show_cluster(cluster: ClusterArgument, as_json: JsonFlag = False) -> None:
    with open_world(read_settings()) as world:
        found = find_cluster(world, cluster)
    if as_json:
        print_json({"cluster": to_json(found, LANGUAGE)})
        return
    print_fields(
        [
            (say("cli.column_name"), found.cluster.name),
            (say("cli.column_status"), found.cluster.status.value),
            (say("cli.column_orchestrator"), found.cluster.orchestrator.value),
            ("ARN", found.cluster.arn),
            *([(say("cli.column_failure"), found.cluster.failure_message)] if found.cluster.failure_message else []),
        ]
    )
    print()
    print_table(
        [say(f"cli.column_{name}") for name in ("group", "type", "status", "nodes", "zone")],
        [
            [
                group.name,
                ", ".join(group.instance_types),
                group.status.value,
                f"{group.current_count}/{group.target_count}",
                group.zone or "-",
            ]
            for group in found.cluster.groups
        ],
        empty="-",
    )


@app.command("nodes", help=say("cli.help_clusters_nodes"))
def list_nodes(cluster: ClusterArgument, as_json: JsonFlag = False) -> None:
    with open_world(read_settings()) as world:
        details = find_cluster(world, cluster)
        found = world.read(CLUSTER_NODES, NodesArgs(cluster=cluster, eks_name=details.eks_name))
    if as_json:
        print_json(
            {
                "nodes": [to_json(node, LANGUAGE) for node in found.nodes],
                "orchestrator_answers": found.orchestrator_answers,
            }
        )
        return
    columns = ("node", "instance", "group", "type", "zone", "status", "ready", "health")
    print_table(
        [say(f"cli.column_{name}") for name in columns],
        [
            [
                node.logical_id,
                node.instance_id or "-",
                node.group,
                node.instance_type,
                node.zone or "-",
                node.status.value,
                say("general.yes") if node.is_ready else say("general.no"),
                node.health.value,
            ]
            for node in found.nodes
        ],
        empty=say("cli.no_nodes"),
    )


def find_cluster(world: World, name: str) -> ClusterDetails:
    """Raises `RowNotFound` when the account has none of that name in the region."""
    found = world.read(DESCRIBE_CLUSTER, ByName(name=name))
    if found is None:
        raise RowNotFound("cluster", name)
    return found
