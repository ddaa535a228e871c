"""add_capacity against the twin, over the wire: increments, new groups, lost answers and shortages."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject, JsonValue
from core.questions import QuestionKind
from state.records import EffectStatus, RunStatus
from state.repository import Repository
from tests.fakes.losing_clients import Killed, Losses, losing
from tests.twin_process import REGION, WholeTwin
from tests.workflows.catalogue.runs import Bench
from tools.reading import text, texts
from tools.subnets import SUBNETS_BY_ID, SubnetIds
from twin.world.specification import ClusterSpec, GroupSpec, PlanSpec, WorldSpec

WORLD = WorldSpec(
    region=REGION,
    zones={
        "usw2-az1": {"ml.g5.12xlarge": 6, "ml.g5.48xlarge": 4},
        "usw2-az2": {"ml.g5.12xlarge": 8},
    },
    quotas={"ml.g5.12xlarge": 20, "ml.g5.48xlarge": 4},
    plans=(PlanSpec(id="reserved", type="ml.g5.12xlarge", count=8, zone="usw2-az1", hours_left=300),),
    clusters=(
        ClusterSpec(name="base", zone="usw2-az1", groups=(GroupSpec(name="workers", type="ml.g5.12xlarge", count=4),)),
    ),
)
CAPACITY: JsonObject = {"zone": "usw2-az1", "type": "ml.g5.12xlarge"}


def grow(count: int = 2, **changed: JsonValue) -> JsonObject:
    return {
        "cluster": "base",
        "group": "workers",
        "is_new_group": False,
        "count": count,
        "zone_id": "usw2-az1",
        "zone_name": "us-west-2a",
        "instance_type": "ml.g5.12xlarge",
        "mode": "on_demand",
        **changed,
    }


@pytest.fixture
def base(twin: WholeTwin) -> WholeTwin:
    twin.reset(WORLD)
    return twin


def subnet_of(twin: WholeTwin) -> str:
    answer = twin.aws.call("sagemaker", "DescribeCluster", {"ClusterName": "base"})
    network = answer["VpcConfig"]
    assert isinstance(network, dict)
    (subnet, *_) = network["Subnets"]
    found = SUBNETS_BY_ID.read(twin.clients, SubnetIds(ids=(subnet,)))
    return found[0].subnet_id


@pytest.mark.parametrize("loses", [False, True], ids=["no answer lost", "the answer is lost"])
def test_a_group_grows_by_exactly_the_increment(base: WholeTwin, rows: Repository, loses: bool) -> None:
    losses = Losses(lambda call, number: loses and number == 0)
    bench = Bench(base, rows, losing(base.clients, losses))
    run = bench.work(bench.start("add_capacity", grow(2), cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    live = base.live()["clusters"]["base"]
    assert (live["nodes_ready"], live["groups"]["workers"]["target"]) == (6, 6)
    assert base.effects() == {"sagemaker:BatchAddClusterNodes": 1}
    assert run.data["nodes_ready"] == 2
    assert {effect.status for effect in rows.list_effects(run.id)} == {EffectStatus.APPLIED}


def test_a_lost_increment_is_not_taken_for_somebody_elses(base: WholeTwin, rows: Repository) -> None:
    """One more by somebody else while our answer is lost: the token, not the count, says which one is ours."""

    def somebody_adds_one(call: str, number: int) -> bool:
        nodes: JsonObject = {"InstanceGroupName": "workers", "IncrementTargetCountBy": 1}
        params: JsonObject = {"ClusterName": "base", "ClientToken": "someone", "NodesToAdd": [nodes]}
        if number == 0:
            base.aws.call("sagemaker", "BatchAddClusterNodes", params)
        return number == 0

    bench = Bench(base, rows, losing(base.clients, Losses(somebody_adds_one)))
    done = bench.work(bench.start("add_capacity", grow(1), cluster="base"))

    assert done.status is RunStatus.DONE, done.failure
    assert base.live()["clusters"]["base"]["groups"]["workers"]["target"] == 6
    (effect,) = rows.list_effects(done.id)
    assert effect.result is not None
    assert len(texts(effect.result, "nodes")) == 1


def test_a_token_that_aws_has_forgotten_is_not_used_again(base: WholeTwin, rows: Repository) -> None:
    losses = Losses(lambda call, number: number == 0, kills=True)
    bench = Bench(base, rows, losing(base.clients, losses), worker="worker-1")
    run = bench.start("add_capacity", grow(1), cluster="base")
    with pytest.raises(Killed):
        bench.work(run)
    base.advance(9 * 3600)
    done = Bench(base, rows, worker="worker-2").work(run)

    assert done.status is RunStatus.DONE, done.failure
    assert base.live()["clusters"]["base"]["groups"]["workers"]["target"] == 5
    assert base.effects() == {"sagemaker:BatchAddClusterNodes": 1}


@pytest.mark.parametrize("loses", [False, True], ids=["no answer lost", "the answer is lost"])
@pytest.mark.parametrize("mode", ["on_demand", "spot", "training_plan"])
def test_a_new_group_stands_beside_the_others(base: WholeTwin, rows: Repository, loses: bool, mode: str) -> None:
    losses = Losses(lambda call, number: loses and number == 0)
    bench = Bench(base, rows, losing(base.clients, losses))
    (plan,) = base.aws.pages("sagemaker", "ListTrainingPlans", {}, "TrainingPlanSummaries")
    params = grow(
        2,
        group="more",
        is_new_group=True,
        subnet_id=subnet_of(base),
        mode=mode,
        plan_arn=text(plan, "TrainingPlanArn") if mode == "training_plan" else "",
    )
    run = bench.work(bench.start("add_capacity", params, cluster="base"))

    assert run.status is RunStatus.DONE, run.failure
    groups = base.live()["clusters"]["base"]["groups"]
    assert groups["workers"] == {"type": "ml.g5.12xlarge", "running": 4, "target": 4}
    assert groups["more"] == {"type": "ml.g5.12xlarge", "running": 2, "target": 2}
    assert base.effects() == {"sagemaker:UpdateCluster": 1}


@pytest.fixture
def short(base: WholeTwin, bench: Bench) -> Bench:
    """Six are in the zone, of which three are wanted, and then there are two."""
    base.break_later(
        {"at": "seconds:0", "kind": "capacity_loss", "zone": "usw2-az1", "type": "ml.g5.12xlarge", "to": 2}
    )
    run = bench.work(bench.start("add_capacity", grow(3), cluster="base"))
    assert run.status is RunStatus.WAITING, run.failure
    return bench


def go_on(bench: Bench, value: JsonValue) -> None:
    bench.answer(value)
    (run,) = bench.repository.list_runs()
    ended = bench.work(run)
    assert ended.status is RunStatus.DONE, (ended.failure, ended.reason)


def test_a_shortage_is_a_capacity_question_while_what_came_is_usable(base: WholeTwin, short: Bench) -> None:
    question = short.open_question()

    assert question.kind is QuestionKind.CAPACITY
    assert [option.value for option in question.options] == [
        {"mode": "on_demand", "count": 2},
        {"mode": "on_demand", "count": 1, "zone": "usw2-az2"},
        {"mode": "on_demand", "count": 1, "type": "ml.g5.48xlarge"},
        {"mode": "training_plan", "count": 1, "plan": "reserved", "zone": "usw2-az1"},
        {"mode": "on_demand", "count": 3},
    ]
    assert all(option.evidence for option in question.options)
    base.advance(3600)
    assert base.live()["clusters"]["base"]["nodes_ready"] == 6


def test_fewer_gives_back_exactly_the_node_that_never_came(base: WholeTwin, short: Bench) -> None:
    go_on(short, {"mode": "on_demand", "count": 2})

    live = base.live()["clusters"]["base"]
    assert (live["nodes_ready"], live["groups"]["workers"]["target"]) == (6, 6)
    assert base.effects() == {"sagemaker:BatchAddClusterNodes": 1, "sagemaker:BatchDeleteClusterNodes": 1}


def test_another_type_brings_the_missing_node_in_a_group_of_its_own(base: WholeTwin, short: Bench) -> None:
    go_on(short, {"mode": "on_demand", "count": 1, "type": "ml.g5.48xlarge"})

    groups = base.live()["clusters"]["base"]["groups"]
    assert groups["workers"]["running"] == 6
    assert groups["workers-m2"] == {"type": "ml.g5.48xlarge", "running": 1, "target": 1}


def test_another_zone_brings_the_missing_node_and_moves_no_other(base: WholeTwin, short: Bench) -> None:
    go_on(short, {"mode": "on_demand", "count": 1, "zone": "usw2-az2"})

    groups = base.live()["clusters"]["base"]["groups"]
    assert (groups["workers"]["running"], groups["workers-m2"]["running"]) == (6, 1)


def test_who_waits_gets_the_node_when_capacity_comes(base: WholeTwin, short: Bench) -> None:
    base.break_later(
        {"at": "seconds:60", "kind": "capacity_gain", "zone": "usw2-az1", "type": "ml.g5.12xlarge", "to": 3}
    )
    go_on(short, {"mode": "on_demand", "count": 3})

    assert base.live()["clusters"]["base"]["nodes_ready"] == 7


def test_more_than_was_approved_is_asked_again(base: WholeTwin, short: Bench) -> None:
    short.answer({"mode": "on_demand", "count": 9})
    (run,) = short.repository.list_runs()
    short.work(run)

    assert short.open_question().prompt.key == "add_capacity.no_more_than_planned"


def test_a_group_that_is_gone_is_noticed_before_anything_is_added(base: WholeTwin, bench: Bench) -> None:
    run = bench.work(bench.start("add_capacity", grow(1, group="ghost"), cluster="base"))

    assert run.status is RunStatus.FAILED
    assert base.effects() == {}
