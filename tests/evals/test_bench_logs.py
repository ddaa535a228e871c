"""`muster bench logs`: a real measurement against a named baseline."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from evals.commands import bench_app


def test_the_reader_is_measured_against_its_baseline_in_the_same_run() -> None:
    result = CliRunner().invoke(bench_app, ["logs", "--lines", "20000", "--json"])

    figures = json.loads(result.stdout)
    assert figures["baseline"] == "every_pattern_on_every_line"
    assert figures["ratio"] > 5
    assert figures["signals"] >= 200


def test_too_few_lines_are_refused() -> None:
    assert CliRunner().invoke(bench_app, ["logs", "--lines", "10"]).exit_code == 2
