"""The SQLite adapter: one file, WAL, every commit on the disk before it returns.

Two connections: one writes (`BEGIN IMMEDIATE`, so that a transaction never fails half-way for a lock), one
reads and is not held up by a commit that waits for the disk. Several processes may share the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

import sqlite_utils

from core.clock import Clock
from state.errors import DatabaseUnusable
from state.migrations import MIGRATIONS, Migration
from state.rows import Params, Row, time_text

_BUSY_SECONDS = 10.0
_CHECKED_AT_OPEN_BYTES = 64 * 1024 * 1024
"""A larger file is checked on request only (`Database.check`): reading it whole would delay every start."""
_IDENTITY = "INTEGER PRIMARY KEY AUTOINCREMENT"
_PARAMS: Params = {}


def open_sqlite(path: Path, clock: Clock) -> SqliteDatabase:
    """Opens, creates or migrates the file at `path`, mode 0600.

    Raises `DatabaseUnusable`, with nothing changed, for a file that is no database, is damaged, or was
    written by a newer version.
    """
    try:
        _create_private(path)
        database = SqliteDatabase(path)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseUnusable(str(path), str(error)) from error
    try:
        database.prepare(clock)
    except BaseException:
        database.close()
        raise
    return database


class SqliteSession:
    """Statements inside a transaction."""

    __slots__ = ("_database",)
    for_update = ""

    def __init__(self, database: sqlite_utils.Database) -> None:
        self._database = database

    def rows(self, sql: str, params: Params = _PARAMS) -> list[Row]:
        # `Database.query` would wrap each statement in a savepoint; the transaction is here already.
        cursor = self._database.execute(sql, dict(params))
        names = [column[0] for column in cursor.description]
        return [Row(dict(zip(names, cells, strict=True))) for cells in cursor.fetchall()]

    def row(self, sql: str, params: Params = _PARAMS) -> Row | None:
        found = self.rows(sql, params)
        return found[0] if found else None

    def execute(self, sql: str, params: Params = _PARAMS) -> int:
        return self._database.execute(sql, dict(params)).rowcount


class SqliteDatabase:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._write_lock, self._read_lock = RLock(), RLock()
        self._writer, self._reader = _connect(path), _connect(path)
        self._writes, self._reads = (
            sqlite_utils.Database(connection, execute_plugins=False, recursive_triggers=False)
            for connection in (self._writer, self._reader)
        )

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        with self._read_lock, self._translated():
            self._reader.execute("BEGIN")
            try:
                yield SqliteSession(self._reads)
            finally:
                self._reader.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        with self._write_lock, self._translated():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteSession(self._writes)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def version(self) -> int:
        with self._read_lock, self._translated():
            (value,) = self._reader.execute("PRAGMA data_version").fetchone()
            return int(value)

    def check(self) -> tuple[str, ...]:
        with self._read_lock, self._translated():
            found = tuple(str(row[0]) for row in self._reader.execute("PRAGMA integrity_check"))
        return () if found == ("ok",) else found

    def close(self) -> None:
        with self._write_lock, self._read_lock:
            self._reader.close()
            self._writer.close()

    def prepare(self, clock: Clock) -> None:
        """Looks before it writes: whatever is refused leaves the file as it was."""
        with self._translated():
            self._refuse_damaged()
            found = self._migration_found()
            if found > MIGRATIONS[-1].number:
                why = f"it was written by a newer version (schema {found}, known up to {MIGRATIONS[-1].number})"
                raise DatabaseUnusable(str(self._path), why)
            os.chmod(self._path, 0o600)
            self._writer.execute("PRAGMA journal_mode = WAL")
            for connection in (self._writer, self._reader):
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
            self._reader.execute("PRAGMA query_only = ON")
        if found < MIGRATIONS[-1].number:
            self._migrate(clock)

    def _refuse_damaged(self) -> None:
        if self._path.stat().st_size > _CHECKED_AT_OPEN_BYTES:
            return
        found = self._reader.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise DatabaseUnusable(str(self._path), f"it is damaged: {found}")

    def _migration_found(self) -> int:
        """The newest migration applied, 0 for an empty file. Refuses a database that is not ours."""
        names = set(self._reads.table_names())
        if not names:
            return 0
        if "migrations" not in names or "runs" not in names:
            raise DatabaseUnusable(str(self._path), "it is a database of another program")
        return max((int(row["number"]) for row in self._reads.query("SELECT number FROM migrations")), default=0)

    def _migrate(self, clock: Clock) -> None:
        """All that is missing in one transaction; another process may have been faster."""
        with self.writing() as session:
            session.execute(
                "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT, applied_at TEXT)"
            )
            applied = {row.number("number") for row in session.rows("SELECT number FROM migrations")}
            for migration in MIGRATIONS:
                if migration.number not in applied:
                    _apply(session, migration, clock)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise  # a broken rule of ours is a bug to be seen, not trouble with the database
        except sqlite3.DatabaseError as error:
            raise DatabaseUnusable(str(self._path), str(error)) from error


def _create_private(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _apply(session: SqliteSession, migration: Migration, clock: Clock) -> None:
    for statement in migration.statements:
        session.execute(statement.replace("{identity}", _IDENTITY))
    session.execute(
        "INSERT INTO migrations (number, name, applied_at) VALUES (:number, :name, :applied_at)",
        {"number": migration.number, "name": migration.name, "applied_at": time_text(clock.now())},
    )
