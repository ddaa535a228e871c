"""`muster eval detectors`: measured on simulated runs, deterministic by seed."""

from __future__ import annotations

import json
from random import Random

from typer.testing import CliRunner

from evals.commands import eval_app
from evals.detector_traces import InjectedFault, make_trace
from evals.detectors import measure


def test_the_goal_holds_and_the_published_figures_stand_beside_it() -> None:
    result = CliRunner().invoke(eval_app, ["detectors", "--traces", "120", "--json"])

    figures = json.loads(result.stdout)
    assert result.exit_code == 0, figures
    assert figures["false_hangs"] == 0
    assert figures["published"]["minder"]["f1"] == 0.893
    assert sum(row["runs"] for row in figures["by_fault"].values()) == figures["runs"] == 120


def test_the_same_seed_makes_the_same_run() -> None:
    assert make_trace(1, Random(4)) == make_trace(1, Random(4))


def test_a_finding_before_the_fault_is_no_hit() -> None:
    measured = [measure(make_trace(number, Random(number))) for number in range(40)]

    assert all(one.delay_seconds is not None and one.delay_seconds >= 0 for one in measured if one.is_hit)
    assert not any(one.is_hit for one in measured if one.trace.fault is InjectedFault.NONE)
