"""What the repository needs of a database: sessions that read, and transactions that write.

The repository's SQL is one text for every database: standard SQL with named parameters (`:name`). What
differs stands in an adapter of this protocol; `state.sqlite` is the first.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from state.rows import Params, Row


class Session(Protocol):
    """Statements inside one transaction: they see one state of the database, and happen together."""

    @property
    def for_update(self) -> str:
        """Ends a SELECT whose rows the same transaction changes (`FOR UPDATE` where writers are not serial)."""
        ...

    def rows(self, sql: str, params: Params = ...) -> list[Row]: ...

    def row(self, sql: str, params: Params = ...) -> Row | None:
        """The first row."""
        ...

    def execute(self, sql: str, params: Params = ...) -> int:
        """How many rows were changed."""
        ...


class Database(Protocol):
    """Safe to use from several threads. Trouble with the database itself raises `DatabaseUnusable`."""

    def reading(self) -> AbstractContextManager[Session]: ...

    def writing(self) -> AbstractContextManager[Session]:
        """Committed when the block ends, durable when it returns; rolled back when it raises."""
        ...

    def version(self) -> int:
        """Changes with every commit of anybody; cheap enough to be asked several times a second."""
        ...

    def check(self) -> tuple[str, ...]:
        """What the integrity check of the whole file finds; empty when it is sound."""
        ...

    def close(self) -> None: ...
