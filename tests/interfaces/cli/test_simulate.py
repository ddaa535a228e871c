"""`muster simulate` and `muster explain` read files, print figures or one JSON object, and refuse bad input."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner

from core.reasons import InputRefused
from core.scheduling.errors import WorldInvalid
from core.scheduling.world import World
from interfaces.cli.explain import app as explain_app
from interfaces.cli.simulate import app as simulate_app
from tests.builders.scheduling import admitted, pending, queue, world

TRACE = "when,took,cards,who\n0,100,2,a\n10,50,4,b\n20,50,1,a\n"
COLUMNS = "submit=when,duration=took,gpus=cards,team=who"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "policy.yaml").write_text("sharing: idle_sharing\ngpus: 8\nteams: {a: 4, b: 4}\n")
    start = world([queue("q", 4)], admitted=[admitted("a", "q", 3)], pending=[pending("w", "q", 2)])
    (tmp_path / "world.json").write_bytes(TypeAdapter(World).dump_json(start))
    return tmp_path


def simulate(folder: Path, *more: str, columns: str = COLUMNS) -> list[str]:
    return [
        "--trace", str(folder / "trace.csv"), "--policy", str(folder / "policy.yaml"), "--columns", columns, *more
    ]  # fmt: skip


def test_a_trace_is_played_and_its_figures_are_one_json_object(folder: Path) -> None:
    result = CliRunner().invoke(simulate_app, simulate(folder, "--json"))

    found = json.loads(result.stdout)
    assert (found["jobs"], found["unfinished"], found["gpus"], found["average_wait_s"]) == (3, 0, 8, 0.0)


def test_the_plot_is_a_drawing_with_three_panels(folder: Path) -> None:
    result = CliRunner().invoke(simulate_app, simulate(folder, "--plot", str(folder / "out.svg")))

    assert result.exit_code == 0
    drawing = ElementTree.fromstring((folder / "out.svg").read_text())
    assert len(drawing.findall("{http://www.w3.org/2000/svg}rect")) == 1 + 3


@pytest.mark.parametrize(
    ("file", "content"),
    [
        pytest.param("policy.yaml", "sharing: everything\n", id="unknown sharing"),
        pytest.param("policy.yaml", "gpus: -1\n", id="no GPUs"),
        pytest.param("policy.yaml", "{", id="not YAML"),
        pytest.param("policy.yaml", "gpus: 8\nteams: {a: 8}\n", id="a team without a queue"),
        pytest.param("trace.csv", TRACE.splitlines()[0], id="empty trace"),
        pytest.param("trace.csv", TRACE.replace("50,4", "soon,4"), id="malformed row"),
    ],
)
def test_an_unusable_file_is_refused(folder: Path, file: str, content: str) -> None:
    (folder / file).write_text(content)

    result = CliRunner().invoke(simulate_app, simulate(folder))

    assert isinstance(result.exception, InputRefused)


def test_unknown_columns_are_refused(folder: Path) -> None:
    result = CliRunner().invoke(simulate_app, simulate(folder, columns="submit=when,cores=cards"))

    assert isinstance(result.exception, WorldInvalid)


def test_a_waiting_job_is_explained_with_its_remedies(folder: Path) -> None:
    result = CliRunner().invoke(explain_app, ["w", "--snapshot", str(folder / "world.json"), "--json"])

    found = json.loads(result.stdout)
    assert found["reason"] == "waits_for_others"
    assert {remedy["kind"] for remedy in found["remedies"]} == {"others_leave", "raise_quota"}


@pytest.mark.parametrize("job", ["a", "nobody"])
def test_a_job_that_does_not_wait_is_refused(folder: Path, job: str) -> None:
    result = CliRunner().invoke(explain_app, [job, "--snapshot", str(folder / "world.json")])

    assert isinstance(result.exception, InputRefused)
