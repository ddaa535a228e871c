"""Answers: the first valid one wins, and what it decides happens in the same transaction.

An answer wakes the run that waits for it; an approval approves its plan and creates the plan's runs.
"""

from __future__ import annotations

from datetime import datetime

from core.governance.principals import SYSTEM, Channel, Principal
from core.ids import Ids, PlanId, QuestionId, RunId
from core.json_value import JsonValue, canonical_json
from core.messages.message import Message, message
from core.questions import APPROVE, QuestionKind
from core.reasons import InputRefused, RefusalReason
from state.database import Session
from state.plans import load_plan, planned_runs, switch_plan_status
from state.questions import (
    expired_questions,
    load_question,
    shown_answer,
    shown_principal,
    switch_question_status,
)
from state.records import PlanStatus, Question, QuestionStatus, RunStatus
from state.rows import time_text
from state.run_control import cancel_in, fail_unanswered
from state.runs import insert_run, load_run
from state.store import Store


class Answers(Store):
    def answer_question(
        self,
        question_id: QuestionId,
        *,
        options_version: int,
        principal: Principal,
        option_id: str | None = None,
        value: JsonValue = None,
    ) -> Question:
        """Give `option_id`, or `value` as written where the question takes it.

        Raises `RowNotFound`; `InputRefused` with `ANSWER_LATE` (somebody was faster, or it expired),
        `ANSWER_STALE` (the options or the plan changed), `ANSWER_NOT_AN_OPTION` or `ANSWERER_NOT_HUMAN`.
        """
        if principal.channel is Channel.SYSTEM:
            raise InputRefused(RefusalReason.ANSWERER_NOT_HUMAN, message("questions.not_human"))
        self.expire_questions()
        with self._database.writing() as session:
            question, now = load_question(session, question_id), self._now()
            _refuse_closed(question)
            _refuse_stale(question, options_version)
            answer = _chosen(question, option_id, value)
            if question.kind is QuestionKind.APPROVAL and question.plan_id is not None:
                _decide_plan(session, self._ids, question, question.plan_id, answer, principal, now)
            switch_question_status(session, question, QuestionStatus.ANSWERED, actor=principal, at=now, answer=answer)
            if question.run_id is not None:
                _wake(session, question.run_id, question_id, now)
            return load_question(session, question_id)

    def withdraw_question(
        self, question_id: QuestionId, *, actor: Principal, reason: Message | None = None
    ) -> Question:
        """The asker no longer needs it; a run that waited for it is cancelled.

        Raises `RowNotFound`, and `IllegalTransition` when it is no longer open.
        """
        with self._database.writing() as session:
            question, now = load_question(session, question_id), self._now()
            switch_question_status(session, question, QuestionStatus.WITHDRAWN, actor=actor, reason=reason, at=now)
            if question.run_id is not None:
                run = load_run(session, question.run_id)
                if run.waiting_for == question_id:
                    cancel_in(session, run, actor=actor, at=now)
            return load_question(session, question_id)

    def expire_questions(self) -> list[Question]:
        """Closes what nobody answered in time: an approval counts as denied, a run that waited fails, to be retried."""
        now = self._now()
        with self._database.reading() as session:
            if not expired_questions(session, now):
                return []
        with self._database.writing() as session:
            expired = expired_questions(session, now)
            for question in expired:
                _expire(session, question, now)
        return expired


def _refuse_closed(question: Question) -> None:
    if question.status is QuestionStatus.OPEN:
        return
    if question.answered_by is not None:
        late = message(
            "questions.late_answered",
            who=shown_principal(question.answered_by),
            answer=shown_answer(question, question.answer),
        )
    elif question.status is QuestionStatus.EXPIRED:
        at = "" if question.expires_at is None else question.expires_at.isoformat(timespec="seconds")
        late = message("questions.late_expired", at=at)
    else:
        late = message("questions.late_withdrawn")
    raise InputRefused(RefusalReason.ANSWER_LATE, late)


def _refuse_stale(question: Question, options_version: int) -> None:
    if options_version != question.options_version:
        stale = message("questions.stale", given=options_version, current=question.options_version)
        raise InputRefused(RefusalReason.ANSWER_STALE, stale)


def _chosen(question: Question, option_id: str | None, value: JsonValue) -> JsonValue:
    """A value that spells out an option counts as that option, whoever may write others."""
    for option in question.options:
        if option.id == option_id or (option_id is None and value is not None and option.value == value):
            return option.value
    if option_id is None and value is not None and question.takes_other:
        return value
    shown = option_id if option_id is not None else value if isinstance(value, str) else canonical_json(value)
    raise InputRefused(RefusalReason.ANSWER_NOT_AN_OPTION, message("questions.not_an_option", answer=shown))


def _decide_plan(
    session: Session,
    ids: Ids,
    question: Question,
    plan_id: PlanId,
    answer: JsonValue,
    principal: Principal,
    at: datetime,
) -> None:
    plan = load_plan(session, plan_id)
    if plan.status is not PlanStatus.PROPOSED or question.plan_digest != plan.digest:
        raise InputRefused(RefusalReason.ANSWER_STALE, message("questions.stale_plan"))
    if answer != APPROVE:
        switch_plan_status(session, plan, PlanStatus.REJECTED, actor=principal, reason=None, at=at)
        return
    switch_plan_status(session, plan, PlanStatus.APPROVED, actor=principal, reason=None, at=at)
    created: dict[str, RunId] = {}
    for planned in planned_runs(plan.envelope):
        run = insert_run(
            session,
            ids,
            workflow=planned.workflow,
            workflow_version=planned.version,
            params=planned.params,
            requested_by=plan.requested_by,
            cluster=planned.cluster,
            plan_id=plan.id,
            plan_node=planned.node_id,
            conversation_id=plan.conversation_id,
            depends_on=[created[node] for node in planned.depends_on],
            at=at,
        )
        created[planned.node_id] = run.id


def _wake(session: Session, run_id: RunId, question_id: QuestionId, at: datetime) -> None:
    """Only the run that waits for this very question; a paused one finds the answer when it is resumed."""
    session.execute(
        """
        UPDATE runs SET wake_at = :at, updated_at = :at, waiting_for = NULL
        WHERE id = :id AND waiting_for = :question_id AND status = :waiting
        """,
        {"id": run_id, "question_id": question_id, "at": time_text(at), "waiting": RunStatus.WAITING.value},
    )


def _expire(session: Session, question: Question, at: datetime) -> None:
    switch_question_status(session, question, QuestionStatus.EXPIRED, actor=SYSTEM, at=at)
    if question.kind is QuestionKind.APPROVAL and question.plan_id is not None:
        plan = load_plan(session, question.plan_id)
        if plan.status is PlanStatus.PROPOSED:
            reason = message("questions.expired", prompt=question.prompt)
            switch_plan_status(session, plan, PlanStatus.REJECTED, actor=SYSTEM, reason=reason, at=at)
    if question.run_id is not None:
        run = load_run(session, question.run_id)
        if run.waiting_for == question.id:
            fail_unanswered(session, run, question, at)
