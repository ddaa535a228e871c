"""delete_cluster against the twin, over the wire."""

from __future__ import annotations

import pytest

from core.ids import ClusterName
from core.json_value import JsonObject
from core.reasons import RefusalReason
from core.risk import Risk
from state.records import EffectStatus, RunStatus
from state.repository import Repository
from tests.builders.worlds import world_with_cluster
from tests.fakes.losing_clients import Losses, losing
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.reads import ClientReads, draft
from tests.workflows.catalogue.runs import Bench
from tools.ec2_parts import VPC, find_parts
from workflows.catalogue.delete_cluster.operation import DeleteCluster
from workflows.operations import Missing, Preparation, Ready, Refused

ONE: JsonObject = {"name": "llama", "zone_id": "usw2-az2", "instance_type": "ml.p5.48xlarge", "count": 1}


def prepare(twin: WholeTwin, params: JsonObject) -> Preparation:
    return DeleteCluster().prepare(draft(params), ClientReads(twin.clients), {})


def approved(twin: WholeTwin, name: str) -> JsonObject:
    """The parameters that an approval would freeze."""
    ready = prepare(twin, {"cluster": name})
    assert isinstance(ready, Ready)
    return ready.run_params


@pytest.mark.parametrize("offset", [None, 0, 1, 2], ids=["no answer lost", "every third", "from 1", "from 2"])
def test_a_cluster_goes_with_all_that_muster_made_for_it(twin: WholeTwin, rows: Repository, offset: int | None) -> None:
    bench = Bench(twin, rows)
    bench.work(bench.start("create_cluster", ONE, cluster="llama"))
    losses = Losses(lambda call, number: offset is not None and number % 3 == offset)
    bench = Bench(twin, rows, losing(twin.clients, losses))
    run = bench.work(bench.start("delete_cluster", approved(twin, "llama"), cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    live = twin.live()
    assert (live["clusters"], live["eks_clusters"]) == ({}, {})
    assert find_parts(twin.clients, VPC, "llama") == []
    assert {effect.status for effect in rows.list_effects(run.id)} == {EffectStatus.APPLIED}
    assert twin.effects()["sagemaker:DeleteCluster"] == 1
    assert (offset is None) == (losses.lost == [])


def test_what_muster_did_not_make_stays(twin: WholeTwin, bench: Bench) -> None:
    twin.reset(world_with_cluster("base"))
    run = bench.work(bench.start("delete_cluster", approved(twin, "base"), cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    live = twin.live()
    assert live["clusters"] == {}
    assert list(live["eks_clusters"].values()) == ["ACTIVE"]
    assert twin.effects() == {"sagemaker:DeleteCluster": 1}


def test_another_cluster_of_the_same_name_is_not_the_one_that_was_approved(twin: WholeTwin, bench: Bench) -> None:
    twin.reset(world_with_cluster("base"))
    frozen = {**approved(twin, "base"), "arn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/000000000000"}
    run = bench.work(bench.start("delete_cluster", frozen, cluster="base"))

    assert run.status is RunStatus.FAILED
    assert twin.effects() == {}


def test_the_card_lists_what_is_lost_and_what_stays(twin: WholeTwin) -> None:
    twin.reset(world_with_cluster("base", nodes=3))
    ready = prepare(twin, {"cluster": "base"})

    assert isinstance(ready, Ready)
    assert ready.risk is Risk.DESTRUCTIVE
    assert ready.cluster == ClusterName("base")
    assert [line.key for line in ready.card] == [
        "delete_cluster.card_what",
        "delete_cluster.card_eks_stays",
        "delete_cluster.card_network_stays",
    ]
    assert ready.blast_radius[0].params == {"group": "workers", "count": 3, "type": "ml.g5.12xlarge"}


def test_a_deletion_without_a_name_is_asked_even_when_there_is_one_cluster_only(twin: WholeTwin) -> None:
    twin.reset(world_with_cluster("base"))
    missing = prepare(twin, {})

    assert isinstance(missing, Missing)
    assert [option.value for option in missing.question.options] == ["base"]


def test_a_cluster_that_does_not_exist_cannot_be_deleted(twin: WholeTwin) -> None:
    refused = prepare(twin, {"cluster": "ghost"})

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.NAME_UNKNOWN
