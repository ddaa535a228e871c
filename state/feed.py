"""The feed: what channels show while work goes on, read by cursor so that nothing is missed or shown twice."""

from __future__ import annotations

from datetime import datetime

from core.ids import ConversationId, QuestionId, RunId
from core.json_value import JsonObject, canonical_json
from core.messages.message import Message
from state.database import Session
from state.records import FeedEntry, FeedKind
from state.rows import Cell, Row, message_text, time_text
from state.store import Store


class Feed(Store):
    def list_feed(
        self,
        *,
        after: int = 0,
        conversation_id: ConversationId | None = None,
        run_id: RunId | None = None,
        limit: int = 500,
    ) -> list[FeedEntry]:
        """Entries with a sequence above `after`, oldest first."""
        conditions, params = ["sequence > :after"], dict[str, Cell](after=after, limit=limit)
        if conversation_id is not None:
            conditions.append("conversation_id = :conversation_id")
            params["conversation_id"] = conversation_id
        if run_id is not None:
            conditions.append("run_id = :run_id")
            params["run_id"] = run_id
        sql = f"SELECT * FROM feed WHERE {' AND '.join(conditions)} ORDER BY sequence LIMIT :limit"
        with self._database.reading() as session:
            return [_entry(row) for row in session.rows(sql, params)]

    def newest_feed_sequence(self) -> int:
        """The cursor of somebody who only wants what comes from now on."""
        with self._database.reading() as session:
            row = session.row("SELECT COALESCE(MAX(sequence), 0) AS newest FROM feed")
            return 0 if row is None else row.number("newest")


def add_entry(
    session: Session,
    *,
    kind: FeedKind,
    message: Message,
    at: datetime,
    conversation_id: ConversationId | None,
    run_id: RunId | None = None,
    question_id: QuestionId | None = None,
    data: JsonObject | None = None,
) -> None:
    session.execute(
        """
        INSERT INTO feed (kind, message, at, conversation_id, run_id, question_id, data)
        VALUES (:kind, :message, :at, :conversation_id, :run_id, :question_id, :data)
        """,
        {
            "kind": kind.value,
            "message": message_text(message),
            "at": time_text(at),
            "conversation_id": conversation_id,
            "run_id": run_id,
            "question_id": question_id,
            "data": canonical_json(data or {}),
        },
    )


def _entry(row: Row) -> FeedEntry:
    conversation, run, question = (row.text_or_none(f"{noun}_id") for noun in ("conversation", "run", "question"))
    return FeedEntry(
        sequence=row.number("sequence"),
        kind=FeedKind(row.text("kind")),
        message=row.message("message"),
        at=row.time("at"),
        conversation_id=None if conversation is None else ConversationId(conversation),
        run_id=None if run is None else RunId(run),
        question_id=None if question is None else QuestionId(question),
        data=row.object("data"),
    )
