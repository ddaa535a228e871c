"""A worker that dies between an effect and its record, over and over: the next one goes on, and nothing is twice."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest

from core.json_value import JsonObject
from state.records import EffectStatus, Run, RunStatus
from state.repository import Repository
from tests.builders.worlds import world_with_cluster
from tests.fakes.losing_clients import Killed, Losses, losing
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.delete_cluster.test_delete import approved
from tests.workflows.catalogue.runs import LEASE_SECONDS, Bench
from tools.nodes import CLUSTER_NODES, NodesArgs

ONE: JsonObject = {"name": "llama", "zone_id": "usw2-az2", "instance_type": "ml.p5.48xlarge", "count": 1}


def work_through_kills(twin: WholeTwin, rows: Repository, run: Run, losses: Losses) -> tuple[Run, int]:
    """The run at its end, and how many workers died on the way. A new worker comes once the lease has run out."""
    for deaths in count():
        bench = Bench(twin, rows, losing(twin.clients, losses), worker=f"worker-{deaths}")
        try:
            return bench.work(run), deaths
        except Killed:
            twin.advance(LEASE_SECONDS + 1)
    raise AssertionError("unreachable")


@pytest.mark.parametrize("offset", range(3), ids=lambda offset: f"at every third effect from {offset} on")
def test_a_cluster_is_made_once_and_deleted_once_through_kills(twin: WholeTwin, rows: Repository, offset: int) -> None:
    losses = Losses(lambda call, number: number % 3 == offset, kills=True)
    run = Bench(twin, rows).start("create_cluster", ONE, cluster="llama")
    created, deaths = work_through_kills(twin, rows, run, losses)

    assert created.status is RunStatus.DONE, created.failure
    assert deaths >= 8
    made = Counter(twin.effects())
    assert made["sagemaker:CreateCluster"] == made["eks:CreateCluster"] == made["ec2:CreateVpc"] == 1
    assert made.total() == len(rows.list_effects(created.id))

    run = Bench(twin, rows).start("delete_cluster", approved(twin, "llama"), cluster="llama")
    deleted, deaths = work_through_kills(twin, rows, run, losses)

    assert deleted.status is RunStatus.DONE, deleted.failure
    assert deaths >= 5
    assert (Counter(twin.effects()) - made).total() == len(rows.list_effects(deleted.id))
    assert {effect.status for effect in rows.list_effects(deleted.id)} == {EffectStatus.APPLIED}
    assert twin.live()["clusters"] == {}


DAY_AFTER: dict[str, JsonObject] = {
    "add_capacity": {
        "group": "workers",
        "is_new_group": False,
        "count": 2,
        "zone_id": "usw2-az1",
        "zone_name": "us-west-2a",
        "instance_type": "ml.g5.12xlarge",
        "mode": "on_demand",
    },
    "remove_capacity": {},
    "reboot_node": {},
    "replace_node": {},
}


@pytest.mark.parametrize("workflow", list(DAY_AFTER))
def test_a_change_to_nodes_happens_once_through_a_kill(twin: WholeTwin, rows: Repository, workflow: str) -> None:
    twin.reset(world_with_cluster("base"))
    node = CLUSTER_NODES.read(twin.clients, NodesArgs(cluster="base", eks_name="base-eks")).nodes[0]
    chosen: JsonObject = {"nodes": [{"logical_id": node.logical_id, "instance_id": str(node.instance_id)}]}
    params = {"cluster": "base", **(DAY_AFTER[workflow] or chosen)}
    losses = Losses(lambda call, number: number == 0, kills=True)
    done, deaths = work_through_kills(twin, rows, Bench(twin, rows).start(workflow, params, cluster="base"), losses)

    assert done.status is RunStatus.DONE, done.failure
    assert deaths == 1
    assert Counter(twin.effects()).total() == 1
    assert {effect.status for effect in rows.list_effects(done.id)} == {EffectStatus.APPLIED}
