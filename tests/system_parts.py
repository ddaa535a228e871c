"""System parts that some tests need: their absence is said, and is a failure where they are required."""

from __future__ import annotations

import shutil

import pytest

REQUIRE_OPTION = "--require-system-parts"


def system_program(config: pytest.Config, name: str, install: str) -> str:
    """The path of a program; without it the test skips, or fails under `MUSTER_REQUIRE_SYSTEM_PARTS=1`."""
    found = shutil.which(name)
    if found is None:
        why = f"needs {name}: {install}"
        if config.getoption(REQUIRE_OPTION):
            pytest.fail(why)
        pytest.skip(why)
    return found
