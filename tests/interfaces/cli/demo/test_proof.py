"""The demo's checks can fail: each is shown a world in which what it claims is not so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from core.clock import SystemClock
from core.ids import EffectKey, RandomIds, RunId, StepName, WorkerId
from interfaces.cli.demo.kill import CALL, Kill
from interfaces.cli.demo.proof import count_calls, killed_in_between, took_effect_once
from state.records import Effect, EffectStatus
from state.repository import Repository, open_repository
from tests.builders.people import person

APPLIED = Effect(
    key=EffectKey("k"),
    run_id=RunId("run-1"),
    step=StepName("create"),
    tool="create_cluster",
    args={},
    token="t",
    status=EffectStatus.APPLIED,
    fence=1,
    intended_at=SystemClock().now(),
    called_at=SystemClock().now(),
)


def once(ledger: tuple[Effect, ...], effects: dict[str, int]) -> bool:
    return took_effect_once(count_calls(ledger, effects), ledger).holds


def test_one_applied_effect_and_one_in_the_log_is_once() -> None:
    assert once((APPLIED,), {CALL: 1})


@pytest.mark.parametrize(
    ("ledger", "effects"),
    [
        pytest.param((APPLIED,), {CALL: 2}, id="made twice"),
        pytest.param((APPLIED,), {}, id="recorded and never made"),
        pytest.param((), {CALL: 1}, id="made and never recorded"),
        pytest.param((APPLIED,), {CALL: 1, "ec2:RunInstances": 1}, id="something beside the ledger"),
        pytest.param((replace(APPLIED, status=EffectStatus.INTENDED),), {CALL: 1}, id="outcome not recorded"),
        pytest.param((replace(APPLIED, status=EffectStatus.UNKNOWN),), {CALL: 1}, id="outcome unknown"),
        pytest.param((), {}, id="nothing at all"),
    ],
)
def test_anything_else_is_not_once(ledger: tuple[Effect, ...], effects: dict[str, int]) -> None:
    assert not once(ledger, effects)


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Repository]:
    rows = open_repository(tmp_path / "muster.db", clock=SystemClock(), ids=RandomIds(Random(1)))
    yield rows
    rows.close()


@pytest.fixture
def kill(rows: Repository) -> Kill:
    """Of a run that a second worker then took over."""
    rows.create_run(workflow="create_cluster", workflow_version=1, params={}, requested_by=person())
    now = SystemClock().now()
    run = rows.claim_run(worker=WorkerId("w/1"), lease_until=now + timedelta(minutes=1))
    assert run is not None
    rows.end_lease(run)
    assert rows.claim_run(worker=WorkerId("w/2"), lease_until=now + timedelta(minutes=1)) is not None
    return Kill(pid=1, run_id=run.id, effects_at_kill=1, was_recorded=False)


def test_a_kill_in_between_with_one_effect_counts(rows: Repository, kill: Kill) -> None:
    assert killed_in_between(rows, kill, {CALL: 1}).holds


def test_no_kill_a_late_kill_or_a_second_effect_do_not_count(rows: Repository, kill: Kill) -> None:
    assert not killed_in_between(rows, None, {CALL: 1}).holds
    assert not killed_in_between(rows, replace(kill, was_recorded=True), {CALL: 1}).holds
    assert not killed_in_between(rows, replace(kill, effects_at_kill=0), {CALL: 1}).holds
    assert not killed_in_between(rows, kill, {CALL: 2}).holds


def test_a_run_that_nobody_took_over_does_not_count(rows: Repository) -> None:
    run = rows.create_run(workflow="create_cluster", workflow_version=1, params={}, requested_by=person())
    kill = Kill(pid=1, run_id=run.id, effects_at_kill=1, was_recorded=False)

    assert not killed_in_between(rows, kill, {CALL: 1}).holds
