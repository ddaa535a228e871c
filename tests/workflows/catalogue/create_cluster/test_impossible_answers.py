"""Answers to a shortage that cannot be: asked again, with nothing changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.cluster.clusters import CapacityMode
from core.json_value import JsonObject
from state.records import RunStatus
from state.repository import open_repository
from tests.fakes.clock import CountingIds
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.create_cluster.test_shortage import SCARCE, WANTED
from tests.workflows.catalogue.runs import Bench


@pytest.fixture(scope="module")
def asked(twin_of_session: WholeTwin, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """One run for all: each answer here leaves it with another question of the same kind."""
    twin_of_session.reset(SCARCE)
    path = tmp_path_factory.mktemp("rows") / "muster.db"
    rows = open_repository(path, clock=twin_of_session.clock, ids=CountingIds())
    bench = Bench(twin_of_session, rows)
    run = bench.work(bench.start("create_cluster", WANTED, cluster="llama"))
    assert run.status is RunStatus.WAITING, run.failure
    yield bench
    rows.close()


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        pytest.param({"mode": "on_demand", "count": 0}, "create_cluster.answer_unreadable", id="no nodes"),
        pytest.param({"mode": "on_demand", "count": 10**9}, "create_cluster.answer_unreadable", id="a billion"),
        pytest.param({"count": 2, "zone": "euw1-az1"}, "create_cluster.not_offered_again", id="zone elsewhere"),
        pytest.param({"count": 2, "type": "ml.p5en.48xlarge"}, "create_cluster.not_offered_again", id="type elsewhere"),
        pytest.param({"count": 7}, "create_cluster.quota_short_again", id="more than the quota"),
        pytest.param(
            {"mode": CapacityMode.TRAINING_PLAN.value, "count": 2, "plan": "none"},
            "create_cluster.plan_unusable",
            id="no such plan",
        ),
    ],
)
def test_an_answer_that_cannot_be_is_asked_again_with_the_reason(asked: Bench, answer: JsonObject, key: str) -> None:
    before = asked.twin.effects()
    asked.answer(answer)
    (run,) = asked.repository.list_runs()
    asked.work(run)

    assert asked.open_question().prompt.key == key
    assert asked.twin.effects() == before
