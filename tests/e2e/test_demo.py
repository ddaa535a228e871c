"""`muster demo` in both languages: what it prints must be true, and small, and quick."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from rich.cells import cell_len

from interfaces.errors import ExitCode
from tests.interfaces.cli.running import muster

MAX_SECONDS = 60.0
MAX_MIB = 700


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_demo_proves_itself(tmp_path: Path, language: str) -> None:
    began = time.monotonic()
    demo = muster("demo", "--yes", "--lang", language, home=tmp_path)
    seconds = time.monotonic() - began

    assert demo.code == ExitCode.DONE, demo.out + demo.err
    assert "SIGKILL" in demo.out
    assert re.search(r"sagemaker:CreateCluster +1x +1x", demo.out)
    assert re.search(r"k8s:create:hyperpodpytorchjobs +1x +1x", demo.out)
    assert re.search(r"availability_zone .*answered", demo.out)
    memory = re.search(r"(\d+) MiB", demo.out)
    assert memory is not None
    assert int(memory[1]) <= MAX_MIB
    assert max(cell_len(line) for line in demo.out.splitlines()) <= 80
    assert not list(tmp_path.iterdir()), "the demo keeps to its own folder"
    assert seconds <= MAX_SECONDS * 2, "twice the goal, as other tests run beside this one"
