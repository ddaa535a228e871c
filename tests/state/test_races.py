"""Many at once on one file: the first valid answer wins, and each row is taken by one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest

from core.ids import RandomIds, WorkerId
from core.messages.message import Language
from core.reasons import InputRefused, RefusalReason
from state.records import QuestionStatus
from state.repository import Repository, open_repository
from tests.builders.people import person
from tests.builders.plans import propose
from tests.builders.questions import zone_question
from tests.builders.workflows import create_run
from tests.fakes.clock import FakeClock

ResultT = TypeVar("ResultT")
CROWD = 8


def all_at_once(path: Path, act: Callable[[Repository, int], ResultT]) -> list[ResultT]:
    """Each in a thread of its own with a connection of its own, as processes would have."""
    gate = threading.Barrier(CROWD)
    results: list[ResultT] = []

    def take_part(number: int) -> None:
        repository = open_repository(path, clock=FakeClock(), ids=RandomIds(Random(number)))
        gate.wait()
        results.append(act(repository, number))
        repository.close()

    threads = [threading.Thread(target=take_part, args=(number,)) for number in range(CROWD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == CROWD, "somebody broke off with an error of another kind"
    return results


@pytest.mark.parametrize("round_number", range(3))
def test_of_many_answers_at_once_one_wins_and_the_others_are_told(
    repository: Repository, database_path: Path, round_number: int
) -> None:
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=person())
    zones = [f"usw2-az{number}" for number in range(CROWD)]
    question = repository.ask(zone_question(*zones), conversation_id=conversation.id)

    def answer(mine: Repository, number: int) -> str:
        try:
            mine.answer_question(
                question.id,
                options_version=1,
                principal=person(f"person-{number}"),
                option_id=f"option-usw2-az{number}",
            )
        except InputRefused as refused:
            assert refused.reason is RefusalReason.ANSWER_LATE
            return str(refused)
        return "won"

    told = all_at_once(database_path, answer)

    answered = repository.get_question(question.id)
    assert told.count("won") == 1
    assert answered.answered_by is not None
    assert all(answered.answered_by.id in words for words in told if words != "won")
    assert answered.answer == f"usw2-az{answered.answered_by.id.removeprefix('person-')}"
    assert len(repository.list_audit(question.id)) == 1


def test_a_plan_approved_by_many_at_once_creates_its_runs_once(repository: Repository, database_path: Path) -> None:
    plan, question = propose(repository)

    def approve(mine: Repository, number: int) -> bool:
        try:
            mine.answer_question(
                question.id, options_version=1, principal=person(f"p{number}"), option_id="option-approve"
            )
        except InputRefused:
            return False
        return True

    assert all_at_once(database_path, approve).count(True) == 1
    assert len(repository.list_runs(plan_id=plan.id)) == 1


def test_asked_by_many_at_once_it_is_one_question(repository: Repository, database_path: Path) -> None:
    run = create_run(repository)

    def ask(mine: Repository, number: int) -> str:
        return mine.ask(zone_question(), conversation_id=None, run_id=run.id).id

    assert len(set(all_at_once(database_path, ask))) == 1
    assert [question.status for question in repository.list_questions(run_id=run.id)] == [QuestionStatus.OPEN]


def test_a_run_is_claimed_by_one_of_many(repository: Repository, database_path: Path) -> None:
    create_run(repository)

    def claim(mine: Repository, number: int) -> bool:
        until = FakeClock().now() + timedelta(seconds=30)
        return mine.claim_run(worker=WorkerId(f"w{number}"), lease_until=until) is not None

    assert all_at_once(database_path, claim).count(True) == 1


@pytest.mark.parametrize("round_number", range(3))
def test_a_new_file_is_made_by_many_at_once(database_path: Path, round_number: int) -> None:
    fresh = database_path.with_name("fresh.db")

    def write(mine: Repository, number: int) -> str:
        return mine.create_conversation(title=str(number), language=Language.ENGLISH, started_by=person()).title

    assert sorted(all_at_once(fresh, write)) == [str(number) for number in range(CROWD)]


def test_a_new_file_opened_by_many_at_once_is_migrated_once(database_path: Path) -> None:
    gate, opened = threading.Barrier(CROWD), list[int]()

    def open_it(number: int) -> None:
        gate.wait()
        repository = open_repository(database_path, clock=FakeClock(), ids=RandomIds(Random(number)))
        opened.append(number)
        repository.close()

    threads = [threading.Thread(target=open_it, args=(number,)) for number in range(CROWD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(opened) == list(range(CROWD))
