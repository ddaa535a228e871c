"""Trouble on the way to a cluster: lost answers on the wire, throttling, stale reads, scripts that fail."""

from __future__ import annotations

from core.failures import NextAction
from core.json_value import JsonObject
from core.reasons import FailureClass
from state.records import EffectStatus, RunStatus
from tests.builders.people import person
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.runs import Bench

ONE: JsonObject = {"name": "llama", "zone_id": "usw2-az2", "instance_type": "ml.p5.48xlarge", "count": 1}
SCRIPT_FAILS: JsonObject = {"kind": "lifecycle_script_fails"}


def test_answers_lost_on_the_wire_make_nothing_twice(twin: WholeTwin, bench: Bench) -> None:
    calls = ("sagemaker:CreateCluster", "eks:CreateCluster", "ec2:CreateVpc", "iam:CreateRole", "eks:CreateAddon")
    twin.break_later(*({"kind": "lost_response", "at": f"effect:{call}"} for call in calls))
    run = bench.work(bench.start("create_cluster", ONE, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    effects = twin.effects()
    assert [effects[call] for call in calls] == [1, 1, 1, 2, 3]
    assert {effect.status for effect in bench.repository.list_effects(run.id)} == {EffectStatus.APPLIED}


def test_a_throttling_storm_and_stale_reads_only_take_longer(twin: WholeTwin, bench: Bench) -> None:
    twin.break_later(
        {"kind": "throttle", "at": "effect:eks:CreateCluster", "seconds": 60},
        {"kind": "stale_reads", "at": "effect:sagemaker:CreateCluster", "seconds": 600},
    )
    run = bench.work(bench.start("create_cluster", ONE, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    assert twin.effects()["sagemaker:CreateCluster"] == 1


def test_unknown_values_and_reordered_lists_are_data_about_the_world(twin: WholeTwin, bench: Bench) -> None:
    twin.break_later({"kind": "hostile", "at": "effect:sagemaker:CreateCluster", "seconds": 1200})
    run = bench.work(bench.start("create_cluster", ONE, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure


def test_a_script_that_fails_once_is_tried_again_by_hyperpod(twin: WholeTwin, bench: Bench) -> None:
    twin.break_later(SCRIPT_FAILS)
    run = bench.work(bench.start("create_cluster", ONE, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    assert twin.live()["clusters"]["llama"]["nodes_ready"] == 1


def test_a_script_that_fails_again_ends_the_run_with_class_and_evidence(twin: WholeTwin, bench: Bench) -> None:
    twin.break_later(SCRIPT_FAILS, SCRIPT_FAILS)
    run = bench.work(bench.start("create_cluster", ONE, cluster="llama"))

    assert run.status is RunStatus.FAILED
    assert run.failure is not None
    assert run.failure.failure_class is FailureClass.CONFIG
    assert run.failure.next_actions == (NextAction.FIX_AND_RETRY, NextAction.CANCEL)
    evidence = bench.repository.get_evidence(run.failure.evidence[0])
    assert "Lifecycle scripts did not run successfully" in evidence.text
    assert "sagemaker:DeleteCluster" not in twin.effects()


def test_a_failed_wait_can_be_retried_and_looks_at_new_events_only(twin: WholeTwin, bench: Bench) -> None:
    twin.break_later(SCRIPT_FAILS, SCRIPT_FAILS)
    run = bench.work(bench.start("create_cluster", ONE, cluster="llama"))
    assert run.status is RunStatus.FAILED
    bench.repository.retry_run(run.id, actor=person())
    run = bench.work(run)

    assert run.status is RunStatus.DONE, run.failure
    assert twin.effects()["sagemaker:CreateCluster"] == 1
