"""An API server shared by the tests of a module: starting one costs more than most tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.twin.kube.serving import Served, make_planes, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    planes = make_planes(tmp_path_factory.mktemp("kube"))
    with served(planes) as running:
        yield running
    planes.close()
