from __future__ import annotations

from evals.rogue import findings
from evals.rogue_server import RogueServer


def test_the_same_seed_gives_the_same_answers() -> None:
    one, other = RogueServer(3), RogueServer(3)

    assert [one.next() for _ in range(50)] == [other.next() for _ in range(50)]


def test_every_shape_and_several_calls_come_up() -> None:
    answers = [RogueServer(seed).next() for seed in range(200)]

    assert {shape for _, _, shape in answers} == {"whole", "torn_json", "not_json", "length", "no_finish", "doubled"}
    assert max(len(calls) for _, calls, _ in answers) > 2


def test_an_effect_that_nobody_approved_is_found() -> None:
    assert findings({"sagemaker:DeleteCluster": 1}, [], []) == ["effect without approval: sagemaker:DeleteCluster 1x"]
    assert findings({}, [], []) == []
