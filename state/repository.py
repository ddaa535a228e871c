"""The repository: everything that must never be lost, behind one class.

Each noun has a module of its own; this one joins them. Methods take keyword arguments, return frozen values of
`state.records`, and are durable when they return. Errors: `state.errors`, and `InputRefused` for answers.
"""

from __future__ import annotations

from pathlib import Path

from core.clock import Clock
from core.ids import Ids
from state.answers import Answers
from state.audit import AuditTrail
from state.conversations import Conversations
from state.effects import Effects
from state.evidence import EvidenceStore
from state.feed import Feed
from state.leases import Leases
from state.plans import Plans
from state.questions import Questions
from state.run_control import RunControl
from state.runs import Runs
from state.sqlite import open_sqlite
from state.steps import Steps
from state.switches import Switches


class Repository(
    Conversations,
    Plans,
    Questions,
    Answers,
    Runs,
    RunControl,
    Leases,
    Steps,
    Effects,
    Feed,
    AuditTrail,
    EvidenceStore,
    Switches,
):
    """Safe to use from several threads; several processes may share one database."""

    def version(self) -> int:
        """Changes with every commit of anybody: asked by who waits for news without a connection to be told on."""
        return self._database.version()

    def check(self) -> tuple[str, ...]:
        """What is wrong with the database file; empty when it is sound."""
        return self._database.check()

    def close(self) -> None:
        self._database.close()


def open_repository(path: Path, *, clock: Clock, ids: Ids) -> Repository:
    """The SQLite repository at `path`, created or migrated as needed.

    Raises `DatabaseUnusable`, with nothing changed, for a damaged file or one of a newer version.
    """
    return Repository(open_sqlite(path, clock), clock, ids)
