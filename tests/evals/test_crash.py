"""`muster eval crash`, as a command in a process of its own: it forks, which a process with threads must not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from core.reasons import InputRefused
from evals.crash import Verdict, cases_of, compare, holds, score
from evals.crash_cases import CASES
from evals.crash_play import Ending
from workflows.catalogue import WORKFLOWS

SAMPLE = ("eval", "crash", "--kills", "16", "--seed", "3", "--json")
WHOLE = Ending(
    kills=2,
    status="done",
    effects=Counter({"eks:CreateCluster": 1}),
    live="{}",
    data="{}",
    ledger=Counter({"cluster create_eks applied": 1}),
    questions=Counter({"capacity: 1": 1}),
    repeated_outcome_questions=0,
    faults=(),
)


def test_every_workflow_of_the_catalogue_is_measured() -> None:
    assert {workflow.name for workflow in WORKFLOWS} == {case.workflow for case in CASES}


def test_a_sample_of_kills_leaves_every_workflow_as_if_nothing_had_happened() -> None:
    code = "from interfaces.cli.main import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *SAMPLE], capture_output=True, text=True, timeout=580, check=False
    )

    figures = json.loads(ended.stdout)
    assert figures["faults"] == []
    assert figures["kills"] >= 8
    assert figures["points"] > 1000
    assert {figures[name] for name in ("duplicated", "lost", "wrong_ends", "stuck")} == {0}
    assert ended.returncode == 0


def test_an_unknown_workflow_is_refused() -> None:
    with pytest.raises(InputRefused):
        cases_of("make_coffee")


@pytest.mark.parametrize(
    ("key", "disturbed"),
    [
        ("duplicated", replace(WHOLE, effects=Counter({"eks:CreateCluster": 2}))),
        ("lost", replace(WHOLE, effects=Counter())),
        ("wrong_ends", replace(WHOLE, status="failed: no")),
        ("wrong_ends", replace(WHOLE, live="{1}")),
        ("wrong_ends", replace(WHOLE, data="{1}")),
        ("wrong_ends", replace(WHOLE, ledger=Counter({"cluster create_eks unknown": 1}))),
        ("wrong_ends", replace(WHOLE, questions=Counter({"capacity: 1": 2}))),
        ("wrong_ends", replace(WHOLE, questions=Counter({"capacity: null": 1}))),
        ("wrong_ends", replace(WHOLE, repeated_outcome_questions=1)),
        ("wrong_ends", replace(WHOLE, faults=("audit: it was changed",))),
        ("stuck", replace(WHOLE, status="waiting")),
    ],
)
def test_each_difference_from_the_undisturbed_run_is_counted(key: str, disturbed: Ending) -> None:
    figures = score([compare("here", WHOLE, disturbed)])

    assert figures[key] == 1
    assert not holds(figures)


def test_no_kill_proves_nothing() -> None:
    assert not holds(score([Verdict(where="here", kills=0)]))
    assert holds(score([Verdict(where="here", kills=1)]))
