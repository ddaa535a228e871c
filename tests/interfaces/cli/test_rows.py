"""The commands that read and change rows, through the console script."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from core.clock import SystemClock
from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, ClusterName, RandomIds
from core.messages.message import Language, message
from core.questions import QuestionDraft, QuestionKind
from interfaces.bootstrap.home import Home
from interfaces.errors import ExitCode
from state.records import Conversation, Question
from state.repository import Repository, open_repository
from tests.builders.question_rows import an_option
from tests.interfaces.cli.conftest import Command
from tests.interfaces.cli.running import muster

ANN = Principal(id=ActorId("ann"), role=Role.PLATFORM_ADMIN, channel=Channel.TERMINAL)
ZONES = QuestionDraft(
    name="availability_zone",
    kind=QuestionKind.AVAILABILITY_ZONE,
    prompt=message("general.text", text="Which zone?"),
    options=(an_option("a", "usw2-az1", "us-west-2a"), an_option("b", "usw2-az2", "us-west-2b")),
)


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Repository]:
    home = Home(tmp_path)
    home.create()
    rows = open_repository(home.database, clock=SystemClock(), ids=RandomIds(Random(7)))
    yield rows
    rows.close()


@pytest.fixture
def conversation(rows: Repository) -> Conversation:
    return rows.create_conversation(title="A cluster", language=Language.ENGLISH, started_by=ANN)


@pytest.fixture
def question(rows: Repository, conversation: Conversation) -> Question:
    return rows.ask(ZONES, conversation_id=conversation.id)


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["runs", "list"], "runs"),
        (["questions", "list"], "questions"),
        (["plans", "list"], "plans"),
        (["events"], "events"),
        (["audit", "show", "run-x"], "audit"),
    ],
)
def test_an_empty_home_reads_as_nothing(command: Command, arguments: list[str], key: str) -> None:
    as_json, as_text = command(*arguments, "--json"), command(*arguments)

    assert (as_json.code, as_text.code) == (ExitCode.DONE, ExitCode.DONE)
    assert json.loads(as_json.out)[key] == []
    assert as_text.out.startswith("No")


def test_a_run_is_listed_and_shown_in_both_languages(command: Command, rows: Repository, tmp_path: Path) -> None:
    run = rows.create_run(
        workflow="create_cluster", workflow_version=1, params={}, requested_by=ANN, cluster=ClusterName("train-a")
    )

    listed = command("runs", "list")
    shown = json.loads(command("runs", "show", run.id, "--json").out)

    assert run.id in listed.out
    assert "queued" in listed.out
    assert shown["run"]["cluster"] == "train-a"
    assert (shown["steps"], shown["effects"]) == ([], [])
    assert "状态" in muster("runs", "list", home=tmp_path, LANG="zh_CN.UTF-8").out


def test_a_run_is_cancelled_once(command: Command, rows: Repository) -> None:
    run = rows.create_run(workflow="create_cluster", workflow_version=1, params={}, requested_by=ANN)

    first, second = (command("runs", "cancel", run.id) for _ in range(2))

    assert first.code == ExitCode.DONE
    assert rows.get_run(run.id).status.value == "cancelled"
    assert second.code == ExitCode.REFUSED
    assert "cancelled" in second.err


def test_a_question_is_answered_by_number(command: Command, rows: Repository, question: Question) -> None:
    result = command("questions", "answer", f"{question.id}@1", "2")

    answered = rows.get_question(question.id)
    assert result.code == ExitCode.DONE
    assert answered.answer == "usw2-az2"
    assert answered.answered_by is not None
    assert answered.answered_by.id == "ann"


def test_the_second_answer_is_told_who_was_first(command: Command, rows: Repository, question: Question) -> None:
    command("questions", "answer", question.id, "1", MUSTER_USER="bob")

    late = command("questions", "answer", question.id, "2")

    assert late.code == ExitCode.REFUSED
    assert "bob" in late.err
    assert rows.get_question(question.id).answer == "usw2-az1"


def test_an_answer_to_an_older_list_is_refused(
    command: Command, rows: Repository, question: Question, conversation: Conversation
) -> None:
    rows.ask(
        QuestionDraft(name=ZONES.name, kind=ZONES.kind, prompt=ZONES.prompt, options=ZONES.options[:1]),
        conversation_id=conversation.id,
    )

    stale = command("questions", "answer", f"{question.id}@1", "1", "--json")
    bare = command("questions", "answer", question.id, "1")

    assert json.loads(stale.out)["error"]["reason"] == "answer_stale"
    assert bare.code == ExitCode.REFUSED
    assert f"{question.id}@2" in bare.err
    assert rows.get_question(question.id).answer is None


@pytest.mark.parametrize("answer", ["3", "usw2-az9", "nonsense words here", ""])
def test_what_is_no_option_is_refused_and_nothing_changes(
    command: Command, rows: Repository, question: Question, answer: str
) -> None:
    result = command("questions", "answer", question.id, answer)

    assert result.code == ExitCode.REFUSED
    assert rows.get_question(question.id).status.value == "open"


@pytest.mark.parametrize("noun", ["runs", "plans", "questions"])
def test_what_is_not_there_is_code_4(command: Command, noun: str) -> None:
    assert command(noun, "show", "nothing").code == ExitCode.NOT_FOUND


def test_events_are_read_by_cursor(command: Command, rows: Repository, question: Question) -> None:
    first = json.loads(command("events", "--json").out)
    then = json.loads(command("events", "--after", str(first["next_after"]), "--json").out)

    assert [event["question_id"] for event in first["events"]] == [question.id]
    assert then == {"events": [], "next_after": first["next_after"]}


def test_control_characters_in_rows_do_not_reach_the_terminal(command: Command, rows: Repository) -> None:
    rows.create_run(
        workflow="create_cluster", workflow_version=1, params={}, requested_by=ANN, cluster=ClusterName("a\x1b[2Jb")
    )

    assert "\x1b" not in command("runs", "list").out


def test_a_touched_audit_record_is_found(
    command: Command, rows: Repository, question: Question, tmp_path: Path
) -> None:
    rows.create_run(workflow="create_cluster", workflow_version=1, params={}, requested_by=ANN)
    whole = command("audit", "verify", "--json")

    with sqlite3.connect(Home(tmp_path).database) as connection:
        connection.execute("UPDATE audit SET after = 'done'")
    touched = command("audit", "verify", "--json")

    assert (whole.code, touched.code) == (ExitCode.DONE, ExitCode.DOES_NOT_HOLD)
    assert json.loads(whole.out)["faults"] == []
    assert len(json.loads(touched.out)["faults"]) == 1


@pytest.mark.parametrize("damage", ["corrupt", "newer"])
def test_an_unusable_database_is_one_sentence_and_stays_as_it_was(tmp_path: Path, damage: str) -> None:
    home = Home(tmp_path)
    muster("runs", "list", home=tmp_path)
    if damage == "corrupt":
        home.database.write_bytes(b"this is no database at all, but long enough to be read as a header" * 4)
    else:
        connection = sqlite3.connect(home.database)
        connection.execute("INSERT INTO migrations VALUES (9999, 'of the future', '2030-01-01')")
        connection.commit()
        connection.close()
    before = home.database.read_bytes()

    result = muster("runs", "list", home=tmp_path)

    assert result.code == ExitCode.OPERATOR
    assert str(home.database) in result.err
    assert "Traceback" not in result.err
    assert home.database.read_bytes() == before
