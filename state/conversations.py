"""Conversations and their transcripts."""

from __future__ import annotations

from core.governance.principals import Principal
from core.ids import ConversationId
from core.json_value import JsonValue, canonical_json
from core.messages.message import Language, Message
from state.database import Session
from state.errors import RowNotFound
from state.records import Conversation, Speaker, TranscriptEntry
from state.rows import Row, message_text, principal_text, storable, time_text
from state.store import Store


class Conversations(Store):
    def create_conversation(self, *, title: str, language: Language, started_by: Principal) -> Conversation:
        now = self._now()
        conversation = Conversation(
            id=ConversationId(self._ids.new("conversation")),
            title=storable(title),
            language=language,
            started_by=started_by,
            created_at=now,
            updated_at=now,
        )
        with self._database.writing() as session:
            _insert_conversation(session, conversation)
        return conversation

    def get_conversation(self, conversation_id: ConversationId) -> Conversation:
        """Raises `RowNotFound`."""
        with self._database.reading() as session:
            return _conversation(_required(session, conversation_id))

    def list_conversations(self, *, limit: int = 50) -> list[Conversation]:
        """The one that was active last comes first."""
        sql = "SELECT * FROM conversations ORDER BY updated_at DESC, id LIMIT :limit"
        with self._database.reading() as session:
            return [_conversation(row) for row in session.rows(sql, {"limit": limit})]

    def append_transcript(
        self,
        conversation_id: ConversationId,
        *,
        speaker: Speaker,
        text: str,
        principal: Principal | None = None,
        message: Message | None = None,
        tool_calls: JsonValue = None,
        tool_call_id: str | None = None,
    ) -> TranscriptEntry:
        """Raises `RowNotFound` for an unknown conversation."""
        with self._database.writing() as session:
            _required(session, conversation_id)
            entry = TranscriptEntry(
                conversation_id=conversation_id,
                sequence=_next_sequence(session, conversation_id),
                speaker=speaker,
                text=storable(text),
                at=self._now(),
                principal=principal,
                message=message,
                tool_calls=tool_calls,
                tool_call_id=tool_call_id,
            )
            _insert_entry(session, entry)
        return entry

    def list_transcript(self, conversation_id: ConversationId, *, after: int = 0) -> list[TranscriptEntry]:
        """Entries with a sequence above `after`, oldest first. Raises `RowNotFound`."""
        sql = "SELECT * FROM transcript WHERE conversation_id = :id AND sequence > :after ORDER BY sequence"
        with self._database.reading() as session:
            _required(session, conversation_id)
            return [_entry(row) for row in session.rows(sql, {"id": conversation_id, "after": after})]


def require_conversation(session: Session, conversation_id: ConversationId | None) -> None:
    """Raises `RowNotFound` for one that is named and not there."""
    if conversation_id is not None:
        _required(session, conversation_id)


def _required(session: Session, conversation_id: ConversationId) -> Row:
    row = session.row("SELECT * FROM conversations WHERE id = :id" + session.for_update, {"id": conversation_id})
    if row is None:
        raise RowNotFound("conversation", conversation_id)
    return row


def _insert_conversation(session: Session, conversation: Conversation) -> None:
    session.execute(
        """
        INSERT INTO conversations (id, title, language, started_by, created_at, updated_at)
        VALUES (:id, :title, :language, :started_by, :created_at, :updated_at)
        """,
        {
            "id": conversation.id,
            "title": conversation.title,
            "language": conversation.language.value,
            "started_by": principal_text(conversation.started_by),
            "created_at": time_text(conversation.created_at),
            "updated_at": time_text(conversation.updated_at),
        },
    )


def _next_sequence(session: Session, conversation_id: ConversationId) -> int:
    sql = "SELECT COALESCE(MAX(sequence), 0) + 1 AS next FROM transcript WHERE conversation_id = :id"
    row = session.row(sql, {"id": conversation_id})
    return 1 if row is None else row.number("next")


def _insert_entry(session: Session, entry: TranscriptEntry) -> None:
    session.execute(
        """
        INSERT INTO transcript (conversation_id, sequence, speaker, text, at, principal, message, tool_calls,
            tool_call_id)
        VALUES (:conversation_id, :sequence, :speaker, :text, :at, :principal, :message, :tool_calls, :tool_call_id)
        """,
        {
            "conversation_id": entry.conversation_id,
            "sequence": entry.sequence,
            "speaker": entry.speaker.value,
            "text": entry.text,
            "at": time_text(entry.at),
            "principal": principal_text(entry.principal),
            "message": message_text(entry.message),
            "tool_calls": None if entry.tool_calls is None else canonical_json(entry.tool_calls),
            "tool_call_id": entry.tool_call_id,
        },
    )
    session.execute(
        "UPDATE conversations SET updated_at = :at WHERE id = :id",
        {"at": time_text(entry.at), "id": entry.conversation_id},
    )


def _conversation(row: Row) -> Conversation:
    return Conversation(
        id=ConversationId(row.text("id")),
        title=row.text("title"),
        language=Language(row.text("language")),
        started_by=row.principal("started_by"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
    )


def _entry(row: Row) -> TranscriptEntry:
    return TranscriptEntry(
        conversation_id=ConversationId(row.text("conversation_id")),
        sequence=row.number("sequence"),
        speaker=Speaker(row.text("speaker")),
        text=row.text("text"),
        at=row.time("at"),
        principal=row.principal_or_none("principal"),
        message=row.message_or_none("message"),
        tool_calls=row.json_or_none("tool_calls"),
        tool_call_id=row.text_or_none("tool_call_id"),
    )
