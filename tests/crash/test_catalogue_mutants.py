"""A ledger with a planted fault is seen through the real catalogue on the twin, and the real ledger is not accused."""

from __future__ import annotations

import json
import subprocess
import sys


def test_a_kill_after_a_call_shows_a_ledger_without_intents_and_one_that_does_not_look() -> None:
    command = [sys.executable, "-m", "tests.crash.catalogue_mutants"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=580, check=False)

    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert {name: play["kills"] for name, play in found.items()} == dict.fromkeys(found, 1)
    assert found.pop("EffectLedger")["duplicated"] == {}
    assert [name for name, play in found.items() if play["duplicated"].get("ec2:CreateVpc") != 1] == []
