"""A conversation survives SIGKILL at its writes: nothing is asked, planned or begun twice, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EVERY = 9
"""Of about 130 moments; `python -m tests.crash.conversation_harness` tries each."""


def test_a_killed_conversation_ends_as_an_undisturbed_one() -> None:
    command = [sys.executable, "-m", "tests.crash.conversation_harness", "--every", str(EVERY)]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)

    assert found["wrong"] == []
    assert found["kills"] >= 10
