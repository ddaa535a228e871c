"""What one run of a scenario left behind: facts for the scorer, read from the twin, the rows and the channel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.ids import QuestionId
from core.json_value import JsonObject, JsonValue
from evals.scenario_format import Scenario
from state.records import Question, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One text as the human saw it."""

    kind: str
    """`reply`, `refusal`, `question` (with its card) or `news` of a run."""
    text: str
    turn: int
    """After which turn it came, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    scenario: Scenario
    seed: int
    heard: tuple[Heard, ...]
    questions: tuple[Question, ...]
    answers: Mapping[QuestionId, JsonValue]
    """What this human answered, as the question took it."""
    runs: tuple[Run, ...]
    effects: Mapping[str, int]
    live: JsonObject
    tokens: int
    seconds: float
    twin_seconds: float
    faults_unfired: tuple[str, ...] = ()
    worker_crashes: int = 0
    still_moving: tuple[str, ...] = ()
    """Not empty: the cap was reached before everything was quiet."""
    trouble: str = ""
    """The scenario could not be played to its end: why."""
