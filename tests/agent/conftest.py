from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agent.talk import Talk, begin_talk


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    found = begin_talk(tmp_path)
    yield found
    found.assistant.close()
    found.repository.close()
