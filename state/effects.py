"""The rows of the effect ledger. The rules of when to call are `tools.idempotency`'s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.governance.principals import SYSTEM
from core.ids import EffectKey, RunId, StepName
from core.json_value import JsonObject, canonical_json
from core.messages.message import Message, message
from state.audit import record_event
from state.database import Session
from state.errors import IllegalTransition, RowNotFound, StepChangedItsMind
from state.records import Effect, EffectStatus
from state.rows import Row, time_text
from state.store import Store

_FOLLOWS: Mapping[EffectStatus, frozenset[EffectStatus]] = {
    EffectStatus.INTENDED: frozenset(
        {EffectStatus.APPLIED, EffectStatus.FAILED, EffectStatus.UNKNOWN, EffectStatus.INTENDED}
    ),
    EffectStatus.UNKNOWN: frozenset({EffectStatus.APPLIED, EffectStatus.FAILED, EffectStatus.INTENDED}),
    EffectStatus.FAILED: frozenset({EffectStatus.INTENDED}),
    EffectStatus.APPLIED: frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How an effect turned out. Written at once, or together with what the step commits next."""

    key: EffectKey
    status: EffectStatus
    result: JsonObject | None = None
    reason: Message | None = None
    at: datetime


class Effects(Store):
    def find_effect(self, key: EffectKey) -> Effect | None:
        with self._database.reading() as session:
            row = session.row("SELECT * FROM effects WHERE key = :key", {"key": key})
            return None if row is None else _effect(row)

    def list_effects(self, run_id: RunId) -> list[Effect]:
        """In the order in which they were intended."""
        with self._database.reading() as session:
            return effects_of(session, run_id)


def effects_of(session: Session, run_id: RunId) -> list[Effect]:
    sql = "SELECT * FROM effects WHERE run_id = :run_id ORDER BY intended_at, key"
    return [_effect(row) for row in session.rows(sql, {"run_id": run_id})]


def load_effect(session: Session, key: EffectKey) -> Effect:
    """Raises `RowNotFound`."""
    row = session.row("SELECT * FROM effects WHERE key = :key" + session.for_update, {"key": key})
    if row is None:
        raise RowNotFound("effect", key)
    return _effect(row)


def intend(session: Session, effect: Effect) -> None:
    """Records the intent; anew before each further call, so that no call is made under a fence that was lost.

    Raises `StepChangedItsMind` when the step had something else in mind with this tool and it is still open
    whether that happened: a step that changes its mind would do both.
    """
    sql = "SELECT * FROM effects WHERE run_id = :run_id AND step = :step AND tool = :tool"
    given = {"run_id": effect.run_id, "step": effect.step, "tool": effect.tool}
    known = [_effect(row) for row in session.rows(sql, given)]
    for other in known:
        if other.key != effect.key and other.status in {EffectStatus.INTENDED, EffectStatus.UNKNOWN}:
            raise StepChangedItsMind(other.key)
    before = next((other for other in known if other.key == effect.key), None)
    if before is None:
        _insert(session, effect)
        _audit(session, effect, before=None, after=EffectStatus.INTENDED, reason=_identity(effect), at=effect.called_at)
    else:
        _intend_again(session, before, effect)


def settle(session: Session, run_id: RunId, settlements: Sequence[Settlement]) -> None:
    """Raises `RowNotFound` for an effect that this run never intended, `IllegalTransition` for a settled one."""
    for settlement in settlements:
        effect = load_effect(session, settlement.key)
        if effect.run_id != run_id:
            raise RowNotFound("effect", settlement.key)
        switch_effect_status(session, effect, settlement)


def switch_effect_status(session: Session, effect: Effect, settlement: Settlement) -> None:
    """The only writer of an effect's outcome. The event belongs to the run's chain."""
    if settlement.status not in _FOLLOWS[effect.status]:
        raise IllegalTransition("effect", effect.key, effect.status.value, settlement.status.value)
    session.execute(
        """
        UPDATE effects SET status = :status, settled_at = :at, result = :result, rounds = :rounds WHERE key = :key
        """,
        {
            "key": effect.key,
            "status": settlement.status.value,
            "at": time_text(settlement.at),
            "result": None if settlement.result is None else canonical_json(settlement.result),
            "rounds": effect.rounds + (settlement.status is EffectStatus.UNKNOWN),
        },
    )
    _audit(
        session,
        effect,
        before=effect.status,
        after=settlement.status,
        reason=settlement.reason or _identity(effect),
        at=settlement.at,
    )


def _intend_again(session: Session, before: Effect, effect: Effect) -> None:
    if EffectStatus.INTENDED not in _FOLLOWS[before.status]:
        raise IllegalTransition("effect", effect.key, before.status.value, EffectStatus.INTENDED.value)
    session.execute(
        """
        UPDATE effects SET status = :status, fence = :fence, intended_at = :intended_at, called_at = :called_at,
            before = :before, settled_at = NULL
        WHERE key = :key
        """,
        {
            "key": effect.key,
            "status": EffectStatus.INTENDED.value,
            "fence": effect.fence,
            "intended_at": time_text(effect.intended_at),
            "called_at": time_text(effect.called_at),
            "before": canonical_json(effect.before),
        },
    )
    _audit(
        session,
        effect,
        before=before.status,
        after=EffectStatus.INTENDED,
        reason=_identity(effect),
        at=effect.called_at,
    )


def _identity(effect: Effect) -> Message:
    return message("runs.effect_was", tool=effect.tool, step=effect.step, key=effect.key[:12])


def _audit(
    session: Session,
    effect: Effect,
    *,
    before: EffectStatus | None,
    after: EffectStatus,
    reason: Message | None,
    at: datetime,
) -> None:
    record_event(
        session,
        subject=effect.run_id,
        what=f"effect.{effect.tool}",
        before=None if before is None else before.value,
        after=after.value,
        actor=SYSTEM,
        reason=reason,
        at=at,
    )


def _insert(session: Session, effect: Effect) -> None:
    session.execute(
        """
        INSERT INTO effects (key, run_id, step, tool, args, token, status, fence, intended_at, called_at, before,
            rounds)
        VALUES (:key, :run_id, :step, :tool, :args, :token, :status, :fence, :intended_at, :called_at, :before, 0)
        """,
        {
            "key": effect.key,
            "run_id": effect.run_id,
            "step": effect.step,
            "tool": effect.tool,
            "args": canonical_json(effect.args),
            "token": effect.token,
            "status": EffectStatus.INTENDED.value,
            "fence": effect.fence,
            "intended_at": time_text(effect.intended_at),
            "called_at": time_text(effect.called_at),
            "before": canonical_json(effect.before),
        },
    )


def _effect(row: Row) -> Effect:
    result = row.json_or_none("result")
    return Effect(
        key=EffectKey(row.text("key")),
        run_id=RunId(row.text("run_id")),
        step=StepName(row.text("step")),
        tool=row.text("tool"),
        args=row.object("args"),
        token=row.text("token"),
        status=EffectStatus(row.text("status")),
        fence=row.number("fence"),
        intended_at=row.time("intended_at"),
        called_at=row.time("called_at"),
        before=row.object("before"),
        settled_at=row.time_or_none("settled_at"),
        result=None if result is None else row.object("result"),
        rounds=row.number("rounds"),
    )
