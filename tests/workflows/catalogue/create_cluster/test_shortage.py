"""What happens when AWS has fewer nodes than were wanted: a person is asked, and what they say is done."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject, JsonValue
from core.questions import QuestionKind
from state.records import RunStatus
from tests.twin_process import REGION, WholeTwin
from tests.workflows.catalogue.runs import Bench
from twin.world.specification import PlanSpec, WorldSpec

WANTED: JsonObject = {"name": "llama", "zone_id": "usw2-az1", "instance_type": "ml.p5.48xlarge", "count": 4}
SCARCE = WorldSpec(
    region=REGION,
    zones={
        "usw2-az1": {"ml.p5.48xlarge": 3, "ml.p4d.24xlarge": 8, "ml.g5.12xlarge": 8},
        "usw2-az2": {"ml.p5.48xlarge": 16},
        "usw2-az3": {"ml.p5.48xlarge": 16},
    },
    quotas={"ml.p5.48xlarge": 6, "ml.p4d.24xlarge": 8, "ml.g5.12xlarge": 2},
    plans=(PlanSpec(id="reserved", type="ml.p5.48xlarge", count=8, zone="usw2-az3", hours_left=300),),
)


@pytest.fixture
def asked(twin: WholeTwin, bench: Bench) -> Bench:
    twin.reset(SCARCE)
    run = bench.work(bench.start("create_cluster", WANTED, cluster="llama"))
    assert run.status is RunStatus.WAITING, run.failure
    return bench


def go_on(bench: Bench, value: JsonValue) -> None:
    bench.answer(value)
    (run,) = bench.repository.list_runs()
    ended = bench.work(run)
    assert ended.status is RunStatus.DONE, (ended.failure, ended.reason)


def test_a_shortage_is_one_capacity_question_with_ranked_evidence(asked: Bench) -> None:
    question = asked.open_question()

    assert question.kind is QuestionKind.CAPACITY
    assert question.prompt.params["got"] == 3
    assert [option.value for option in question.options] == [
        {"mode": "on_demand", "count": 3},
        {"mode": "on_demand", "count": 4, "zone": "usw2-az2"},
        {"mode": "on_demand", "count": 4, "zone": "usw2-az3"},
        {"mode": "on_demand", "count": 4, "type": "ml.p4d.24xlarge"},
        {"mode": "training_plan", "count": 4, "plan": "reserved", "zone": "usw2-az3"},
        {"mode": "on_demand", "count": 4},
    ]
    assert [option.is_recommended for option in question.options] == [True, False, False, False, False, False]
    assert all(option.evidence for option in question.options)
    assert "sufficient capacity" in str(question.details[0].params["text"])


def test_nothing_is_chosen_while_the_person_is_silent(twin: WholeTwin, asked: Bench) -> None:
    before = twin.effects()
    twin.advance(4 * 3600)

    assert twin.effects() == before
    assert twin.live()["clusters"]["llama"]["groups"]["workers"]["target"] == 4


def test_fewer_nodes_lower_the_target_and_the_cluster_is_done(twin: WholeTwin, asked: Bench) -> None:
    go_on(asked, {"mode": "on_demand", "count": 3})

    live = twin.live()["clusters"]["llama"]
    assert live["nodes_ready"] == 3
    assert live["groups"]["workers"]["target"] == 3
    assert twin.effects()["sagemaker:UpdateCluster"] == 1


def test_another_count_than_offered_is_taken_as_written(twin: WholeTwin, asked: Bench) -> None:
    go_on(asked, {"mode": "on_demand", "count": 2})

    assert twin.live()["clusters"]["llama"]["nodes_ready"] == 2


def test_another_zone_moves_all_nodes_there(twin: WholeTwin, asked: Bench) -> None:
    go_on(asked, {"mode": "on_demand", "count": 4, "zone": "usw2-az2"})

    groups = twin.live()["clusters"]["llama"]["groups"]
    assert groups["workers-2"] == {"type": "ml.p5.48xlarge", "running": 4, "target": 4}
    assert groups.get("workers", {"target": 0})["target"] == 0


def test_another_type_takes_the_same_zone(twin: WholeTwin, asked: Bench) -> None:
    go_on(asked, {"mode": "on_demand", "count": 4, "type": "ml.p4d.24xlarge"})

    assert twin.live()["clusters"]["llama"]["groups"]["workers-2"]["type"] == "ml.p4d.24xlarge"


def test_a_training_plan_brings_its_zone_with_it(twin: WholeTwin, asked: Bench) -> None:
    go_on(asked, {"mode": "training_plan", "count": 4, "plan": "reserved", "zone": "usw2-az3"})

    (run,) = asked.repository.list_runs()
    assert run.data["zone_id"] == "usw2-az3"
    assert twin.live()["clusters"]["llama"]["groups"]["workers-2"]["running"] == 4


def test_who_waits_gets_the_nodes_when_capacity_comes(twin: WholeTwin, asked: Bench) -> None:
    twin.break_later(
        {"at": "seconds:1200", "kind": "capacity_gain", "zone": "usw2-az1", "type": "ml.p5.48xlarge", "to": 4}
    )
    go_on(asked, {"mode": "on_demand", "count": 4})

    assert twin.live()["clusters"]["llama"]["nodes_ready"] == 4
    assert "sagemaker:UpdateCluster" not in twin.effects()
