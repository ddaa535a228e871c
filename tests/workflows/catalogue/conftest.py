from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from state.repository import Repository, open_repository
from tests.fakes.clock import CountingIds
from tests.twin_process import WholeTwin, whole_twin
from tests.workflows.catalogue.runs import Bench


@pytest.fixture(scope="session")
def twin_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeTwin]:
    with whole_twin(tmp_path_factory.mktemp("twin")) as twin:
        yield twin


@pytest.fixture
def twin(twin_of_session: WholeTwin) -> WholeTwin:
    twin_of_session.reset()
    return twin_of_session


@pytest.fixture
def rows(tmp_path: Path, twin: WholeTwin) -> Iterator[Repository]:
    opened = open_repository(tmp_path / "muster.db", clock=twin.clock, ids=CountingIds())
    yield opened
    opened.close()


@pytest.fixture
def bench(twin: WholeTwin, rows: Repository) -> Bench:
    return Bench(twin, rows)
