"""reboot_node and replace_node against the twin, over the wire."""

from __future__ import annotations

from typing import Literal

import pytest

from core.json_value import JsonObject
from core.reasons import RefusalReason
from state.records import EffectStatus, RunStatus
from state.repository import Repository
from tests.builders.worlds import world_with_cluster
from tests.fakes.losing_clients import Losses, losing
from tests.polling import eventually
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.reads import ClientReads, draft
from tests.workflows.catalogue.remove_capacity.test_remove import check_deeply, instance, occupied
from tests.workflows.catalogue.runs import Bench
from tests.workflows.catalogue.submit_job.test_submit import job
from workflows.catalogue.node_repair.operation import NodeRepair
from workflows.operations import Missing, Preparation, Ready, Refused

Verb = Literal["reboot_node", "replace_node"]
CALLS = {"reboot_node": "sagemaker:BatchRebootClusterNodes", "replace_node": "sagemaker:BatchReplaceClusterNodes"}
VERBS = pytest.mark.parametrize("verb", list(CALLS))


@pytest.fixture
def base(twin: WholeTwin) -> WholeTwin:
    twin.reset(world_with_cluster("base"))
    return twin


def prepare(twin: WholeTwin, verb: Verb, params: JsonObject) -> Preparation:
    return NodeRepair(verb).prepare(draft(params), ClientReads(twin.clients), {})


def approved(twin: WholeTwin, verb: Verb, params: JsonObject) -> JsonObject:
    ready = prepare(twin, verb, params)
    assert isinstance(ready, Ready), ready
    return ready.run_params


@VERBS
@pytest.mark.parametrize("loses", [False, True], ids=["no answer lost", "the answer is lost"])
def test_a_node_comes_back_after_exactly_one_call(base: WholeTwin, rows: Repository, verb: Verb, loses: bool) -> None:
    before = [instance(base, index) for index in range(4)]
    losses = Losses(lambda call, number: loses and number == 0)
    bench = Bench(base, rows, losing(base.clients, losses))
    run = bench.work(bench.start(verb, approved(base, verb, {"node": before[1]}), cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    assert base.effects() == {CALLS[verb]: 1}
    after = [instance(base, index) for index in range(4)]
    assert (after == before) == (verb == "reboot_node")
    assert base.live()["clusters"]["base"]["nodes_ready"] == 4
    assert {effect.status for effect in rows.list_effects(run.id)} == {EffectStatus.APPLIED}


def test_a_node_that_aws_does_not_take_is_named_while_the_other_is_followed(base: WholeTwin, bench: Bench) -> None:
    first, second = instance(base, 0), instance(base, 1)
    frozen = approved(base, "reboot_node", {"nodes": [first, second]})
    check_deeply(base, first)
    run = bench.work(bench.start("reboot_node", frozen, cluster="base"))

    assert run.status is RunStatus.FAILED
    assert run.failure is not None
    assert (run.failure.message.params["done"], run.failure.message.params["total"]) == (1, 2)
    assert first in str(run.failure.message.params["nodes"])
    assert base.effects()[CALLS["reboot_node"]] == 1


@VERBS
def test_the_card_lists_the_job_that_is_interrupted(base: WholeTwin, bench: Bench, verb: Verb) -> None:
    sleeper = job("first", nodes=4, command=("sleep", "60"), team="")
    bench.work(bench.start("submit_job", sleeper, cluster="base"), most_looks=2)
    eventually(lambda: len(occupied(base)) == 4, within_seconds=30, what="four busy nodes")
    ready = prepare(base, verb, {"node": instance(base)})

    assert isinstance(ready, Ready)
    assert ready.blast_radius[0].params == {"job": "default/first"}


@VERBS
def test_another_machine_under_the_same_logical_id_is_left_alone(base: WholeTwin, bench: Bench, verb: Verb) -> None:
    frozen = approved(base, verb, {"node": instance(base)})
    base.aws.call("sagemaker", "BatchReplaceClusterNodes", {"ClusterName": "base", "NodeIds": [instance(base)]})
    base.advance(3600)
    run = bench.work(bench.start(verb, frozen, cluster="base"))

    assert run.status is RunStatus.FAILED
    assert base.effects() == {"sagemaker:BatchReplaceClusterNodes": 1}


@VERBS
def test_which_node_is_asked(base: WholeTwin, verb: Verb) -> None:
    missing = prepare(base, verb, {})

    assert isinstance(missing, Missing)
    assert len(missing.question.options) == 4


@VERBS
def test_an_unknown_node_is_refused(base: WholeTwin, verb: Verb) -> None:
    refused = prepare(base, verb, {"node": "i-00000000000000000"})

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.NAME_UNKNOWN
