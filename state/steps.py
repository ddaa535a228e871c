"""Steps: one row per run and step name, and the guarded commits of the worker that holds the run.

`finish_step` is one transaction: step, run, effects that settled meanwhile, question, feed and audit. The row
of the step that follows begins in it, so that a plain step costs one commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias, assert_never

from core.failures import Failure
from core.governance.principals import SYSTEM, Principal
from core.ids import RunId, StepName
from core.json_value import JsonObject, canonical_json
from core.messages.message import Message, message
from core.questions import QuestionDraft
from state.database import Session
from state.effects import Settlement, intend, settle
from state.errors import LeaseLost
from state.feed import add_entry
from state.questions import Asker, newest_of, put_question, withdraw_open
from state.records import Effect, FeedKind, Run, RunStatus, StepRecord, StepStatus
from state.rows import Row, message_text, time_text, time_text_or_none
from state.run_control import cancel_in, pause_in, spread_end
from state.runs import load_run, switch_run_status
from state.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance:
    """The step is done; `step` is next."""

    step: StepName
    kind: str
    title: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    """The step runs again at `until`."""

    until: datetime
    why: Message
    is_retry: bool = False
    """True: a passing fault made it wait; counts against the step's budget of retries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutQuestion:
    """The step runs again once this is answered."""

    draft: QuestionDraft
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The run is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The step failed; the run can be retried from it."""

    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Park:
    """The run pauses until a person resumes it."""

    why: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """A gate said no for good."""

    why: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandon:
    """A person answered that the run should end here."""

    by_question: str


StepEnd: TypeAlias = Advance | Sleep | PutQuestion | Finish | Stop | Park | Refuse | Abandon


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Progress worth a line."""

    message: Message
    data: JsonObject = field(default_factory=dict)


class StopRequested(Exception):
    """A person wants the run to stop: no further effect may begin. Control flow between here and the engine."""


class Steps(Store):
    def list_steps(self, run_id: RunId) -> list[StepRecord]:
        """In the order in which they first began."""
        sql = "SELECT * FROM steps WHERE run_id = :run_id ORDER BY position"
        with self._database.reading() as session:
            return [_step(row) for row in session.rows(sql, {"run_id": run_id})]

    def find_step(self, run_id: RunId, name: StepName) -> StepRecord | None:
        sql = "SELECT * FROM steps WHERE run_id = :run_id AND name = :name"
        with self._database.reading() as session:
            row = session.row(sql, {"run_id": run_id, "name": name})
            return None if row is None else _step(row)

    def begin_first_step(self, run: Run, first: Advance) -> Run:
        """Puts a run that never ran at its first step. Raises `LeaseLost`."""
        with self._database.writing() as session:
            held_run(session, run)
            _enter(session, run, first, self._now())
            return load_run(session, run.id, known=run)

    def intend_effect(self, run: Run, effect: Effect, *, settled: Sequence[Settlement] = ()) -> None:
        """Commits the intent, and what settled before it, if the run is still held.

        Raises, with nothing written: `LeaseLost`; `StopRequested`; `StepChangedItsMind`, see `state.effects.intend`.
        """
        with self._database.writing() as session:
            if held_run(session, run).stop_requested is not None:
                raise StopRequested(run.id)
            settle(session, run.id, settled)
            intend(session, effect)

    def settle_effects(self, run: Run, settled: Sequence[Settlement]) -> None:
        """Commits outcomes by themselves. Raises `LeaseLost`."""
        with self._database.writing() as session:
            held_run(session, run)
            settle(session, run.id, settled)

    def finish_step(
        self,
        run: Run,
        end: StepEnd,
        *,
        data: JsonObject | None = None,
        reports: Sequence[Report] = (),
        settled: Sequence[Settlement] = (),
    ) -> Run:
        """Commits the outcome of the run's present step, and the run as it is then.

        `data` is merged into the run's. A person's wish to pause or cancel is obeyed here, unless the run ends
        anyway. Raises `LeaseLost`, with nothing written.
        """
        with self._database.writing() as session:
            now = self._now()
            held = held_run(session, run)
            settle(session, run.id, settled)
            if data:
                _merge(session, held, data)
            _report(session, held, reports, now)
            self._end(session, held, end, data or {}, now)
            _obey_wish(session, held, end, now)
            return load_run(session, run.id, known=run)

    def _end(self, session: Session, run: Run, end: StepEnd, output: JsonObject, at: datetime) -> None:
        match end:
            case Advance():
                _close(session, run, StepStatus.DONE, output, at)
                _enter(session, run, end, at)
            case Sleep():
                _close(session, run, StepStatus.WAITING, output, None, retries=int(end.is_retry))
                switch_run_status(
                    session, run, RunStatus.WAITING, actor=SYSTEM, reason=end.why, at=at, wake_at=end.until
                )
            case PutQuestion():
                _close(session, run, StepStatus.WAITING, output, None)
                self._put(session, run, end, at)
            case Finish():
                _close(session, run, StepStatus.DONE, output, at)
                switch_run_status(session, run, RunStatus.DONE, actor=SYSTEM, at=at)
                withdraw_open(session, run.id, actor=SYSTEM, reason=message("questions.run_ended"), at=at)
            case Stop():
                _close(session, run, StepStatus.FAILED, output, at)
                why = end.failure.message
                switch_run_status(session, run, RunStatus.FAILED, actor=SYSTEM, reason=why, failure=end.failure, at=at)
                spread_end(session, run, RunStatus.FAILED, at=at)
            case Park():
                pause_in(session, run, actor=SYSTEM, at=at, reason=end.why)
            case Refuse():
                _close(session, run, StepStatus.FAILED, output, at)
                switch_run_status(session, run, RunStatus.REFUSED, actor=SYSTEM, reason=end.why, at=at)
                withdraw_open(session, run.id, actor=SYSTEM, reason=message("questions.run_ended"), at=at)
                spread_end(session, run, RunStatus.REFUSED, at=at)
            case Abandon():
                _close(session, run, StepStatus.FAILED, output, at)
                cancel_in(session, run, actor=_who_answered(session, run, end.by_question), at=at)
            case _:
                assert_never(end)

    def _put(self, session: Session, run: Run, end: PutQuestion, at: datetime) -> None:
        question = put_question(
            session,
            self._ids,
            end.draft,
            asker=Asker(conversation_id=run.conversation_id, plan_id=None, run_id=run.id),
            at=at,
            expires_at=end.expires_at,
        )
        why = message("runs.waits_for_answer", prompt=question.prompt)
        switch_run_status(session, run, RunStatus.WAITING, actor=SYSTEM, reason=why, at=at, waiting_for=question.id)


def held_run(session: Session, run: Run) -> Run:
    """The row as it is now, if whoever has `run` still holds it. Raises `LeaseLost`."""
    held = load_run(session, run.id, known=run)
    if held.fence != run.fence or held.status is not RunStatus.RUNNING:
        raise LeaseLost(run.id, run.fence)
    return held


def _merge(session: Session, run: Run, data: JsonObject) -> None:
    session.execute(
        "UPDATE runs SET data = :data WHERE id = :id",
        {"id": run.id, "data": canonical_json({**run.data, **data})},
    )


def _report(session: Session, run: Run, reports: Sequence[Report], at: datetime) -> None:
    """A line for each that says something new."""
    if not reports:
        return
    row = session.row(
        "SELECT progress FROM steps WHERE run_id = :run_id AND name = :name", {"run_id": run.id, "name": run.step}
    )
    shown = None if row is None else row.message_or_none("progress")
    for report in reports:
        if report.message != shown:
            _line(session, run, report, at)
        shown = report.message
    session.execute(
        "UPDATE steps SET progress = :progress WHERE run_id = :run_id AND name = :name",
        {"run_id": run.id, "name": run.step, "progress": message_text(shown)},
    )


def _line(session: Session, run: Run, report: Report, at: datetime) -> None:
    add_entry(
        session,
        kind=FeedKind.PROGRESS,
        message=report.message,
        at=at,
        conversation_id=run.conversation_id,
        run_id=run.id,
        data=report.data,
    )


def _close(
    session: Session, run: Run, status: StepStatus, output: JsonObject, ended_at: datetime | None, *, retries: int = 0
) -> None:
    """Runs refused at their gate have no step yet: then there is nothing to close."""
    session.execute(
        """
        UPDATE steps SET status = :status, output = :output, ended_at = :ended_at, retries = retries + :retries
        WHERE run_id = :run_id AND name = :name
        """,
        {
            "run_id": run.id,
            "name": run.step,
            "status": status.value,
            "output": canonical_json(output),
            "ended_at": time_text_or_none(ended_at),
            "retries": retries,
        },
    )


def _enter(session: Session, run: Run, step: Advance, at: datetime) -> None:
    """A step that is entered again, in a loop, begins anew: so do its deadline and its budget."""
    session.execute(
        """
        INSERT INTO steps (run_id, name, position, kind, status, attempts, retries, started_at, output)
        VALUES (:run_id, :name, (SELECT COUNT(*) FROM steps WHERE run_id = :run_id), :kind, :status, 1, 0, :at, '{}')
        ON CONFLICT (run_id, name) DO UPDATE SET status = excluded.status, attempts = steps.attempts + 1, retries = 0,
            started_at = excluded.started_at, ended_at = NULL, progress = NULL
        """,
        {
            "run_id": run.id,
            "name": step.step,
            "kind": step.kind,
            "status": StepStatus.STARTED.value,
            "at": time_text(at),
        },
    )
    session.execute(
        "UPDATE runs SET step = :step, attempt = 1, reason = NULL, updated_at = :at WHERE id = :id",
        {"id": run.id, "step": step.step, "at": time_text(at)},
    )
    _line(session, run, Report(message=step.title, data={"step": step.step, "kind": step.kind}), at)


def _obey_wish(session: Session, held: Run, end: StepEnd, at: datetime) -> None:
    """What a person asked for while the worker held the run, unless the run has ended."""
    if held.stop_requested is None or isinstance(end, Finish | Refuse | Abandon):
        return
    actor = held.stop_requested_by or SYSTEM
    run = load_run(session, held.id, known=held)
    if held.stop_requested is RunStatus.CANCELLED:
        cancel_in(session, run, actor=actor, at=at)
    elif run.status in {RunStatus.RUNNING, RunStatus.WAITING}:
        pause_in(session, run, actor=actor, at=at)


def _who_answered(session: Session, run: Run, name: str) -> Principal:
    question = newest_of(session, run.id, name)
    return SYSTEM if question is None or question.answered_by is None else question.answered_by


def _step(row: Row) -> StepRecord:
    return StepRecord(
        run_id=RunId(row.text("run_id")),
        name=StepName(row.text("name")),
        kind=row.text("kind"),
        status=StepStatus(row.text("status")),
        attempts=row.number("attempts"),
        started_at=row.time("started_at"),
        ended_at=row.time_or_none("ended_at"),
        progress=row.message_or_none("progress"),
        output=row.object("output"),
        retries=row.number("retries"),
    )
