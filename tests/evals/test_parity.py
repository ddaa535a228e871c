"""The parity command reads what it is handed, counts every case and can fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evals.commands import eval_app
from evals.kueue_cases import read_cases
from evals.parity import check_case

DATA = Path(__file__).parents[1] / "data" / "kueue_cases"


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(eval_app, ["parity", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_all_cases_agree_and_the_last_line_says_so() -> None:
    code, out, _ = run("--cases", str(DATA))

    assert code == 0
    assert out.splitlines()[-1] == "parity: 291 of 291"


def test_with_json_stdout_holds_one_object_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "drs.json").write_bytes((DATA / "dominant_share.json").read_bytes())

    code, out, _ = run("--cases", str(tmp_path), "--json")

    assert code == 0
    assert json.loads(out) == {"passed": 15, "total": 15, "failed": []}


def test_a_case_that_disagrees_is_named_and_fails_the_command(tmp_path: Path) -> None:
    cases = json.loads((DATA / "policy_pairs.json").read_text())
    wrong = cases["cases"][0]
    wrong["expect"]["preemptible"] = not wrong["expect"]["preemptible"]
    (tmp_path / "cases.json").write_text(json.dumps(cases))

    code, out, err = run("--cases", str(tmp_path), "--json")

    assert code == 1
    assert json.loads(out)["failed"] == [wrong["id"]]
    assert wrong["id"] in err


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no file at all"),
        pytest.param("{", id="not JSON"),
        pytest.param('{"cases": []}', id="no case in the file"),
        pytest.param('{"cases": [{"id": "X"}]}', id="a case without its fields"),
    ],
)
def test_nothing_to_compare_is_a_failure(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "cases.json").write_text(content)

    code, out, err = run("--cases", str(tmp_path), "--json")

    assert code == 1
    assert (json.loads(out)["passed"], json.loads(out)["total"]) == (0, 0)
    assert "no cases" in err


@pytest.mark.parametrize("kind", sorted({case.kind for case in read_cases(DATA)}))
def test_every_kind_of_case_can_fail(kind: str) -> None:
    """Each kind is compared for real: a case that expects something else than it should is told apart."""
    case = next(c for c in read_cases(DATA) if c.kind == kind and c.expect)
    key, value = next(iter(case.expect.items()))
    other = [*value, {"name": "nobody"}] if isinstance(value, list) else "something else"

    assert check_case(case) == ""
    assert check_case(case.model_copy(update={"expect": {**case.expect, key: other}})) != ""


def test_an_unknown_kind_and_an_unknown_gate_fail() -> None:
    case = read_cases(DATA)[0]

    assert "unknown kind" in check_case(case.model_copy(update={"kind": "guess"}))
    gates = case.config.model_copy(update={"gates": {"NewGate": True}})
    assert "NewGate" in check_case(case.model_copy(update={"config": gates}))
