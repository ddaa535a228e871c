"""What people and other runs do to a run: pause, resume, retry, cancel; and what its end means for dependants.

A run that a worker holds is not torn from it: the wish is noted and obeyed with the worker's next commit, so
that no call in flight loses its record.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from core.failures import Failure, NextAction
from core.governance.principals import SYSTEM, Principal
from core.ids import RunId
from core.messages.message import Message, message
from core.reasons import FailureClass
from state.database import Session
from state.effects import effects_of
from state.errors import IllegalTransition
from state.feed import add_entry
from state.questions import load_question, shown_principal, withdraw_open
from state.records import EffectStatus, FeedKind, Question, QuestionStatus, Run, RunStatus
from state.rows import principal_text, time_text
from state.runs import dependants_of, load_run, set_reason, switch_run_status
from state.store import Store


class RunControl(Store):
    """Every method raises `RowNotFound`, and `IllegalTransition` when the run's status does not allow it."""

    def pause_run(self, run_id: RunId, *, actor: Principal) -> Run:
        """At once, or after the present step of a run that a worker holds (`Run.stop_requested`)."""
        with self._database.writing() as session:
            run, now = load_run(session, run_id), self._now()
            if run.status is RunStatus.RUNNING:
                _request_stop(session, run, RunStatus.PAUSED, actor, now)
            else:
                pause_in(session, run, actor=actor, at=now)
            return load_run(session, run_id)

    def resume_run(self, run_id: RunId, *, actor: Principal) -> Run:
        """A paused run goes on where it stopped; an open question of it still waits for its answer."""
        with self._database.writing() as session:
            run, now = load_run(session, run_id), self._now()
            if run.status is not RunStatus.PAUSED:
                raise IllegalTransition("run", run_id, run.status.value, RunStatus.QUEUED.value)
            question = None if run.waiting_for is None else load_question(session, run.waiting_for)
            waiting_for = None if question is None or question.status is not QuestionStatus.OPEN else question.id
            # One that had begun keeps its hold on the cluster: nothing else works there in between.
            after = RunStatus.QUEUED if run.fence == 0 else RunStatus.WAITING
            switch_run_status(
                session,
                run,
                after,
                actor=actor,
                reason=message("runs.resumed_by", who=shown_principal(actor)),
                at=now,
                wake_at=now if waiting_for is None else None,
                waiting_for=waiting_for,
            )
            return load_run(session, run_id)

    def retry_run(self, run_id: RunId, *, actor: Principal) -> Run:
        """A failed run starts again from the step that failed, with a fresh budget of retries for it."""
        with self._database.writing() as session:
            run, now = load_run(session, run_id), self._now()
            if run.status is not RunStatus.FAILED:
                raise IllegalTransition("run", run_id, run.status.value, RunStatus.QUEUED.value)
            reason = message("runs.retried_by", who=shown_principal(actor))
            switch_run_status(session, run, RunStatus.QUEUED, actor=actor, reason=reason, at=now)
            session.execute(
                "UPDATE steps SET status = 'started', retries = 0, started_at = :at, ended_at = NULL "
                "WHERE run_id = :run_id AND status = 'failed'",
                {"run_id": run_id, "at": time_text(now)},
            )
            for dependant in dependants_of(session, run_id):
                if dependant.status is RunStatus.QUEUED:
                    set_reason(session, dependant.id, None, now)
            return load_run(session, run_id)

    def cancel_run(self, run_id: RunId, *, actor: Principal) -> Run:
        """Nothing is undone: the run's reason says what stays. Runs that depend on it are cancelled too."""
        with self._database.writing() as session:
            run, now = load_run(session, run_id), self._now()
            if run.status is RunStatus.RUNNING:
                _request_stop(session, run, RunStatus.CANCELLED, actor, now)
            else:
                cancel_in(session, run, actor=actor, at=now)
            return load_run(session, run_id)


def pause_in(session: Session, run: Run, *, actor: Principal, at: datetime, reason: Message | None = None) -> None:
    switch_run_status(
        session,
        run,
        RunStatus.PAUSED,
        actor=actor,
        reason=reason or message("runs.paused_by", who=shown_principal(actor)),
        at=at,
        waiting_for=run.waiting_for,
    )


def cancel_in(session: Session, run: Run, *, actor: Principal, at: datetime) -> None:
    """Also withdraws what the run still asks, and cancels what depends on it."""
    switch_run_status(session, run, RunStatus.CANCELLED, actor=actor, reason=_what_stays(session, run, actor), at=at)
    withdraw_open(session, run.id, actor=actor, reason=message("questions.run_ended"), at=at)
    spread_end(session, run, RunStatus.CANCELLED, at=at)


def fail_unanswered(session: Session, run: Run, question: Question, at: datetime) -> None:
    """A waiting run whose question expired. A paused one asks anew when it is resumed."""
    if run.status is not RunStatus.WAITING:
        return
    why = message("runs.question_expired", prompt=question.prompt)
    failure = Failure(
        failure_class=FailureClass.CONFIG, message=why, next_actions=(NextAction.RETRY_STEP, NextAction.CANCEL)
    )
    switch_run_status(session, run, RunStatus.FAILED, actor=SYSTEM, reason=why, failure=failure, at=at)
    session.execute(
        "UPDATE steps SET status = 'failed', ended_at = :at WHERE run_id = :run_id AND name = :name",
        {"run_id": run.id, "name": run.step, "at": time_text(at)},
    )
    spread_end(session, run, RunStatus.FAILED, at=at)


def spread_end(session: Session, run: Run, end: RunStatus, *, at: datetime) -> None:
    """What a run's end means for the queued runs that need it. A failure may still be retried, so they wait."""
    for dependant in dependants_of(session, run.id):
        if dependant.status.is_finished:
            continue
        if end is RunStatus.FAILED:
            set_reason(session, dependant.id, _because(run, end), at)
        elif end in {RunStatus.CANCELLED, RunStatus.REFUSED}:
            switch_run_status(session, dependant, RunStatus.CANCELLED, actor=SYSTEM, reason=_because(run, end), at=at)
            withdraw_open(session, dependant.id, actor=SYSTEM, reason=message("questions.run_ended"), at=at)
            spread_end(session, dependant, RunStatus.CANCELLED, at=at)


def _because(run: Run, end: RunStatus) -> Message:
    return message(f"runs.dependency_{end.value}", workflow=run.workflow, run=run.id)


def _request_stop(session: Session, run: Run, wish: RunStatus, actor: Principal, at: datetime) -> None:
    """A cancellation outranks a pause."""
    if run.stop_requested is RunStatus.CANCELLED:
        return
    session.execute(
        "UPDATE runs SET stop_requested = :wish, stop_requested_by = :actor, updated_at = :at WHERE id = :id",
        {"id": run.id, "wish": wish.value, "actor": principal_text(actor), "at": time_text(at)},
    )
    add_entry(
        session,
        kind=FeedKind.NOTICE,
        message=message("runs.stop_requested", who=shown_principal(actor)),
        at=at,
        conversation_id=run.conversation_id,
        run_id=run.id,
    )


def _what_stays(session: Session, run: Run, actor: Principal) -> Message:
    effects = effects_of(session, run.id)
    done = [effect.tool for effect in effects if effect.status is EffectStatus.APPLIED]
    doubtful = [
        f"{effect.tool}?" for effect in effects if effect.status in {EffectStatus.INTENDED, EffectStatus.UNKNOWN}
    ]
    who = shown_principal(actor)
    if not done and not doubtful:
        return message("runs.cancelled_by", who=who)
    counted = Counter(done + doubtful).items()
    stays = ", ".join(name if count == 1 else f"{name} ({count}x)" for name, count in counted)
    return message("runs.cancelled_by_stays", who=who, stays=stays)
