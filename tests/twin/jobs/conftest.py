"""A fresh world per test: pods are processes, and none may outlive its test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.twin.jobs.world import World
from tests.twin.jobs.world import world as make_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with make_world(tmp_path) as made:
        yield made
