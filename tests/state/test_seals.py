"""Seals outside the database: edited rows, cut tails and chains hashed anew are found by their first bad row."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from state.audit import record_event
from state.records import Run
from state.repository import Repository
from state.seals import SEAL_FILE, AuditSeals
from state.sqlite import open_sqlite
from tests.builders.people import person
from tests.builders.workflows import create_run, done, make_worker, step, workflow
from tests.fakes.clock import FakeClock


@pytest.fixture
def seals(tmp_path: Path) -> AuditSeals:
    return AuditSeals(tmp_path / "audit.key", tmp_path / "seals")


@pytest.fixture
def sealed(repository: Repository, clock: FakeClock, seals: AuditSeals) -> Run:
    """A run of three events, sealed after each of the first and the last."""
    run = create_run(repository)
    seals.seal(repository)
    make_worker(repository, clock, workflow(step("a"), done)).work_until_idle()
    seals.seal(repository)
    return run


def tamper(path: Path, sql: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(sql)
    connection.close()


def faults(seals: AuditSeals, repository: Repository) -> list[tuple[str, int]]:
    return [(fault.subject, fault.sequence) for fault in seals.verify(repository)[1]]


def hash_anew(path: Path, repository: Repository, clock: FakeClock, run: Run, *, from_sequence: int) -> None:
    """What somebody does who may write the database and knows how the chain is made."""
    events = [event for event in repository.list_audit(run.id) if event.sequence >= from_sequence]
    database = open_sqlite(path, clock)
    with database.writing() as session:
        given: dict[str, str | int | None] = {"subject": run.id, "sequence": from_sequence}
        session.execute("DELETE FROM audit WHERE subject = :subject AND sequence >= :sequence", given)
        for event in events:
            record_event(
                session,
                subject=run.id,
                what=event.what,
                before=event.before,
                after=event.after,
                actor=person("eve"),
                reason=event.reason,
                at=event.at,
            )
    database.close()


def test_a_sealed_trail_that_nobody_touched_is_whole(repository: Repository, seals: AuditSeals, sealed: Run) -> None:
    assert seals.verify(repository) == (1, ())
    assert seals.seal(repository) == 0


def test_a_chain_that_grew_since_it_was_sealed_is_whole(repository: Repository, seals: AuditSeals, sealed: Run) -> None:
    create_run(repository)

    assert faults(seals, repository) == []


@pytest.mark.parametrize(
    ("sql", "sequence"),
    [
        pytest.param("UPDATE audit SET after = 'failed' WHERE sequence = 2", 2, id="an edited row"),
        pytest.param("DELETE FROM audit WHERE sequence = 3", 3, id="a cut tail"),
        pytest.param("DELETE FROM audit", 1, id="a whole chain gone"),
    ],
)
def test_what_was_done_to_the_table_is_named_by_its_first_bad_row(
    repository: Repository, database_path: Path, seals: AuditSeals, sealed: Run, sql: str, sequence: int
) -> None:
    tamper(database_path, sql)

    assert faults(seals, repository) == [(sealed.id, sequence)]


@pytest.mark.parametrize(("from_sequence", "first_bad_seal"), [(1, 1), (2, 3)])
def test_a_chain_hashed_anew_shows_at_the_first_seal_after_the_forgery(
    repository: Repository,
    database_path: Path,
    clock: FakeClock,
    seals: AuditSeals,
    sealed: Run,
    from_sequence: int,
    first_bad_seal: int,
) -> None:
    hash_anew(database_path, repository, clock, sealed, from_sequence=from_sequence)

    assert repository.verify_audit(sealed.id) is None, "the chain alone does not tell"
    assert faults(seals, repository) == [(sealed.id, first_bad_seal)]


def test_a_forged_chain_is_not_sealed_over(
    repository: Repository, database_path: Path, clock: FakeClock, seals: AuditSeals, sealed: Run
) -> None:
    hash_anew(database_path, repository, clock, sealed, from_sequence=1)
    repository.cancel_run(create_run(repository).id, actor=person())

    assert seals.seal(repository) == 1
    assert faults(seals, repository) == [(sealed.id, 1)]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        pytest.param(lambda lines: [lines[0].replace('"sequence":1', '"sequence":2'), *lines[1:]], 1, id="edited"),
        pytest.param(lambda lines: lines[1:], 1, id="the first taken out"),
        pytest.param(lambda lines: [*lines, lines[0]], 3, id="one added"),
        pytest.param(lambda lines: [*lines, "half a li"], 3, id="half a line"),
    ],
)
def test_a_touched_seal_file_is_a_fault_of_its_own_and_not_written_to(
    repository: Repository,
    tmp_path: Path,
    seals: AuditSeals,
    sealed: Run,
    change: Callable[[list[str]], list[str]],
    line: int,
) -> None:
    path = tmp_path / "seals"
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")
    touched = path.read_text()
    create_run(repository)

    assert (SEAL_FILE, line) in faults(seals, repository)
    assert AuditSeals(tmp_path / "audit.key", path).seal(repository) == 0
    assert path.read_text() == touched


@pytest.mark.parametrize("name", ["seals", "audit.key"])
def test_a_file_that_is_gone_is_a_fault_and_not_made_again(
    repository: Repository, tmp_path: Path, seals: AuditSeals, sealed: Run, name: str
) -> None:
    (tmp_path / name).unlink()

    assert seals.seal(repository) == 0
    assert faults(seals, repository) == [(SEAL_FILE, 1)]


def test_key_and_seals_are_readable_by_their_owner_alone(tmp_path: Path, sealed: Run) -> None:
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("seals", "audit.key")} == {0o600}


def test_two_who_seal_in_turn_see_what_the_other_wrote(
    repository: Repository, tmp_path: Path, seals: AuditSeals, sealed: Run
) -> None:
    other = AuditSeals(tmp_path / "audit.key", tmp_path / "seals")
    assert other.seal(repository) == 0

    create_run(repository)

    assert (other.seal(repository), seals.seal(repository)) == (1, 0)
    assert faults(seals, repository) == []


def test_a_seal_file_that_became_shorter_is_not_written_to_by_who_knew_it_longer(
    repository: Repository, tmp_path: Path, seals: AuditSeals, sealed: Run
) -> None:
    path = tmp_path / "seals"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    create_run(repository)

    assert seals.seal(repository) == 0
