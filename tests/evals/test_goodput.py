"""`muster eval goodput`: the acceptance list of the goodput design."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from evals.commands import eval_app
from evals.goodput import chi_square_tail


def test_every_acceptance_case_holds() -> None:
    result = CliRunner().invoke(eval_app, ["goodput", "--json"])

    figures = json.loads(result.stdout)
    assert [case["id"] for case in figures["cases"] if not case["ok"]] == []
    assert result.exit_code == 0
    assert len(figures["cases"]) > 70
    assert {key for case in figures["cases"] for key in case} == {"id", "expected", "closed_form", "simulated", "ok"}


def test_fewer_failures_than_the_design_asks_for_are_refused() -> None:
    assert CliRunner().invoke(eval_app, ["goodput", "--failures", "100"]).exit_code == 2


@pytest.mark.parametrize(("statistic", "degrees", "tail"), [(34.805, 18, 0.01), (28.869, 18, 0.05), (3.841, 1, 0.05)])
def test_the_tail_of_the_chi_square_fits_the_printed_tables(statistic: float, degrees: int, tail: float) -> None:
    assert chi_square_tail(statistic, degrees) == pytest.approx(tail, rel=0.01)
