"""The audit trail: every status change once, and no way to change it unseen."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from state.audit import ChainHead, verify_chain
from state.records import Run
from state.repository import Repository
from tests.builders.people import person
from tests.builders.workflows import create_run, done, make_worker, step, workflow
from tests.fakes.clock import FakeClock


@pytest.fixture
def finished(repository: Repository, clock: FakeClock) -> Run:
    run = create_run(repository)
    make_worker(repository, clock, workflow(step("a"), done)).work_until_idle()
    return repository.get_run(run.id)


def tamper(path: Path, sql: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(sql)
    connection.close()


def head_of(repository: Repository, run: Run) -> ChainHead:
    return next(head for head in repository.list_chain_heads() if head.subject == run.id)


def test_every_change_of_a_status_is_one_event(repository: Repository, finished: Run) -> None:
    events = repository.list_audit(finished.id)

    assert [(event.before, event.after) for event in events] == [
        (None, "queued"),
        ("queued", "running"),
        ("running", "done"),
    ]
    assert events[0].actor == person()
    assert repository.verify_audit(finished.id, sealed=head_of(repository, finished)) is None


@pytest.mark.parametrize(
    ("sql", "sequence"),
    [
        pytest.param("UPDATE audit SET after = 'failed' WHERE sequence = 2", 2, id="an edited row"),
        pytest.param(
            """UPDATE audit SET actor = replace(actor, 'mei', 'eve') WHERE sequence = 1""", 1, id="another actor"
        ),
        pytest.param("DELETE FROM audit WHERE sequence = 2", 2, id="a missing row"),
        pytest.param("DELETE FROM audit WHERE sequence = 3", 3, id="a cut tail"),
        pytest.param("DELETE FROM audit", 1, id="no chain left"),
        pytest.param("UPDATE audit SET sequence = sequence + 1 WHERE sequence = 3", 3, id="a gap"),
    ],
)
def test_what_was_changed_is_named_by_its_first_bad_row(
    repository: Repository, database_path: Path, finished: Run, sql: str, sequence: int
) -> None:
    sealed = head_of(repository, finished)
    tamper(database_path, sql)

    fault = repository.verify_audit(finished.id, sealed=sealed)

    assert fault is not None and fault.sequence == sequence


def test_a_chain_that_was_written_anew_shows_against_its_sealed_head(repository: Repository, finished: Run) -> None:
    sealed = replace(head_of(repository, finished), hash=hashlib.sha256(b"as it was").hexdigest())

    fault = verify_chain(finished.id, repository.list_audit(finished.id), sealed=sealed)

    assert fault is not None and "anew" in fault.why


def test_a_run_that_waited_long_has_a_chain_as_good_as_any(repository: Repository, clock: FakeClock) -> None:
    run = create_run(repository)
    for _ in range(5):
        repository.pause_run(run.id, actor=person())
        clock.advance(timedelta(hours=1))
        repository.resume_run(run.id, actor=person())

    assert len(repository.list_audit(run.id)) == 11
    assert repository.verify_audit(run.id) is None
