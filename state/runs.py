"""Runs: the rows, and the one function that changes their status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.failures import Failure
from core.governance.principals import Principal
from core.ids import ClusterName, ConversationId, Ids, PlanId, QuestionId, RunId, StepName, WorkerId
from core.json_value import JsonObject, canonical_json
from core.messages.message import Message, message
from state.audit import record_event
from state.conversations import require_conversation
from state.database import Session
from state.errors import ApprovalUsed, IllegalTransition, RowNotFound
from state.feed import add_entry
from state.records import FeedKind, Run, RunStatus
from state.rows import Cell, Row, failure_from_json, message_text, principal_text, time_text, time_text_or_none
from state.store import Store

_FOLLOWS: Mapping[RunStatus, frozenset[RunStatus]] = {
    RunStatus.QUEUED: frozenset(
        {RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.CANCELLED, RunStatus.REFUSED, RunStatus.FAILED}
    ),
    RunStatus.RUNNING: frozenset(
        {
            RunStatus.WAITING,
            RunStatus.PAUSED,
            RunStatus.DONE,
            RunStatus.FAILED,
            RunStatus.CANCELLED,
            RunStatus.REFUSED,
        }
    ),
    RunStatus.WAITING: frozenset({RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.FAILED, RunStatus.CANCELLED}),
    RunStatus.PAUSED: frozenset({RunStatus.QUEUED, RunStatus.WAITING, RunStatus.CANCELLED}),
    RunStatus.FAILED: frozenset({RunStatus.QUEUED, RunStatus.CANCELLED}),
    RunStatus.DONE: frozenset(),
    RunStatus.CANCELLED: frozenset(),
    RunStatus.REFUSED: frozenset(),
}


class Runs(Store):
    def create_run(
        self,
        *,
        workflow: str,
        workflow_version: int,
        params: JsonObject,
        requested_by: Principal,
        cluster: ClusterName | None = None,
        plan_id: PlanId | None = None,
        plan_node: str | None = None,
        conversation_id: ConversationId | None = None,
        depends_on: Sequence[RunId] = (),
    ) -> Run:
        """A queued run. Runs of a plan are created by its approval, not here.

        Raises `RowNotFound` for an unknown conversation or dependency; `ApprovalUsed`, see `insert_run`.
        """
        with self._database.writing() as session:
            require_conversation(session, conversation_id)
            for needed in depends_on:
                load_run(session, needed)
            return insert_run(
                session,
                self._ids,
                workflow=workflow,
                workflow_version=workflow_version,
                params=params,
                requested_by=requested_by,
                cluster=cluster,
                plan_id=plan_id,
                plan_node=plan_node,
                conversation_id=conversation_id,
                depends_on=depends_on,
                at=self._now(),
            )

    def get_run(self, run_id: RunId) -> Run:
        """Raises `RowNotFound`."""
        with self._database.reading() as session:
            return load_run(session, run_id)

    def list_runs(
        self,
        *,
        status: RunStatus | None = None,
        cluster: ClusterName | None = None,
        conversation_id: ConversationId | None = None,
        plan_id: PlanId | None = None,
        limit: int = 100,
    ) -> list[Run]:
        """Newest first; every given value narrows the list."""
        given: dict[str, Cell] = {
            "status": None if status is None else status.value,
            "cluster": cluster,
            "conversation_id": conversation_id,
            "plan_id": plan_id,
        }
        params = {column: value for column, value in given.items() if value is not None}
        where = " AND ".join(f"{column} = :{column}" for column in params) or "1 = 1"
        sql = f"SELECT * FROM runs WHERE {where} ORDER BY ordinal DESC LIMIT :limit"
        with self._database.reading() as session:
            rows = session.rows(sql, {**params, "limit": limit})
            return [run_from_row(row, dependencies_of(session, row.text("id"))) for row in rows]


def insert_run(
    session: Session,
    ids: Ids,
    *,
    workflow: str,
    workflow_version: int,
    params: JsonObject,
    requested_by: Principal,
    cluster: ClusterName | None,
    plan_id: PlanId | None,
    plan_node: str | None,
    conversation_id: ConversationId | None,
    depends_on: Sequence[RunId],
    at: datetime,
) -> Run:
    """Raises `ApprovalUsed` when this node of the plan has its run already."""
    _refuse_second(session, plan_id, plan_node)
    run = Run(
        id=RunId(ids.new("run")),
        workflow=workflow,
        workflow_version=workflow_version,
        params=params,
        requested_by=requested_by,
        status=RunStatus.QUEUED,
        created_at=at,
        updated_at=at,
        cluster=cluster,
        plan_id=plan_id,
        plan_node=plan_node,
        conversation_id=conversation_id,
        depends_on=tuple(depends_on),
    )
    _insert(session, run)
    for needed in depends_on:
        session.execute(
            "INSERT INTO run_dependencies (run_id, depends_on) VALUES (:run_id, :depends_on)",
            {"run_id": run.id, "depends_on": needed},
        )
    record_event(
        session,
        subject=run.id,
        what="run.status",
        before=None,
        after=run.status.value,
        actor=requested_by,
        reason=None,
        at=at,
    )
    _tell(session, run, RunStatus.QUEUED, None, at)
    return run


def load_run(session: Session, run_id: RunId, *, known: Run | None = None) -> Run:
    """Inside a writing session the row is held until it ends. Raises `RowNotFound`.

    What never changes is taken from `known`, an older state of the same run.
    """
    row = session.row("SELECT * FROM runs WHERE id = :id" + session.for_update, {"id": run_id})
    if row is None:
        raise RowNotFound("run", run_id)
    return run_from_row(row, dependencies_of(session, run_id) if known is None else known.depends_on)


def dependencies_of(session: Session, run_id: str) -> tuple[RunId, ...]:
    sql = "SELECT depends_on FROM run_dependencies WHERE run_id = :run_id ORDER BY depends_on"
    return tuple(RunId(row.text("depends_on")) for row in session.rows(sql, {"run_id": run_id}))


def dependants_of(session: Session, run_id: RunId) -> list[Run]:
    sql = """
        SELECT runs.* FROM run_dependencies JOIN runs ON runs.id = run_dependencies.run_id
        WHERE run_dependencies.depends_on = :run_id ORDER BY runs.ordinal
        """
    return [
        run_from_row(row, dependencies_of(session, row.text("id"))) for row in session.rows(sql, {"run_id": run_id})
    ]


def switch_run_status(
    session: Session,
    run: Run,
    after: RunStatus,
    *,
    actor: Principal,
    at: datetime,
    reason: Message | None = None,
    failure: Failure | None = None,
    wake_at: datetime | None = None,
    waiting_for: QuestionId | None = None,
) -> None:
    """The only writer of a run's status. A run that no longer runs gives up its lease and any wish to stop it.

    Raises `IllegalTransition`, also when the row has changed since `run` was read.
    """
    if after not in _FOLLOWS[run.status]:
        raise IllegalTransition("run", run.id, run.status.value, after.value)
    changed = session.execute(
        """
        UPDATE runs SET status = :after, updated_at = :at, reason = :reason, failure = :failure, wake_at = :wake_at,
            waiting_for = :waiting_for, lease_owner = NULL, lease_expires_at = NULL, stop_requested = NULL,
            stop_requested_by = NULL
        WHERE id = :id AND status = :before
        """,
        {
            "id": run.id,
            "before": run.status.value,
            "after": after.value,
            "at": time_text(at),
            "reason": message_text(reason),
            "failure": None if failure is None else canonical_json(failure.to_json()),
            "wake_at": time_text_or_none(wake_at),
            "waiting_for": waiting_for,
        },
    )
    if changed != 1:
        raise IllegalTransition("run", run.id, run.status.value, after.value)
    record_event(
        session,
        subject=run.id,
        what="run.status",
        before=run.status.value,
        after=after.value,
        actor=actor,
        reason=reason,
        at=at,
    )
    if _is_news(run, after, reason):
        _tell(session, run, after, reason, at)


def set_reason(session: Session, run_id: RunId, reason: Message | None, at: datetime) -> None:
    """Says why a run is where it is, without moving it."""
    session.execute(
        "UPDATE runs SET reason = :reason, updated_at = :at WHERE id = :id",
        {"id": run_id, "reason": message_text(reason), "at": time_text(at)},
    )


def run_from_row(row: Row, depends_on: tuple[RunId, ...]) -> Run:
    cluster, plan, conversation = (
        row.text_or_none("cluster"),
        row.text_or_none("plan_id"),
        row.text_or_none("conversation_id"),
    )
    step, waiting_for, owner = (
        row.text_or_none("step"),
        row.text_or_none("waiting_for"),
        row.text_or_none("lease_owner"),
    )
    stop, failure = row.text_or_none("stop_requested"), row.json_or_none("failure")
    return Run(
        id=RunId(row.text("id")),
        workflow=row.text("workflow"),
        workflow_version=row.number("workflow_version"),
        params=row.object("params"),
        requested_by=row.principal("requested_by"),
        status=RunStatus(row.text("status")),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        cluster=None if cluster is None else ClusterName(cluster),
        plan_id=None if plan is None else PlanId(plan),
        plan_node=row.text_or_none("plan_node"),
        conversation_id=None if conversation is None else ConversationId(conversation),
        depends_on=depends_on,
        data=row.object("data"),
        step=None if step is None else StepName(step),
        attempt=row.number("attempt"),
        wake_at=row.time_or_none("wake_at"),
        waiting_for=None if waiting_for is None else QuestionId(waiting_for),
        reason=row.message_or_none("reason"),
        failure=None if failure is None else failure_from_json(failure),
        fence=row.number("fence"),
        lease_owner=None if owner is None else WorkerId(owner),
        lease_expires_at=row.time_or_none("lease_expires_at"),
        stop_requested=None if stop is None else RunStatus(stop),
        stop_requested_by=row.principal_or_none("stop_requested_by"),
    )


def _is_news(run: Run, after: RunStatus, reason: Message | None) -> bool:
    """A run that wakes to look again, and waits on for the same reason, is not worth a line each time."""
    if after is RunStatus.RUNNING:
        return run.status is not RunStatus.WAITING
    return after is not RunStatus.WAITING or reason != run.reason


def _tell(session: Session, run: Run, status: RunStatus, reason: Message | None, at: datetime) -> None:
    shown = message(f"runs.status_{status.value}")
    text = (
        message("runs.became", workflow=run.workflow, run=run.id, status=shown)
        if reason is None
        else message("runs.became_because", workflow=run.workflow, run=run.id, status=shown, reason=reason)
    )
    add_entry(
        session,
        kind=FeedKind.STATUS,
        message=text,
        at=at,
        conversation_id=run.conversation_id,
        run_id=run.id,
        data={"status": status.value},
    )


def _refuse_second(session: Session, plan_id: PlanId | None, plan_node: str | None) -> None:
    sql = "SELECT id FROM runs WHERE plan_id = :plan_id AND plan_node = :plan_node"
    if (
        plan_id is not None
        and plan_node is not None
        and (row := session.row(sql, {"plan_id": plan_id, "plan_node": plan_node})) is not None
    ):
        raise ApprovalUsed(plan_id, plan_node, row.text("id"))


def _insert(session: Session, run: Run) -> None:
    session.execute(
        """
        INSERT INTO runs (id, ordinal, workflow, workflow_version, params, requested_by, status, created_at, updated_at,
            cluster, plan_id, plan_node, conversation_id, data, step, attempt, fence)
        VALUES (:id, (SELECT COALESCE(MAX(ordinal), 0) + 1 FROM runs), :workflow, :workflow_version, :params,
            :requested_by, :status, :at, :at, :cluster, :plan_id, :plan_node, :conversation_id, :data, NULL, 0, 0)
        """,
        {
            "id": run.id,
            "workflow": run.workflow,
            "workflow_version": run.workflow_version,
            "params": canonical_json(run.params),
            "requested_by": principal_text(run.requested_by),
            "status": run.status.value,
            "at": time_text(run.created_at),
            "cluster": run.cluster,
            "plan_id": run.plan_id,
            "plan_node": run.plan_node,
            "conversation_id": run.conversation_id,
            "data": canonical_json(run.data),
        },
    )
