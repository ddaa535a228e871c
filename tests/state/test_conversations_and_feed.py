"""Transcripts, the feed and evidence: kept in order, read by cursor."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from core.ids import ConversationId, EvidenceId, RunId
from core.messages.message import Language, message
from state.errors import RowNotFound
from state.evidence import MAX_EVIDENCE_CHARACTERS
from state.records import FeedKind, Speaker
from state.repository import Repository
from tests.builders.people import person
from tests.builders.plans import propose
from tests.builders.questions import zone_question
from tests.builders.workflows import create_run


def test_a_transcript_reads_back_as_it_was_written(repository: Repository) -> None:
    conversation = repository.create_conversation(title="集群", language=Language.CHINESE, started_by=person())
    written = [
        repository.append_transcript(conversation.id, speaker=Speaker.USER, text="两个节点 🙂", principal=person()),
        repository.append_transcript(
            conversation.id, speaker=Speaker.ASSISTANT, text="", tool_calls=[{"id": "1", "function": {"name": "x"}}]
        ),
        repository.append_transcript(conversation.id, speaker=Speaker.TOOL, text="{}", tool_call_id="1"),
        repository.append_transcript(
            conversation.id, speaker=Speaker.ASSISTANT, text="yes", message=message("general.yes")
        ),
    ]

    assert repository.list_transcript(conversation.id) == written
    assert repository.list_transcript(conversation.id, after=2) == written[2:]


def test_the_conversation_that_was_active_last_comes_first(repository: Repository) -> None:
    first, second = (
        repository.create_conversation(title=title, language=Language.ENGLISH, started_by=person()) for title in "ab"
    )

    assert {conversation.id for conversation in repository.list_conversations()} == {first.id, second.id}
    assert len(repository.list_conversations(limit=1)) == 1


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(lambda repository: repository.get_conversation(ConversationId("no")), id="conversation"),
        pytest.param(lambda repository: repository.list_transcript(ConversationId("no")), id="transcript"),
        pytest.param(lambda repository: repository.get_run(RunId("no")), id="run"),
        pytest.param(lambda repository: repository.get_evidence(EvidenceId("no")), id="evidence"),
    ],
)
def test_what_is_not_there_is_named(repository: Repository, look: object) -> None:
    assert callable(look)
    with pytest.raises(RowNotFound, match="'no'"):
        look(repository)


def test_the_feed_is_read_by_cursor_and_narrowed(repository: Repository) -> None:
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=person())
    other = create_run(repository)
    _, question = propose(repository, conversation_id=conversation.id)
    cursor = repository.newest_feed_sequence()
    repository.answer_question(question.id, options_version=1, principal=person("li"), option_id="option-approve")

    news = repository.list_feed(after=cursor, conversation_id=conversation.id)

    assert [entry.kind for entry in news] == [FeedKind.STATUS, FeedKind.ANSWER]
    assert "li answered: approve" in [entry.message.english() for entry in news]
    assert [entry.run_id for entry in repository.list_feed(run_id=other.id)] == [other.id]
    assert repository.list_feed(after=repository.newest_feed_sequence()) == []


def test_long_evidence_keeps_its_end(repository: Repository) -> None:
    run = create_run(repository)
    kept = repository.keep_evidence(run_id=run.id, kind="log_tail", text="x" * MAX_EVIDENCE_CHARACTERS + "the cause")

    (evidence,) = repository.list_evidence(run.id)
    assert evidence.id == kept
    assert evidence.text.endswith("the cause") and len(evidence.text) == MAX_EVIDENCE_CHARACTERS


def test_text_that_no_database_can_hold_is_kept_as_far_as_it_can_be(repository: Repository) -> None:
    conversation = repository.create_conversation(title="a\0b", language=Language.ENGLISH, started_by=person())
    entry = repository.append_transcript(
        conversation.id, speaker=Speaker.USER, text="half \udcff pair", message=message("general.text", text="\ud83d")
    )
    kept = repository.keep_evidence(run_id=None, kind="log_tail", text="\0\udcff")

    (read,) = repository.list_transcript(conversation.id)
    assert read.text == entry.text == "half ? pair"
    assert repository.get_evidence(kept).text == "␀?"


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(
            lambda rows: rows.create_plan(conversation_id=ConversationId("no"), requested_by=person(), nodes=[]),
            id="a plan",
        ),
        pytest.param(lambda rows: rows.ask(zone_question(), conversation_id=ConversationId("no")), id="a question"),
        pytest.param(lambda rows: create_run(rows, depends_on=[RunId("no")]), id="a run"),
    ],
)
def test_what_hangs_on_nothing_is_refused(repository: Repository, act: Callable[[Repository], object]) -> None:
    with pytest.raises(RowNotFound, match="'no'"):
        act(repository)
