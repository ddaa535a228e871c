"""The database file: private, migrated, and left alone when it cannot be trusted."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.messages.message import Language
from state.errors import DatabaseUnusable
from state.repository import Repository, open_repository
from tests.builders.people import person
from tests.fakes.clock import CountingIds, FakeClock


def reopen(path: Path) -> Repository:
    return open_repository(path, clock=FakeClock(), ids=CountingIds())


def refused_unchanged(path: Path) -> str:
    before = path.read_bytes()
    with pytest.raises(DatabaseUnusable) as refusal:
        reopen(path)
    assert path.read_bytes() == before
    return refusal.value.why


def test_a_new_file_is_readable_by_its_owner_alone(database_path: Path) -> None:
    reopen(database_path).close()

    assert database_path.stat().st_mode & 0o777 == 0o600


def test_rows_survive_closing_and_opening(database_path: Path) -> None:
    first = reopen(database_path)
    conversation = first.create_conversation(title="hello", language=Language.CHINESE, started_by=person())
    first.close()

    second = reopen(database_path)

    assert second.get_conversation(conversation.id) == conversation
    second.close()


def test_commits_wait_for_the_disk(database_path: Path) -> None:
    repository = reopen(database_path)
    connection = sqlite3.connect(database_path)

    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    repository.close()


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_was(database_path: Path) -> None:
    reopen(database_path).close()
    with sqlite3.connect(database_path) as connection:
        connection.execute("INSERT INTO migrations VALUES (999, 'from the future', '2030-01-01')")
    connection.close()

    assert "newer" in refused_unchanged(database_path)


def test_a_file_that_is_no_database_is_refused_and_left_as_it_was(database_path: Path) -> None:
    database_path.write_bytes(b"shopping list\n" * 500)

    refused_unchanged(database_path)


def test_a_damaged_file_is_refused_and_left_as_it_was(database_path: Path) -> None:
    repository = reopen(database_path)
    for number in range(200):
        repository.create_conversation(title=f"{number}" * 50, language=Language.ENGLISH, started_by=person())
    repository.close()
    content = bytearray(database_path.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    database_path.write_bytes(content)

    refused_unchanged(database_path)


def test_a_database_of_another_program_is_refused_and_left_as_it_was(database_path: Path) -> None:
    with sqlite3.connect(database_path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()

    assert "another program" in refused_unchanged(database_path)


def test_a_sound_file_has_nothing_to_report(repository: Repository) -> None:
    assert repository.check() == ()


def test_a_commit_of_somebody_else_changes_the_version(repository: Repository, database_path: Path) -> None:
    before = repository.version()

    other = reopen(database_path)
    other.create_conversation(title="hello", language=Language.ENGLISH, started_by=person())
    other.close()

    assert repository.version() != before
