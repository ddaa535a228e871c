"""`muster eval diagnose`: its figures, its exit code and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from core.reasons import InputRefused
from evals.commands import eval_app
from evals.diagnose import read_cases

DATA = Path(__file__).parents[1] / "data" / "health"
OFF_BUS = "NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus."
REMAP_FAILED = "NVRM: Xid (PCI:0000:5e:00): 64, row remap failure"


def case(number: int = 0, **changes: object) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": f"case-{number}",
        "log_excerpt": OFF_BUS,
        "fault_class": "gpu_hw_bus",
        "truth_basis": "stated_in_source",
        "truth": "prose",
    }
    return fields | changes


def write(path: Path, *rows: object) -> Path:
    file = path / "cases.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def run(file: Path) -> tuple[int, dict[str, object]]:
    result = CliRunner().invoke(eval_app, ["diagnose", "--cases", str(file), "--json"])
    parsed: dict[str, object] = json.loads(result.stdout)
    return result.exit_code, parsed


@pytest.mark.parametrize("name", ["public_cases.jsonl", "own_cases.jsonl"])
def test_the_goal_holds_on_the_cases_of_the_repository(name: str) -> None:
    code, result = run(DATA / name)

    assert code == 0, result


def test_the_figure_stands_on_the_last_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(eval_app, ["diagnose", "--cases", str(write(tmp_path, case()))])

    assert result.stdout.splitlines()[-1] == ("diagnose: accuracy 1.000, false replacements 0, abstentions 0, cases 1")


def test_a_wrong_outcome_lowers_the_accuracy_and_is_named(tmp_path: Path) -> None:
    code, result = run(write(tmp_path, case(0), case(1, fault_class="network")))

    assert (code, result["accuracy"], result["wrong"]) == (1, 0.5, ["case-1"])


def test_only_causes_that_the_source_states_are_scored(tmp_path: Path) -> None:
    inferred = case(1, fault_class="network", truth_basis="inferred_from_thread")

    code, result = run(write(tmp_path, case(0), inferred))

    assert (code, result["accuracy"], result["cases"]) == (0, 1.0, 2)
    assert result["unscored"] == {"inferred_from_thread": 1}


def test_condemning_a_node_for_a_software_fault_fails_whatever_the_basis(tmp_path: Path) -> None:
    condemned = case(1, log_excerpt=REMAP_FAILED, fault_class="software_user", truth_basis="inferred_from_thread")

    code, result = run(write(tmp_path, case(0), condemned))

    assert (code, result["false_replacements"]) == (1, 1)


def test_an_abstention_is_counted_and_never_right_for_an_established_cause(tmp_path: Path) -> None:
    code, result = run(write(tmp_path, case(log_excerpt="something odd")))

    assert (code, result["abstentions"], result["accuracy"]) == (1, 1, 0.0)


def test_prose_about_the_truth_is_not_evidence(tmp_path: Path) -> None:
    _, result = run(write(tmp_path, case(log_excerpt="something odd", truth=OFF_BUS, remedy=OFF_BUS)))

    assert result["abstentions"] == 1


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ((), "no case"),
        (({"id": "x"},), "log_excerpt"),
        ((case(fault_class="gremlins"),), "fault_class"),
        ((case(truth_basis=""),), "truth_basis"),
        (([1, 2],), "line"),
        ((case(), case()), "repeats the id"),
    ],
    ids=["empty", "missing field", "unknown class", "no basis", "not an object", "doubled id"],
)
def test_malformed_input_names_what_is_wrong(tmp_path: Path, rows: tuple[object, ...], named: str) -> None:
    with pytest.raises(InputRefused, match=named):
        read_cases(write(tmp_path, *rows))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="cannot be read"):
        read_cases(tmp_path / "none.jsonl")


def test_cases_without_a_stated_truth_are_no_measurement(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        eval_app, ["diagnose", "--cases", str(write(tmp_path, case(truth_basis="inferred_from_thread")))]
    )

    assert isinstance(result.exception, InputRefused)
