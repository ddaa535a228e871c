"""create_cluster against the twin, over the wire."""

from __future__ import annotations

from core.json_value import JsonObject
from state.records import RunStatus
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.runs import Bench

LLAMA: JsonObject = {"name": "llama", "zone_id": "usw2-az2", "instance_type": "ml.p5.48xlarge", "count": 4}


def test_a_cluster_with_ready_nodes_comes_of_an_empty_account(twin: WholeTwin, bench: Bench) -> None:
    run = bench.work(bench.start("create_cluster", LLAMA, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    live = twin.live()["clusters"]["llama"]
    assert live["nodes_ready"] == 4
    assert live["zone"] == "usw2-az2"
    assert live["groups"] == {"workers": {"type": "ml.p5.48xlarge", "running": 4, "target": 4}}
