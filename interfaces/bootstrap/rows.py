"""Opens the rows: the one database of a home folder."""

from __future__ import annotations

from random import SystemRandom

from core.clock import Clock, SystemClock
from core.ids import RandomIds
from interfaces.bootstrap.home import Home
from interfaces.settings import Settings
from state.repository import Repository, open_repository

_SYSTEM_CLOCK = SystemClock()


def open_rows(settings: Settings, *, clock: Clock = _SYSTEM_CLOCK) -> Repository:
    """Raises `DatabaseUnusable` for a damaged database or one that a newer version wrote; nothing is changed."""
    home = Home(settings.home)
    home.create()
    return open_repository(home.database, clock=clock, ids=RandomIds(SystemRandom()))
