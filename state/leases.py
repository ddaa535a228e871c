"""Leases: which worker holds which run, and until when.

A claim raises the run's fence; every later write of the worker carries that fence and is refused once another
has claimed the run. A run can be claimed when it is queued or its time has come, when all it depends on is
done, and when nothing that conflicts with it works on the same cluster. Conflicting runs go in the order in
which they were created; of those that may go, the one that has been due longest goes first.

Runs of workflows that share a cluster (jobs) go beside each other. Every other run has its cluster to itself from
its first step to its end, waits and pauses included. Between the two kinds: a job does not begin while a run of the
other kind works on its cluster or was created earlier; a job that has begun only follows, so it goes on, and holds
up the other kind for no longer than one of its steps takes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.governance.principals import SYSTEM
from core.ids import RunId, WorkerId
from core.messages.message import Message, message
from state.audit import record_event
from state.database import Session
from state.records import Run, RunStatus
from state.rows import Cell, Row, time_text
from state.runs import dependencies_of, load_run, run_from_row, set_reason, switch_run_status
from state.steps import held_run
from state.store import Store

_DUE = """(
    (candidate.status = 'queued' AND (candidate.wake_at IS NULL OR candidate.wake_at <= :now))
    OR (candidate.status = 'waiting' AND candidate.wake_at <= :now)
    OR (candidate.status = 'running' AND candidate.lease_expires_at <= :now)
)"""

_UNMET = """
    SELECT 1 FROM run_dependencies JOIN runs AS needed ON needed.id = run_dependencies.depends_on
    WHERE run_dependencies.run_id = {run}.id AND needed.status <> 'done'
"""

_SAME_CLUSTER = """
    other.cluster = candidate.cluster AND other.id <> candidate.id
    AND NOT ({candidate_shares} AND ({other_shares} OR candidate.fence > 0))
"""
_HOLDS_IT = """
    other.status IN ('running', 'waiting', 'paused') AND other.fence > 0
    AND (other.status = 'running' OR NOT {other_shares})
"""
_CAME_EARLIER = f"""
    other.status = 'queued' AND other.ordinal < candidate.ordinal AND NOT EXISTS ({_UNMET.format(run="other")})
"""


class Leases(Store):
    def claim_run(
        self, *, worker: WorkerId, lease_until: datetime, sharing: Collection[str] = (), only: RunId | None = None
    ) -> Run | None:
        """The next run that may go on, now running under this worker; `None` when there is none.

        `sharing` names the workflows whose runs may work on one cluster beside each other. `only` claims that
        run or none. Looking costs no write, so it may be done often.
        """
        with self._database.reading() as session:
            if _next_candidate(session, self._now(), sharing, only) is None:
                return None
        with self._database.writing() as session:
            now = self._now()
            candidate = _next_candidate(session, now, sharing, only)
            return None if candidate is None else _claim(session, candidate, worker, lease_until, now)

    def renew_lease(self, run: Run, *, until: datetime) -> None:
        """Raises `LeaseLost` once another worker has claimed the run, or it has ended."""
        with self._database.writing() as session:
            held_run(session, run)
            session.execute(
                "UPDATE runs SET lease_expires_at = :until WHERE id = :id", {"id": run.id, "until": time_text(until)}
            )

    def release_run(self, run: Run, *, reason: Message | None = None) -> None:
        """Gives a run back between two steps: it goes on at once with whoever claims it. Raises `LeaseLost`."""
        with self._database.writing() as session:
            held, now = held_run(session, run), self._now()
            why = reason or message("runs.worker_stopped")
            switch_run_status(session, held, RunStatus.WAITING, actor=SYSTEM, reason=why, at=now, wake_at=now)

    def list_held_runs(self) -> list[Run]:
        """Every run that a worker holds, or held when it died."""
        sql = "SELECT * FROM runs WHERE status = 'running' ORDER BY ordinal"
        with self._database.reading() as session:
            return [run_from_row(row, dependencies_of(session, row.text("id"))) for row in session.rows(sql)]

    def end_lease(self, run: Run) -> None:
        """For the lease of a worker that is known to be dead: the run can be claimed at once.

        Raises `LeaseLost` when the run has moved on since it was read.
        """
        with self._database.writing() as session:
            held_run(session, run)
            session.execute(
                "UPDATE runs SET lease_expires_at = :now WHERE id = :id",
                {"id": run.id, "now": time_text(self._now())},
            )

    def next_wake_at(self) -> datetime | None:
        """When the next waiting run or expired lease is due, as known now; `None` when nothing has a time."""
        sql = """
            SELECT MIN(at) AS soonest FROM (
                SELECT MIN(wake_at) AS at FROM runs WHERE status = 'waiting'
                UNION ALL SELECT MIN(lease_expires_at) FROM runs WHERE status = 'running'
                UNION ALL SELECT MIN(expires_at) FROM questions WHERE status = 'open'
            ) AS times
            """
        with self._database.reading() as session:
            row = session.row(sql)
            return None if row is None else row.time_or_none("soonest")

    def explain_queue(self, *, sharing: Collection[str] = ()) -> None:
        """Writes down why each queued run that has no reason yet cannot begin."""
        with self._database.reading() as session:
            if not _unexplained(session, sharing):
                return
        with self._database.writing() as session:
            now = self._now()
            for run_id, reason in _unexplained(session, sharing):
                set_reason(session, run_id, reason, now)


def _next_candidate(session: Session, now: datetime, sharing: Collection[str], only: RunId | None) -> Run | None:
    conflict = _conflict(sharing)
    params = {**conflict.params, "now": time_text(now)}
    narrowed = ""
    if only is not None:
        narrowed, params["only"] = "AND candidate.id = :only", only
    sql = f"""
        SELECT candidate.* FROM runs AS candidate
        WHERE {_DUE} {narrowed}
            AND NOT EXISTS ({_UNMET.format(run="candidate")})
            AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE {conflict.holds_it})
            AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE {conflict.came_earlier})
        ORDER BY COALESCE(candidate.wake_at, candidate.lease_expires_at, candidate.created_at), candidate.ordinal
        LIMIT 1
        """
    row = session.row(sql + session.for_update, params)
    return None if row is None else run_from_row(row, dependencies_of(session, row.text("id")))


def _claim(session: Session, run: Run, worker: WorkerId, lease_until: datetime, now: datetime) -> Run:
    is_lost = run.status is RunStatus.RUNNING
    if is_lost:
        record_event(
            session,
            subject=run.id,
            what="run.taken_over",
            before=run.lease_owner,
            after=worker,
            actor=SYSTEM,
            reason=message("runs.worker_lost"),
            at=now,
        )
    else:
        # A waiting run keeps saying what it waits for while it looks again; a queued one waits no longer.
        reason = run.reason if run.status is RunStatus.WAITING else None
        switch_run_status(session, run, RunStatus.RUNNING, actor=SYSTEM, reason=reason, at=now)
    session.execute(
        """
        UPDATE runs SET fence = fence + 1, attempt = attempt + 1, lease_owner = :owner, lease_expires_at = :until,
            updated_at = :now
        WHERE id = :id
        """,
        {"id": run.id, "owner": worker, "until": time_text(lease_until), "now": time_text(now)},
    )
    session.execute(
        """
        UPDATE steps SET status = 'started', attempts = attempts + 1, retries = retries + :lost
        WHERE run_id = :id AND name = :step
        """,
        {"id": run.id, "step": run.step, "lost": int(is_lost)},
    )
    return load_run(session, run.id)


@dataclass(frozen=True, slots=True)
class _Conflict:
    """When `other` keeps `candidate` from their cluster, as conditions in SQL, and their parameters."""

    holds_it: str
    came_earlier: str
    params: dict[str, Cell]


def _conflict(sharing: Collection[str]) -> _Conflict:
    params: dict[str, Cell] = {f"sharing_{number}": name for number, name in enumerate(sorted(sharing))}
    names = ", ".join(f":{param}" for param in params)
    shares = {
        "candidate_shares": f"candidate.workflow IN ({names})" if names else "1 = 0",
        "other_shares": f"other.workflow IN ({names})" if names else "1 = 0",
    }
    same_cluster = _SAME_CLUSTER.format(**shares)
    return _Conflict(f"{same_cluster} AND {_HOLDS_IT.format(**shares)}", f"{same_cluster} AND {_CAME_EARLIER}", params)


def _unexplained(session: Session, sharing: Collection[str]) -> Sequence[tuple[RunId, Message]]:
    """Each queued run without a reason that something keeps from beginning, and that reason."""
    conflict = _conflict(sharing)
    sql = f"""
        SELECT candidate.id AS id, needed.id AS needed, needed.workflow AS needed_workflow,
            holder.id AS holder, holder.workflow AS holder_workflow
        FROM runs AS candidate
        LEFT JOIN runs AS needed ON needed.id = (
            SELECT run_dependencies.depends_on FROM run_dependencies
            JOIN runs AS other ON other.id = run_dependencies.depends_on
            WHERE run_dependencies.run_id = candidate.id AND other.status <> 'done'
            ORDER BY other.ordinal LIMIT 1
        )
        LEFT JOIN runs AS holder ON holder.id = COALESCE(
            (SELECT other.id FROM runs AS other WHERE {conflict.holds_it} LIMIT 1),
            (SELECT other.id FROM runs AS other WHERE {conflict.came_earlier} LIMIT 1)
        )
        WHERE candidate.status = 'queued' AND candidate.reason IS NULL
            AND (needed.id IS NOT NULL OR holder.id IS NOT NULL)
        ORDER BY candidate.ordinal
        """
    return [(RunId(row.text("id")), _why_queued(row)) for row in session.rows(sql, conflict.params)]


def _why_queued(row: Row) -> Message:
    needed, holder = row.text_or_none("needed"), row.text_or_none("holder")
    if needed is not None:
        return message("runs.waits_for_dependency", workflow=row.text("needed_workflow"), run=needed)
    return message("runs.waits_for_run", workflow=row.text("holder_workflow"), run=holder or "")
