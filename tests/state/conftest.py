from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from state.repository import Repository, open_repository
from tests.builders.folders import memory_folder
from tests.fakes.clock import CountingIds, FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def database_path() -> Iterator[Path]:
    with memory_folder() as folder:
        yield folder / "muster.db"


@pytest.fixture
def repository(database_path: Path, clock: FakeClock) -> Iterator[Repository]:
    opened = open_repository(database_path, clock=clock, ids=CountingIds())
    yield opened
    opened.close()
