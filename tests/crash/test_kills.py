"""Whatever dies, whenever: every effect happens once, the run ends well, and nobody is asked twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from state.records import RunStatus
from tests.builders.folders import memory_folder
from tests.crash.harness import Outcome, Scenario, Verdict, compare
from tests.crash.toy import (
    TOY,
    AttemptInTokenLedger,
    BlindRetryLedger,
    BypassedLedger,
    ImpatientLedger,
    LateIntentLedger,
    access_with,
)
from tests.fakes.toy_platform import Fault
from tools.idempotency import EffectLedger

SEED = 20261130
SAMPLE = 30
OPERATIONS = ("Create", "CreateOnce", "CreateSlowly", "Add", "Buy")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with memory_folder() as made:
        yield made


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> Outcome:
    return Scenario(folder / "undisturbed", TOY).play([])


@pytest.fixture(scope="module")
def events(folder: Path) -> list[str]:
    return Scenario(folder / "events", TOY).events()


def test_the_toy_run_has_events_of_every_kind(events: list[str], undisturbed: Outcome) -> None:
    assert {"before commit", "after commit", "before:Create", "after:Buy"} <= set(events)
    assert sum(undisturbed.effects.values()) == 6
    assert undisturbed.status is RunStatus.DONE


def verdicts(
    folder: Path, undisturbed: Outcome, events: list[str], *, ledger: type[EffectLedger] = EffectLedger
) -> Iterator[tuple[int, Verdict]]:
    """The first process dies at each event in turn, the second at a random later one."""
    random, access = Random(SEED), access_with(ledger)
    for kill_at in range(1, len(events) + 1):
        scenario = Scenario(folder / f"{ledger.__name__}-{kill_at}", TOY, access=access)
        disturbed = scenario.play([kill_at, random.randint(1, len(events) - kill_at + 4)])
        yield kill_at, compare(undisturbed, disturbed)


def test_no_kill_duplicates_or_loses_an_effect_or_leaves_a_run_stuck(
    folder: Path, undisturbed: Outcome, events: list[str]
) -> None:
    found = dict(verdicts(folder, undisturbed, events))

    assert {kill_at: verdict for kill_at, verdict in found.items() if not verdict.is_clean} == {}
    assert len(found) == len(events) > 50


def test_kills_and_lost_answers_together_do_no_harm(folder: Path, undisturbed: Outcome, events: list[str]) -> None:
    random, found = Random(SEED), {}
    for number in range(SAMPLE):
        faults = {
            operation: random.choices([Fault.THROTTLED, Fault.LOST_REQUEST, Fault.LOST_RESPONSE], k=2)
            for operation in random.sample(OPERATIONS, k=2)
        }
        kills = [random.randint(1, len(events)) for _ in range(random.randint(0, 3))]
        disturbed = Scenario(folder / f"lost-{number}", TOY).play(kills, faults=faults)
        found[f"{kills} {faults}"] = compare(undisturbed, disturbed)

    assert {name: verdict for name, verdict in found.items() if not verdict.is_clean} == {}


@pytest.mark.parametrize(
    "ledger", [BypassedLedger, LateIntentLedger, AttemptInTokenLedger, BlindRetryLedger, ImpatientLedger]
)
def test_a_planted_fault_is_caught(
    folder: Path, undisturbed: Outcome, events: list[str], ledger: type[EffectLedger]
) -> None:
    unharmed = Scenario(folder / f"{ledger.__name__}-unharmed", TOY, access=access_with(ledger)).play([])
    found = verdicts(folder, undisturbed, events, ledger=ledger)

    assert unharmed.effects == undisturbed.effects, "the fault must show by kills alone"
    assert any(verdict.duplicated for _, verdict in found)
