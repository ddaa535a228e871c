"""What every part of the repository stands on."""

from __future__ import annotations

from datetime import datetime

from core.clock import Clock
from core.ids import Ids
from state.database import Database


class Store:
    """The database, the hour and fresh ids; `state.repository` joins the parts that derive from it."""

    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    def _now(self) -> datetime:
        return self._clock.now()
