"""Questions: the rows, asking, and the one function that changes their status. Answering is `state.answers`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.governance.principals import Principal
from core.ids import ConversationId, Ids, PlanId, QuestionId, RunId
from core.json_value import JsonValue, canonical_json
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from state.audit import record_event
from state.conversations import require_conversation
from state.database import Session
from state.errors import IllegalTransition, RowNotFound
from state.feed import add_entry
from state.records import FeedKind, Question, QuestionStatus
from state.rows import (
    Cell,
    Row,
    as_list,
    message_text,
    messages_from_json,
    messages_text,
    option_from_json,
    principal_text,
    time_text,
    time_text_or_none,
)
from state.store import Store

_FOLLOWS: Mapping[QuestionStatus, frozenset[QuestionStatus]] = {
    QuestionStatus.OPEN: frozenset({QuestionStatus.ANSWERED, QuestionStatus.EXPIRED, QuestionStatus.WITHDRAWN}),
    QuestionStatus.ANSWERED: frozenset(),
    QuestionStatus.EXPIRED: frozenset(),
    QuestionStatus.WITHDRAWN: frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks: a run, else a plan, else a conversation. A question's name is unique among what it has open."""

    conversation_id: ConversationId | None
    plan_id: PlanId | None = None
    run_id: RunId | None = None

    @property
    def key(self) -> str:
        """Raises `ValueError` when nobody asks."""
        key = self.run_id or self.plan_id or self.conversation_id
        if key is None:
            raise ValueError("a question needs a run, a plan or a conversation that asks it")
        return key


class Questions(Store):
    def ask(
        self,
        draft: QuestionDraft,
        *,
        conversation_id: ConversationId | None,
        plan_id: PlanId | None = None,
        run_id: RunId | None = None,
        expires_at: datetime | None = None,
    ) -> Question:
        """The open question of this asker and name. Asking again updates it; other options are a new version.

        Raises `RowNotFound` for an unknown conversation.
        """
        asker = Asker(conversation_id=conversation_id, plan_id=plan_id, run_id=run_id)
        with self._database.writing() as session:
            require_conversation(session, conversation_id)
            return put_question(session, self._ids, draft, asker=asker, at=self._now(), expires_at=expires_at)

    def get_question(self, question_id: QuestionId) -> Question:
        """Raises `RowNotFound`."""
        with self._database.reading() as session:
            return load_question(session, question_id)

    def list_questions(
        self,
        *,
        status: QuestionStatus | None = None,
        conversation_id: ConversationId | None = None,
        run_id: RunId | None = None,
        plan_id: PlanId | None = None,
    ) -> list[Question]:
        """Oldest first; every given value narrows the list."""
        given: dict[str, Cell] = {
            "status": None if status is None else status.value,
            "conversation_id": conversation_id,
            "run_id": run_id,
            "plan_id": plan_id,
        }
        with self._database.reading() as session:
            return select_questions(session, {column: value for column, value in given.items() if value is not None})

    def newest_question(self, run_id: RunId, name: str) -> Question | None:
        """The last one that this run asked under that name."""
        with self._database.reading() as session:
            return newest_of(session, run_id, name)


def put_question(
    session: Session,
    ids: Ids,
    draft: QuestionDraft,
    *,
    asker: Asker,
    at: datetime,
    expires_at: datetime | None,
    plan_digest: str | None = None,
) -> Question:
    sql = "SELECT * FROM questions WHERE asker = :asker AND name = :name AND status = 'open'" + session.for_update
    row = session.row(sql, {"asker": asker.key, "name": draft.name})
    if row is not None:
        return _ask_again(session, _question(row), draft, expires_at=expires_at, plan_digest=plan_digest)
    question = Question(
        id=QuestionId(ids.new("question")),
        name=draft.name,
        kind=draft.kind,
        prompt=draft.prompt,
        options=draft.options,
        options_version=1,
        status=QuestionStatus.OPEN,
        asked_at=at,
        takes_other=draft.takes_other,
        field=draft.field,
        details=draft.details,
        run_id=asker.run_id,
        plan_id=asker.plan_id,
        conversation_id=asker.conversation_id,
        expires_at=expires_at,
        plan_digest=plan_digest,
    )
    _insert(session, question, asker)
    _tell(session, question, FeedKind.QUESTION, message("questions.asked", prompt=question.prompt), at)
    return question


def load_question(session: Session, question_id: QuestionId) -> Question:
    """Inside a writing session the row is held until it ends. Raises `RowNotFound`."""
    row = session.row("SELECT * FROM questions WHERE id = :id" + session.for_update, {"id": question_id})
    if row is None:
        raise RowNotFound("question", question_id)
    return _question(row)


def newest_of(session: Session, asker: str, name: str) -> Question | None:
    sql = "SELECT * FROM questions WHERE asker = :asker AND name = :name ORDER BY ordinal DESC LIMIT 1"
    row = session.row(sql, {"asker": asker, "name": name})
    return None if row is None else _question(row)


def select_questions(session: Session, equal: Mapping[str, Cell]) -> list[Question]:
    where = " AND ".join(f"{column} = :{column}" for column in equal) or "1 = 1"
    rows = session.rows(f"SELECT * FROM questions WHERE {where} ORDER BY ordinal", equal)
    return [_question(row) for row in rows]


def expired_questions(session: Session, at: datetime) -> list[Question]:
    sql = "SELECT * FROM questions WHERE status = 'open' AND expires_at <= :at ORDER BY ordinal"
    return [_question(row) for row in session.rows(sql, {"at": time_text(at)})]


def withdraw_open(session: Session, asker: str, *, actor: Principal, reason: Message, at: datetime) -> None:
    """Everything that this asker still has open."""
    for question in select_questions(session, {"asker": asker, "status": QuestionStatus.OPEN.value}):
        switch_question_status(session, question, QuestionStatus.WITHDRAWN, actor=actor, reason=reason, at=at)


def switch_question_status(
    session: Session,
    question: Question,
    after: QuestionStatus,
    *,
    actor: Principal,
    at: datetime,
    reason: Message | None = None,
    answer: JsonValue = None,
) -> None:
    """The only writer of a question's status. Raises `IllegalTransition`, also when another was faster."""
    is_answer = after is QuestionStatus.ANSWERED
    changed = session.execute(
        """
        UPDATE questions SET status = :after, answer = :answer, answered_by = :answered_by, answered_at = :answered_at
        WHERE id = :id AND status = :before
        """,
        {
            "id": question.id,
            "before": question.status.value,
            "after": after.value,
            "answer": canonical_json(answer) if is_answer else None,
            "answered_by": principal_text(actor) if is_answer else None,
            "answered_at": time_text(at) if is_answer else None,
        },
    )
    if changed != 1 or after not in _FOLLOWS[question.status]:
        raise IllegalTransition("question", question.id, question.status.value, after.value)
    record_event(
        session,
        subject=question.id,
        what="question.status",
        before=question.status.value,
        after=after.value,
        actor=actor,
        reason=reason,
        at=at,
    )
    _tell(
        session, question, FeedKind.ANSWER if is_answer else FeedKind.NOTICE, _news(question, after, actor, answer), at
    )


def shown_answer(question: Question, answer: JsonValue) -> Message:
    """The label of the option that was chosen, or the value as written."""
    for option in question.options:
        if option.value == answer:
            return option.label
    return message("general.text", text=answer if isinstance(answer, str) else canonical_json(answer))


def shown_principal(principal: Principal) -> Message:
    key = "questions.scripted" if principal.is_scripted else "general.text"
    return message(key, who=principal.id) if principal.is_scripted else message(key, text=principal.id)


def _ask_again(
    session: Session, before: Question, draft: QuestionDraft, *, expires_at: datetime | None, plan_digest: str | None
) -> Question:
    same_options = before.options == draft.options and before.takes_other == draft.takes_other
    version = before.options_version if same_options else before.options_version + 1
    session.execute(
        """
        UPDATE questions SET prompt = :prompt, options = :options, options_version = :options_version,
            takes_other = :takes_other, details = :details, expires_at = :expires_at, plan_digest = :plan_digest
        WHERE id = :id AND status = 'open'
        """,
        {
            "id": before.id,
            "prompt": message_text(draft.prompt),
            "options": canonical_json([option.to_json() for option in draft.options]),
            "options_version": version,
            "takes_other": int(draft.takes_other),
            "details": messages_text(draft.details),
            "expires_at": time_text_or_none(expires_at),
            "plan_digest": plan_digest,
        },
    )
    return load_question(session, before.id)


def _news(question: Question, after: QuestionStatus, actor: Principal, answer: JsonValue) -> Message:
    if after is QuestionStatus.ANSWERED:
        return message("questions.answered", who=shown_principal(actor), answer=shown_answer(question, answer))
    return message(f"questions.{after.value}", prompt=question.prompt)


def _tell(session: Session, question: Question, kind: FeedKind, text: Message, at: datetime) -> None:
    add_entry(
        session,
        kind=kind,
        message=text,
        at=at,
        conversation_id=question.conversation_id,
        run_id=question.run_id,
        question_id=question.id,
    )


def _insert(session: Session, question: Question, asker: Asker) -> None:
    session.execute(
        """
        INSERT INTO questions (id, ordinal, asker, name, kind, prompt, options, options_version, status, asked_at,
            takes_other, field, details, run_id, plan_id, plan_digest, conversation_id, expires_at)
        VALUES (:id, (SELECT COALESCE(MAX(ordinal), 0) + 1 FROM questions), :asker, :name, :kind, :prompt, :options,
            :options_version, :status, :asked_at, :takes_other, :field, :details, :run_id, :plan_id, :plan_digest,
            :conversation_id, :expires_at)
        """,
        {
            "id": question.id,
            "asker": asker.key,
            "name": question.name,
            "kind": question.kind.value,
            "prompt": message_text(question.prompt),
            "options": canonical_json([option.to_json() for option in question.options]),
            "options_version": question.options_version,
            "status": question.status.value,
            "asked_at": time_text(question.asked_at),
            "takes_other": int(question.takes_other),
            "field": question.field,
            "details": messages_text(question.details),
            "run_id": question.run_id,
            "plan_id": question.plan_id,
            "plan_digest": question.plan_digest,
            "conversation_id": question.conversation_id,
            "expires_at": time_text_or_none(question.expires_at),
        },
    )


def _question(row: Row) -> Question:
    run, plan, conversation = (row.text_or_none(f"{noun}_id") for noun in ("run", "plan", "conversation"))
    return Question(
        id=QuestionId(row.text("id")),
        name=row.text("name"),
        kind=QuestionKind(row.text("kind")),
        prompt=row.message("prompt"),
        options=tuple(option_from_json(item) for item in as_list(row.json("options"))),
        options_version=row.number("options_version"),
        status=QuestionStatus(row.text("status")),
        asked_at=row.time("asked_at"),
        takes_other=row.flag("takes_other"),
        field=row.text_or_none("field"),
        details=messages_from_json(row.json("details")),
        run_id=None if run is None else RunId(run),
        plan_id=None if plan is None else PlanId(plan),
        conversation_id=None if conversation is None else ConversationId(conversation),
        expires_at=row.time_or_none("expires_at"),
        answer=row.json_or_none("answer"),
        answered_by=row.principal_or_none("answered_by"),
        answered_at=row.time_or_none("answered_at"),
        plan_digest=row.text_or_none("plan_digest"),
    )
