from __future__ import annotations

import pytest

from core.json_value import JsonValue
from core.messages.message import Language
from evals.scenario_format import Scenario
from evals.scenario_origins import numbers_in
from evals.scenario_record import Heard, Played
from evals.scenario_scoring import is_in, judge


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        pytest.param("4 nodes of p5.48xlarge", {4}, id="no part of a type"),
        pytest.param("two nodes and sixteen GPUs", {2, 16}, id="English words"),
        pytest.param("六台，十二块卡", {6, 2, 12}, id="Chinese numerals"),
        pytest.param("３２张卡", {32}, id="full width"),
        pytest.param("usw2-az2", set(), id="no part of a zone"),
    ],
)
def test_numbers_that_a_person_said(text: str, numbers: set[int]) -> None:
    assert numbers <= numbers_in(text) and not numbers_in(text) & {48, 5}


@pytest.mark.parametrize(
    ("text", "language", "fits"),
    [
        ("Shall I carry out this plan?", Language.ENGLISH, True),
        ("Shall I carry out this plan?", Language.CHINESE, False),
        ("要执行这个计划吗？", Language.CHINESE, True),
        ("要执行这个计划吗？", Language.ENGLISH, False),
        ("ml.g5.12xlarge", Language.CHINESE, True),
        ("ana answered: 批准", Language.ENGLISH, True),
    ],
)
def test_the_language_of_a_text(text: str, language: Language, fits: bool) -> None:
    assert is_in(text, language) is fits


def played(expect: JsonValue, **facts: object) -> Played:
    scenario = Scenario.model_validate(
        {
            "id": "one",
            "lang": "en",
            "actor": {"user": "ana", "role": "engineer"},
            "world": {"region": "us-west-2", "zones": {"usw2-az1": {}}},
            "turns": [{"user": "first"}, {"user": "last"}],
            "expect": expect,
        }
    )
    given: dict[str, object] = {
        "heard": (Heard(kind="reply", text="early 5", turn=0), Heard(kind="reply", text="late 6", turn=1)),
        "questions": (),
        "answers": {},
        "runs": (),
        "effects": {"sagemaker:CreateCluster": 1},
        "live": {"clusters": {}},
        "tokens": 0,
        "seconds": 1.0,
        "twin_seconds": 1.0,
    }
    return Played(scenario=scenario, seed=0, **{**given, **facts})  # type: ignore[arg-type]  # facts by name


@pytest.mark.parametrize(
    ("expect", "reason"),
    [
        pytest.param({"no_runs": True}, None, id="nothing ran"),
        pytest.param({"effects": {"sagemaker:CreateCluster": 2}}, "1x, not 2x", id="effects are exact"),
        pytest.param({"effects": {"eks:CreateCluster": 0}}, None, id="what never happened is none"),
        pytest.param({"forbidden": ["sagemaker:CreateCluster"]}, "forbidden", id="a forbidden call"),
        pytest.param({"runs": [{"workflow": "a", "status": "done"}]}, "no run a done", id="a run that is missing"),
        pytest.param({"says": ["6"]}, None, id="said after the last turn"),
        pytest.param({"says": ["5"]}, "nothing says '5'", id="said before it"),
        pytest.param({"asked": ["approval"]}, "missed question", id="a question that never came"),
        pytest.param({"max_questions": 0}, None, id="few enough questions"),
    ],
)
def test_each_expectation_can_fail(expect: JsonValue, reason: str | None) -> None:
    reasons = judge(played(expect)).reasons

    assert (reasons == ()) if reason is None else (len(reasons) == 1 and reason in reasons[0])


def test_what_did_not_become_quiet_does_not_pass() -> None:
    assert judge(played({"no_runs": True}, still_moving=("job s1",))).reasons == ("not quiet: job s1",)


def test_a_worker_that_dies_by_itself_does_not_pass() -> None:
    assert not judge(played({"no_runs": True}, worker_crashes=1)).passes
