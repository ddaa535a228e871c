"""remove_capacity against the twin, over the wire."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from core.reasons import RefusalReason
from core.risk import Risk
from state.records import EffectStatus, RunStatus
from state.repository import Repository
from tests.builders.worlds import world_with_cluster
from tests.fakes.losing_clients import Losses, losing
from tests.polling import eventually
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.reads import ClientReads, draft
from tests.workflows.catalogue.runs import Bench
from tests.workflows.catalogue.submit_job.test_submit import job
from tools.arguments import ByName
from tools.nodes import CLUSTER_NODES, NodesArgs
from tools.occupants import OCCUPANTS
from workflows.catalogue.remove_capacity.operation import RemoveCapacity
from workflows.operations import Missing, Preparation, Ready, Refused


@pytest.fixture
def base(twin: WholeTwin) -> WholeTwin:
    twin.reset(world_with_cluster("base"))
    return twin


@pytest.fixture
def busy(base: WholeTwin, bench: Bench) -> WholeTwin:
    """A job on three of the four nodes."""
    sleeper = job("first", nodes=3, command=("sleep", "60"), team="")
    bench.work(bench.start("submit_job", sleeper, cluster="base"), most_looks=2)
    eventually(lambda: len(occupied(base)) == 3, within_seconds=30, what="three busy nodes")
    return base


def occupied(twin: WholeTwin) -> dict[str, tuple[str, ...]]:
    return OCCUPANTS.read(twin.clients, ByName(name="base-eks"))


def prepare(twin: WholeTwin, params: JsonObject) -> Preparation:
    return RemoveCapacity().prepare(draft(params), ClientReads(twin.clients), {})


def approved(twin: WholeTwin, params: JsonObject) -> JsonObject:
    ready = prepare(twin, params)
    assert isinstance(ready, Ready), ready
    return ready.run_params


def instance(twin: WholeTwin, index: int = 0) -> str:
    nodes = CLUSTER_NODES.read(twin.clients, NodesArgs(cluster="base", eks_name="base-eks")).nodes
    return str(nodes[index].instance_id)


def check_deeply(twin: WholeTwin, instance_id: str) -> None:
    """Keep HyperPod at work on a node for an hour or so."""
    check: JsonObject = {
        "InstanceGroupName": "workers",
        "InstanceIds": [instance_id],
        "DeepHealthChecks": ["InstanceStress"],
    }
    params: JsonObject = {"ClusterName": "base", "DeepHealthCheckConfigurations": [check]}
    twin.aws.call("sagemaker", "StartClusterHealthCheck", params)


@pytest.mark.parametrize("loses", [False, True], ids=["no answer lost", "the answer is lost"])
def test_exactly_the_approved_nodes_go(base: WholeTwin, rows: Repository, loses: bool) -> None:
    doomed = instance(base, 2)
    losses = Losses(lambda call, number: loses and number == 0)
    bench = Bench(base, rows, losing(base.clients, losses))
    run = bench.work(bench.start("remove_capacity", approved(base, {"node": doomed}), cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    live = base.live()["clusters"]["base"]
    assert (live["nodes_ready"], live["groups"]["workers"]["target"]) == (3, 3)
    assert doomed not in {instance(base, index) for index in range(3)}
    assert base.effects() == {"sagemaker:BatchDeleteClusterNodes": 1}
    assert {effect.status for effect in rows.list_effects(run.id)} == {EffectStatus.APPLIED}


def test_a_count_takes_the_node_on_which_nothing_runs(busy: WholeTwin) -> None:
    params = approved(busy, {"count": 1})

    nodes = params["nodes"]
    assert isinstance(nodes, list)
    assert f"hyperpod-{nodes[0]['instance_id']}" not in occupied(busy)
    assert params["lost_jobs"] == []


def test_a_total_says_how_many_remain(base: WholeTwin) -> None:
    nodes = approved(base, {"total": 3})["nodes"]

    assert isinstance(nodes, list)
    assert len(nodes) == 1


def test_nodes_with_jobs_are_protected_and_listed(busy: WholeTwin) -> None:
    refused = prepare(busy, {"count": 2})

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.TARGET_BUSY
    assert str(refused.message.params["nodes"]).count("default/first") == 3
    assert refused.remedies[0].params["count"] == 1


def test_a_named_busy_node_goes_only_when_interruption_was_asked_for(busy: WholeTwin) -> None:
    name = next(iter(occupied(busy))).removeprefix("hyperpod-")
    refused = prepare(busy, {"node": name})
    ready = prepare(busy, {"node": name, "interrupts_jobs": True})

    assert isinstance(refused, Refused)
    assert isinstance(ready, Ready)
    assert ready.risk is Risk.DESTRUCTIVE
    assert [line.key for line in ready.blast_radius] == ["nodes.lost", "nodes.interrupts", "delete_cluster.loses_disks"]


def test_a_job_that_began_after_the_approval_stops_the_run(base: WholeTwin, bench: Bench) -> None:
    frozen = approved(base, {"count": 4})
    sleeper = job("late", nodes=2, command=("sleep", "60"), team="")
    bench.work(bench.start("submit_job", sleeper, cluster="base"), most_looks=2)
    eventually(lambda: len(occupied(base)) == 2, within_seconds=30, what="two busy nodes")
    run = bench.work(bench.start("remove_capacity", frozen, cluster="base"))

    assert run.status is RunStatus.FAILED
    assert run.failure is not None
    assert run.failure.message.params["jobs"] == "default/late"
    assert "sagemaker:BatchDeleteClusterNodes" not in base.effects()


def test_a_node_that_hyperpod_is_at_work_on_is_tried_again(base: WholeTwin, bench: Bench) -> None:
    frozen = approved(base, {"node": instance(base)})
    check_deeply(base, instance(base))
    run = bench.work(bench.start("remove_capacity", frozen, cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    tried = [effect for effect in bench.repository.list_effects(run.id) if effect.tool == "delete_nodes"]
    assert len(tried) > 1
    assert base.live()["clusters"]["base"]["groups"]["workers"]["target"] == 3


def test_how_many_is_asked_when_nobody_said_it(base: WholeTwin) -> None:
    missing = prepare(base, {})

    assert isinstance(missing, Missing)
    assert missing.question.field == "count"


def test_an_unknown_node_is_refused(base: WholeTwin) -> None:
    refused = prepare(base, {"node": "i-00000000000000000"})

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.NAME_UNKNOWN
