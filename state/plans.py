"""Plans: the rows, proposing, and the one function that changes their status. Approval is `state.answers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.governance.principals import Principal
from core.ids import ClusterName, ConversationId, PlanId
from core.json_value import JsonObject, JsonValue, canonical_json
from core.messages.message import Message, message
from core.questions import QuestionDraft
from state.audit import record_event
from state.conversations import require_conversation
from state.database import Session
from state.errors import IllegalTransition, RowNotFound
from state.questions import Asker, put_question, withdraw_open
from state.records import Plan, PlanNode, PlanStatus, Question
from state.rows import Cell, Row, as_list, as_object, as_text, principal_text, time_text
from state.store import Store

_FOLLOWS: Mapping[PlanStatus, frozenset[PlanStatus]] = {
    PlanStatus.DRAFT: frozenset({PlanStatus.PROPOSED, PlanStatus.WITHDRAWN}),
    PlanStatus.PROPOSED: frozenset({PlanStatus.DRAFT, PlanStatus.APPROVED, PlanStatus.REJECTED, PlanStatus.WITHDRAWN}),
    PlanStatus.APPROVED: frozenset(),
    PlanStatus.REJECTED: frozenset(),
    PlanStatus.WITHDRAWN: frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """One entry of `envelope["runs"]`: the run that approval creates for a node."""

    node_id: str
    workflow: str
    version: int
    params: JsonObject
    cluster: ClusterName | None
    depends_on: tuple[str, ...]


def planned_runs(envelope: JsonObject) -> tuple[PlannedRun, ...]:
    """In an order in which each run follows those that it depends on.

    Raises `ValueError` for another shape, a node named twice, an unknown dependency or a circle.
    """
    entries = [_planned_run(as_object(item)) for item in as_list(envelope.get("runs"))]
    waiting = {entry.node_id: entry for entry in entries}
    if not entries or len(waiting) != len(entries):
        raise ValueError("an envelope needs runs, each with a node of its own")
    ordered: list[PlannedRun] = []
    while waiting:
        ready = [entry for entry in waiting.values() if not waiting.keys() & set(entry.depends_on)]
        placed = {entry.node_id for entry in ordered + ready}
        if not ready or any(set(entry.depends_on) - placed for entry in ready):
            raise ValueError(f"the dependencies of {sorted(waiting)} name an unknown node or form a circle")
        ordered += ready
        waiting = {node: entry for node, entry in waiting.items() if entry not in ready}
    return tuple(ordered)


class Plans(Store):
    def create_plan(
        self, *, conversation_id: ConversationId | None, requested_by: Principal, nodes: Sequence[PlanNode]
    ) -> Plan:
        """A draft. Raises `RowNotFound` for an unknown conversation."""
        now = self._now()
        plan = Plan(
            id=PlanId(self._ids.new("plan")),
            conversation_id=conversation_id,
            requested_by=requested_by,
            status=PlanStatus.DRAFT,
            nodes=tuple(nodes),
            envelope={},
            created_at=now,
            updated_at=now,
        )
        with self._database.writing() as session:
            require_conversation(session, conversation_id)
            _insert(session, plan)
            _audit(session, plan, before=None, after=plan.status, actor=requested_by, reason=None, at=now)
        return plan

    def update_plan(self, plan_id: PlanId, *, nodes: Sequence[PlanNode]) -> Plan:
        """Other nodes for a draft. A proposed plan becomes a draft again: what was shown for approval is void.

        Raises `RowNotFound`, and `IllegalTransition` for a plan that is already decided.
        """
        with self._database.writing() as session:
            plan, now = load_plan(session, plan_id), self._now()
            if plan.status is PlanStatus.PROPOSED:
                reason = message("questions.plan_changed")
                switch_plan_status(session, plan, PlanStatus.DRAFT, actor=plan.requested_by, reason=reason, at=now)
                withdraw_open(session, plan_id, actor=plan.requested_by, reason=reason, at=now)
            elif plan.status is not PlanStatus.DRAFT:
                raise IllegalTransition("plan", plan_id, plan.status.value, PlanStatus.DRAFT.value)
            _replace_nodes(session, plan_id, nodes)
            _set_envelope(session, plan_id, {}, now)
            return load_plan(session, plan_id)

    def propose_plan(
        self, plan_id: PlanId, *, envelope: JsonObject, approval: QuestionDraft, expires_at: datetime
    ) -> Question:
        """Fixes what an approval would allow and asks for it.

        Raises `RowNotFound`; `IllegalTransition` unless the plan is a draft; `ValueError` for an envelope whose
        runs are not those of the plan's nodes.
        """
        with self._database.writing() as session:
            plan, now = load_plan(session, plan_id), self._now()
            if {entry.node_id for entry in planned_runs(envelope)} != {node.id for node in plan.nodes}:
                raise ValueError("the envelope's runs are not those of the plan's nodes")
            switch_plan_status(session, plan, PlanStatus.PROPOSED, actor=plan.requested_by, reason=None, at=now)
            _set_envelope(session, plan_id, envelope, now)
            proposed = load_plan(session, plan_id)
            return put_question(
                session,
                self._ids,
                approval,
                asker=Asker(conversation_id=plan.conversation_id, plan_id=plan_id),
                at=now,
                expires_at=expires_at,
                plan_digest=proposed.digest,
            )

    def withdraw_plan(self, plan_id: PlanId, *, actor: Principal, reason: Message | None = None) -> Plan:
        """Nobody needs it any more. Raises `RowNotFound`, and `IllegalTransition` for a plan already decided."""
        with self._database.writing() as session:
            plan, now = load_plan(session, plan_id), self._now()
            switch_plan_status(session, plan, PlanStatus.WITHDRAWN, actor=actor, reason=reason, at=now)
            withdraw_open(session, plan_id, actor=actor, reason=message("questions.plan_withdrawn"), at=now)
            return load_plan(session, plan_id)

    def get_plan(self, plan_id: PlanId) -> Plan:
        """Raises `RowNotFound`."""
        with self._database.reading() as session:
            return load_plan(session, plan_id)

    def list_plans(
        self, *, status: PlanStatus | None = None, conversation_id: ConversationId | None = None, limit: int = 100
    ) -> list[Plan]:
        """Newest first; every given value narrows the list."""
        given: dict[str, Cell] = {
            "status": None if status is None else status.value,
            "conversation_id": conversation_id,
        }
        params = {column: value for column, value in given.items() if value is not None}
        where = " AND ".join(f"{column} = :{column}" for column in params) or "1 = 1"
        sql = f"SELECT id FROM plans WHERE {where} ORDER BY created_at DESC, id LIMIT :limit"
        with self._database.reading() as session:
            found = session.rows(sql, {**params, "limit": limit})
            return [load_plan(session, PlanId(row.text("id"))) for row in found]


def load_plan(session: Session, plan_id: PlanId) -> Plan:
    """Inside a writing session the row is held until it ends. Raises `RowNotFound`."""
    row = session.row("SELECT * FROM plans WHERE id = :id" + session.for_update, {"id": plan_id})
    if row is None:
        raise RowNotFound("plan", plan_id)
    nodes = session.rows("SELECT * FROM plan_nodes WHERE plan_id = :id ORDER BY position", {"id": plan_id})
    conversation_id = row.text_or_none("conversation_id")
    return Plan(
        id=PlanId(row.text("id")),
        conversation_id=None if conversation_id is None else ConversationId(conversation_id),
        requested_by=row.principal("requested_by"),
        status=PlanStatus(row.text("status")),
        nodes=tuple(_node(node) for node in nodes),
        envelope=row.object("envelope"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
    )


def switch_plan_status(
    session: Session,
    plan: Plan,
    after: PlanStatus,
    *,
    actor: Principal,
    reason: Message | None,
    at: datetime,
) -> None:
    """The only writer of a plan's status. Raises `IllegalTransition`, also when another was faster."""
    changed = session.execute(
        "UPDATE plans SET status = :after, updated_at = :at WHERE id = :id AND status = :before",
        {"id": plan.id, "before": plan.status.value, "after": after.value, "at": time_text(at)},
    )
    if changed != 1 or after not in _FOLLOWS[plan.status]:
        raise IllegalTransition("plan", plan.id, plan.status.value, after.value)
    _audit(session, plan, before=plan.status, after=after, actor=actor, reason=reason, at=at)


def _audit(
    session: Session,
    plan: Plan,
    *,
    before: PlanStatus | None,
    after: PlanStatus,
    actor: Principal,
    reason: Message | None,
    at: datetime,
) -> None:
    record_event(
        session,
        subject=plan.id,
        what="plan.status",
        before=None if before is None else before.value,
        after=after.value,
        actor=actor,
        reason=reason,
        at=at,
    )


def _planned_run(entry: JsonObject) -> PlannedRun:
    version, cluster = entry.get("version"), entry.get("cluster")
    if not isinstance(version, int):
        raise ValueError(f"the version of a planned run is a whole number, not {version!r}")
    return PlannedRun(
        node_id=as_text(entry.get("node_id")),
        workflow=as_text(entry.get("workflow")),
        version=version,
        params=as_object(entry.get("params")),
        cluster=None if cluster is None else ClusterName(as_text(cluster)),
        depends_on=tuple(as_text(item) for item in as_list(entry.get("depends_on", []))),
    )


def _insert(session: Session, plan: Plan) -> None:
    session.execute(
        """
        INSERT INTO plans (id, conversation_id, requested_by, status, envelope, created_at, updated_at)
        VALUES (:id, :conversation_id, :requested_by, :status, :envelope, :at, :at)
        """,
        {
            "id": plan.id,
            "conversation_id": plan.conversation_id,
            "requested_by": principal_text(plan.requested_by),
            "status": plan.status.value,
            "envelope": canonical_json(plan.envelope),
            "at": time_text(plan.created_at),
        },
    )
    _insert_nodes(session, plan.id, plan.nodes)


def _replace_nodes(session: Session, plan_id: PlanId, nodes: Sequence[PlanNode]) -> None:
    session.execute("DELETE FROM plan_nodes WHERE plan_id = :plan_id", {"plan_id": plan_id})
    _insert_nodes(session, plan_id, nodes)


def _insert_nodes(session: Session, plan_id: PlanId, nodes: Sequence[PlanNode]) -> None:
    for position, node in enumerate(nodes):
        session.execute(
            """
            INSERT INTO plan_nodes (plan_id, node_id, position, operation, params, choices, depends_on)
            VALUES (:plan_id, :node_id, :position, :operation, :params, :choices, :depends_on)
            """,
            {
                "plan_id": plan_id,
                "node_id": node.id,
                "position": position,
                "operation": node.operation,
                "params": canonical_json(node.params),
                "choices": canonical_json(node.choices),
                "depends_on": canonical_json(node.depends_on),
            },
        )


def _set_envelope(session: Session, plan_id: PlanId, envelope: JsonObject, at: datetime) -> None:
    session.execute(
        "UPDATE plans SET envelope = :envelope, updated_at = :at WHERE id = :id",
        {"id": plan_id, "envelope": canonical_json(envelope), "at": time_text(at)},
    )


def _node(row: Row) -> PlanNode:
    depends_on: JsonValue = row.json("depends_on")
    return PlanNode(
        id=row.text("node_id"),
        operation=row.text("operation"),
        params=row.object("params"),
        choices=row.object("choices"),
        depends_on=tuple(as_text(item) for item in as_list(depends_on)),
    )
