from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fakes.quiet_log import quiet_log


@pytest.fixture(autouse=True, scope="package")
def silence() -> Iterator[None]:
    with quiet_log():
        yield
