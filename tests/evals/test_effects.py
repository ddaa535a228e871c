"""`muster eval effects`, as a command in a process of its own: it forks, which a process with threads must not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace

from evals.crash_cases import CASES
from evals.effects import CaseRow, Column, happy_faults, table
from tests.evals.test_crash import WHOLE

SMALLEST = ("eval", "effects", "--workflow", "submit_job", "--json")


def test_a_job_is_submitted_once_whatever_happens_at_its_effects() -> None:
    code = "from interfaces.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *SMALLEST], capture_output=True, text=True, timeout=580, check=False
    )

    (row,) = json.loads(ended.stdout)["rows"]
    assert row.pop("effects") >= 1
    assert row.pop("case") == "submit_job/two nodes"
    assert list(row) == ["happy_path", "lost_response", "killed_before", "killed_after"]
    assert [name for name, cell in row.items() if cell["plays"] == 0 or cell["faults"]] == []
    assert ended.returncode == 0


def test_a_happy_path_with_more_effects_than_the_ledger_knows_is_not_exact() -> None:
    assert happy_faults(CASES[0], WHOLE) == ()
    assert happy_faults(CASES[0], replace(WHOLE, effects=Counter({"eks:CreateCluster": 2}))) != ()
    assert happy_faults(CASES[0], replace(WHOLE, ledger=Counter({"cluster create_eks intended": 1}))) != ()


def test_a_column_without_plays_or_with_a_fault_is_not_exact() -> None:
    good, empty = Column(name="a", plays=2, faults=()), Column(name="b", plays=0, faults=())
    wrong = Column(name="c", plays=2, faults=("lost",))

    assert CaseRow(title="t", effects=1, columns=(good,)).is_exact
    assert not CaseRow(title="t", effects=1, columns=(good, empty)).is_exact
    assert not CaseRow(title="t", effects=1, columns=(good, wrong)).is_exact
    assert table([CaseRow(title="t", effects=1, columns=(good, wrong))])[1].split() == ["t", "1", "2/2", "1/2"]
