from __future__ import annotations

from pathlib import Path

import pytest

from core.questions import QuestionKind
from evals.scenario_loading import SHIPPED, ScenarioInvalid, load_scenarios

LEAST = """
id: {name}
lang: en
actor: {{user: ana, role: engineer}}
world: {{region: us-west-2, zones: {{usw2-az1: {{ml.g5.12xlarge: 4}}}}}}
turns: [{{user: "hello"}}]
expect: {{no_runs: true}}
"""


def written(folder: Path, *texts: str) -> Path:
    for number, text in enumerate(texts):
        (folder / f"{number}.yaml").write_text(text)
    return folder


def test_a_file_may_hold_several_documents(tmp_path: Path) -> None:
    folder = written(tmp_path, LEAST.format(name="one") + "---" + LEAST.format(name="two") + "---\n")

    assert [scenario.id for scenario in load_scenarios(folder)] == ["one", "two"]


def test_what_is_absent_is_empty(tmp_path: Path) -> None:
    [scenario] = load_scenarios(written(tmp_path, LEAST.format(name="one")))

    assert (scenario.answers, scenario.faults, scenario.world.clusters) == ({}, (), ())


@pytest.mark.parametrize(
    ("line", "path"),
    [
        pytest.param("surprise: 1", "surprise", id="at the top"),
        pytest.param("expect: {effect: {}}", "expect", id="an expectation that is misspelt"),
        pytest.param("faults: [{at: 'seconds:1', kind: kill_worker, zone: a}]", "faults.0", id="a fault's extra key"),
        pytest.param("faults: [{at: later, kind: kill_worker}]", "faults.0.at", id="no moment"),
        pytest.param("faults: [{at: 'seconds:1', kind: gremlin}]", "faults.0", id="no kind of fault"),
        pytest.param("answers: {mood: good}", "answers.mood", id="no kind of question"),
        pytest.param("expect: {says: ['(']}", "expect.says", id="no regular expression"),
        pytest.param("expect: {live: {clusters: {a: {node_running: 1}}}}", "expect.live", id="deep inside"),
    ],
)
def test_a_wrong_key_or_value_names_file_and_path(tmp_path: Path, line: str, path: str) -> None:
    key = line.partition(":")[0]
    kept = "\n".join(row for row in LEAST.format(name="one").splitlines() if not row.startswith(f"{key}:"))

    with pytest.raises(ScenarioInvalid) as error:
        load_scenarios(written(tmp_path, f"{kept}\n{line}\n"))

    assert str(tmp_path / "0.yaml") in str(error.value) and path in str(error.value)


@pytest.mark.parametrize("key", ["id", "lang", "actor", "turns", "expect", "world"])
def test_each_required_key_is_missed(tmp_path: Path, key: str) -> None:
    kept = "\n".join(row for row in LEAST.format(name="one").splitlines() if not row.startswith(f"{key}:"))

    with pytest.raises(ScenarioInvalid, match=key):
        load_scenarios(written(tmp_path, kept))


@pytest.mark.parametrize("boundary", ["{max_node: 3}", "{max_cost_per_hour: -1}"])
def test_the_boundary_is_checked_too(tmp_path: Path, boundary: str) -> None:
    text = LEAST.format(name="one").replace("region: us-west-2", f"region: us-west-2, governance: {boundary}")

    with pytest.raises(ScenarioInvalid, match="world"):
        load_scenarios(written(tmp_path, text))


def test_an_id_stands_once_in_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ScenarioInvalid, match="already taken"):
        load_scenarios(written(tmp_path, LEAST.format(name="one"), LEAST.format(name="one")))


def test_a_key_stands_once_in_a_map(tmp_path: Path) -> None:
    with pytest.raises(ScenarioInvalid, match="twice"):
        load_scenarios(written(tmp_path, LEAST.format(name="one") + "lang: zh\n"))


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScenarioInvalid, match="holds no scenario"):
        load_scenarios(tmp_path)


def test_a_hanging_job_may_be_named_by_its_moment(tmp_path: Path) -> None:
    text = LEAST.format(name="one") + "faults: [{at: 'job_running:s1', kind: job_hang}]\n"
    [scenario] = load_scenarios(written(tmp_path, text))

    assert scenario.faults[0].for_twin(at="")["kind"] == "job_hang"


def test_the_shipped_scenarios_can_be_read_and_speak_both_languages() -> None:
    shipped = load_scenarios(SHIPPED)

    chinese = sum(scenario.lang.value == "zh" for scenario in shipped)
    assert len(shipped) >= 40 and abs(2 * chinese - len(shipped)) <= len(shipped) // 5


def test_answers_are_known_by_their_kind(tmp_path: Path) -> None:
    text = LEAST.format(name="one") + "answers: {capacity: [{mode: spot, count: 2}], approval: approve}\n"
    [scenario] = load_scenarios(written(tmp_path, text))

    assert scenario.answers[QuestionKind.APPROVAL] == "approve"
