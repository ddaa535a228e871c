"""Pause, resume, retry and cancel from the command line: what they print, who is on record, when they are refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from core.clock import SystemClock
from core.failures import Failure
from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, EffectKey, RandomIds, StepName, WorkerId
from core.messages.message import message
from core.reasons import FailureClass
from interfaces.bootstrap.home import Home
from interfaces.errors import ExitCode
from state.effects import Settlement
from state.records import Effect, EffectStatus, Run, RunStatus
from state.repository import Repository, open_repository
from state.steps import Advance, Finish, Stop
from tests.interfaces.cli.conftest import Command

ANN = Principal(id=ActorId("ann"), role=Role.PLATFORM_ADMIN, channel=Channel.TERMINAL)
ALONE = {"MUSTER_PROFILE": "production"}
"""No processes are started: what the rows say is what the command did."""
STEP = Advance(step=StepName("network"), kind="effect", title=message("general.text", text="Network"))


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Repository]:
    home = Home(tmp_path)
    home.create()
    rows = open_repository(home.database, clock=SystemClock(), ids=RandomIds(Random(7)))
    yield rows
    rows.close()


@pytest.fixture
def queued(rows: Repository) -> Run:
    return rows.create_run(workflow="create_cluster", workflow_version=1, params={}, requested_by=ANN)


@pytest.fixture
def held(rows: Repository, queued: Run) -> Run:
    """In the hands of a worker, with one effect made."""
    until = SystemClock().now() + timedelta(hours=1)
    run = rows.claim_run(worker=WorkerId("worker"), lease_until=until)
    assert run is not None
    run = rows.begin_first_step(run, STEP)
    now, key = SystemClock().now(), EffectKey("k" * 64)
    intent = Effect(
        key=key,
        run_id=run.id,
        step=STEP.step,
        tool="create_vpc",
        args={},
        token="t",
        status=EffectStatus.INTENDED,
        fence=run.fence,
        intended_at=now,
        called_at=now,
    )
    rows.intend_effect(run, intent)
    rows.settle_effects(run, [Settlement(key=key, status=EffectStatus.APPLIED, result={}, at=now)])
    return run


@pytest.fixture
def failed(rows: Repository, held: Run) -> Run:
    failure = Failure(failure_class=FailureClass.QUOTA, message=message("general.text", text="No quota."))
    return rows.finish_step(held, Stop(failure=failure))


def newest_event(command: Command, run: Run) -> dict[str, object]:
    """Of the audit trail: before, after and who."""
    event = json.loads(command("audit", "show", "--run", run.id, "--json").out)["audit"][-1]
    return {"before": event["before"], "after": event["after"], "who": event["actor"]["id"]}


def test_a_pause_says_what_it_did_and_who_paused_is_on_record(command: Command, queued: Run) -> None:
    paused = command("runs", "pause", queued.id, **ALONE)

    assert paused.code == ExitCode.DONE
    assert paused.out.splitlines() == [f"The run {queued.id} is paused.", "Paused by ann."]
    assert newest_event(command, queued) == {"before": "queued", "after": "paused", "who": "ann"}


def test_a_resumed_run_goes_on_where_it_was(command: Command, rows: Repository, queued: Run) -> None:
    command("runs", "pause", queued.id, **ALONE)

    resumed = command("runs", "resume", queued.id, MUSTER_USER="bob", **ALONE)

    assert resumed.out.splitlines() == [f"The run {queued.id} is queued.", "Resumed by bob."]
    assert newest_event(command, queued) == {"before": "paused", "after": "queued", "who": "bob"}


def test_a_failed_run_is_retried_from_the_step_that_failed(command: Command, rows: Repository, failed: Run) -> None:
    retried = command("runs", "retry", failed.id, **ALONE)

    assert retried.out.splitlines() == [f"The run {failed.id} is queued.", "Retried from the failed step by ann."]
    assert rows.get_run(failed.id).step == STEP.step
    assert newest_event(command, failed) == {"before": "failed", "after": "queued", "who": "ann"}


def test_a_cancellation_says_what_stays(command: Command, failed: Run) -> None:
    cancelled = command("runs", "cancel", failed.id, **ALONE)

    assert cancelled.out.splitlines() == [
        f"The run {failed.id} is cancelled.",
        "Cancelled by ann. What was done stays: create_vpc.",
    ]
    assert newest_event(command, failed) == {"before": "failed", "after": "cancelled", "who": "ann"}


def test_a_cancellation_before_anything_was_done_says_so(command: Command, queued: Run) -> None:
    assert "Nothing had been changed." in command("runs", "cancel", queued.id, **ALONE).out


@pytest.mark.parametrize(("verb", "end"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_run_in_the_hands_of_a_worker_stops_after_its_step(
    command: Command, rows: Repository, held: Run, verb: str, end: str
) -> None:
    stopped = command("runs", verb, held.id, **ALONE)

    assert stopped.out == f"The run {held.id} becomes {end} after its present step.\n"
    assert rows.get_run(held.id).status is RunStatus.RUNNING
    assert rows.finish_step(held, Advance(step=StepName("b"), kind="effect", title=STEP.title)).status.value == end


@pytest.mark.parametrize(
    ("verb", "state"),
    [
        ("resume", "queued"),
        ("retry", "queued"),
        ("resume", "held"),
        ("retry", "held"),
        ("pause", "failed"),
        ("resume", "failed"),
        ("pause", "done"),
        ("resume", "done"),
        ("retry", "done"),
        ("cancel", "done"),
    ],
)
def test_what_does_not_fit_the_state_is_refused_with_that_state_and_changes_nothing(
    command: Command, rows: Repository, request: pytest.FixtureRequest, verb: str, state: str
) -> None:
    run: Run = request.getfixturevalue("held" if state == "done" else state)
    if state == "done":
        run = rows.finish_step(run, Finish())
    before = rows.get_run(run.id)

    refused = command("runs", verb, run.id, **ALONE)

    assert refused.code == ExitCode.REFUSED
    assert f"is {before.status.value}" in refused.err
    assert rows.get_run(run.id) == before


@pytest.mark.parametrize("verb", ["pause", "resume", "retry", "cancel"])
def test_a_run_that_is_not_there_is_not_found(command: Command, rows: Repository, verb: str) -> None:
    assert command("runs", verb, "run-ghost", **ALONE).code == ExitCode.NOT_FOUND


def test_the_audit_of_nothing_is_a_wrong_command_line(command: Command) -> None:
    assert command("audit", "show").code == ExitCode.USAGE
    assert command("audit", "show", "--run", "run-ghost").code == ExitCode.NOT_FOUND


def test_a_cut_tail_is_found_by_the_next_verification(command: Command, tmp_path: Path, failed: Run) -> None:
    whole = command("audit", "verify", "--json")
    with sqlite3.connect(Home(tmp_path).database) as connection:
        connection.execute("DELETE FROM audit WHERE after = 'failed'")

    cut = command("audit", "verify", "--json")

    assert whole.code == ExitCode.DONE
    assert cut.code == ExitCode.DOES_NOT_HOLD
    (fault,) = json.loads(cut.out)["faults"]
    assert (fault["subject"], fault["why"]) == (failed.id, "the end of the chain was cut off")
