"""The audit trail: who changed which status, why and when, as one hash chain per subject.

A chain per run, plan or question rather than a global one, which would make every worker wait for every
other. Each event's hash covers the one before it, so an edited or missing row shows. A cut tail or a
chain that was re-hashed whole shows only against a head that was kept elsewhere: `ChainHead`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.governance.principals import Principal
from core.json_value import JsonValue, canonical_json
from core.messages.message import Message
from state.database import Session
from state.records import AuditEvent
from state.rows import Row, message_text, principal_text, time_text
from state.store import Store

GENESIS = "0" * 64
"""What the first event of a chain points back to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """The newest event of a chain: what is sealed and kept outside the database."""

    subject: str
    sequence: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFault:
    """The first place where a chain is not what it was when it was written."""

    subject: str
    sequence: int
    why: str


class AuditTrail(Store):
    def list_audit(self, subject: str) -> list[AuditEvent]:
        """Oldest first."""
        sql = "SELECT * FROM audit WHERE subject = :subject ORDER BY sequence"
        with self._database.reading() as session:
            return [_event(row) for row in session.rows(sql, {"subject": subject})]

    def list_chain_heads(self) -> list[ChainHead]:
        sql = """
            SELECT subject, sequence, hash FROM audit AS newest
            WHERE sequence = (SELECT MAX(sequence) FROM audit WHERE subject = newest.subject) ORDER BY subject
            """
        with self._database.reading() as session:
            return [
                ChainHead(subject=row.text("subject"), sequence=row.number("sequence"), hash=row.text("hash"))
                for row in session.rows(sql)
            ]

    def verify_audit(self, subject: str, *, sealed: ChainHead | None = None) -> ChainFault | None:
        """`None` when the chain is whole; against `sealed` also a cut tail and a full re-hash are found."""
        return verify_chain(subject, self.list_audit(subject), sealed=sealed)


def record_event(
    session: Session,
    *,
    subject: str,
    what: str,
    before: str | None,
    after: str,
    actor: Principal,
    reason: Message | None,
    at: datetime,
) -> AuditEvent:
    """Adds one event to the subject's chain, in the transaction that changes what it tells of."""
    sql = "SELECT sequence, hash FROM audit WHERE subject = :subject ORDER BY sequence DESC LIMIT 1"
    newest = session.row(sql, {"subject": subject})
    event = _chained(
        AuditEvent(
            subject=subject,
            sequence=1 if newest is None else newest.number("sequence") + 1,
            what=what,
            before=before,
            after=after,
            actor=actor,
            reason=reason,
            at=at,
            previous_hash=GENESIS if newest is None else newest.text("hash"),
            hash="",
        )
    )
    _insert(session, event)
    return event


def verify_chain(subject: str, events: Sequence[AuditEvent], *, sealed: ChainHead | None = None) -> ChainFault | None:
    previous = GENESIS
    for position, event in enumerate(events, start=1):
        if event.sequence != position:
            return ChainFault(subject=subject, sequence=position, why="this event is missing")
        if event.previous_hash != previous:
            return ChainFault(subject=subject, sequence=position, why="it does not follow the event before it")
        if event.hash != _hash(event):
            return ChainFault(subject=subject, sequence=position, why="it was changed after it was written")
        previous = event.hash
    if sealed is not None:
        return _against_sealed(events, sealed)
    return None


def _against_sealed(events: Sequence[AuditEvent], sealed: ChainHead) -> ChainFault | None:
    if len(events) < sealed.sequence:
        return ChainFault(subject=sealed.subject, sequence=len(events) + 1, why="the end of the chain was cut off")
    if events[sealed.sequence - 1].hash != sealed.hash:
        return ChainFault(subject=sealed.subject, sequence=sealed.sequence, why="the chain was written anew")
    return None


def _chained(event: AuditEvent) -> AuditEvent:
    return replace(event, hash=_hash(event))


def _hash(event: AuditEvent) -> str:
    content: list[JsonValue] = [
        event.previous_hash,
        event.subject,
        event.sequence,
        event.what,
        event.before,
        event.after,
        event.actor.to_json(),
        None if event.reason is None else event.reason.to_json(),
        time_text(event.at),
    ]
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


def _insert(session: Session, event: AuditEvent) -> None:
    session.execute(
        """
        INSERT INTO audit (subject, sequence, what, before, after, actor, reason, at, previous_hash, hash)
        VALUES (:subject, :sequence, :what, :before, :after, :actor, :reason, :at, :previous_hash, :hash)
        """,
        {
            "subject": event.subject,
            "sequence": event.sequence,
            "what": event.what,
            "before": event.before,
            "after": event.after,
            "actor": principal_text(event.actor),
            "reason": message_text(event.reason),
            "at": time_text(event.at),
            "previous_hash": event.previous_hash,
            "hash": event.hash,
        },
    )


def _event(row: Row) -> AuditEvent:
    return AuditEvent(
        subject=row.text("subject"),
        sequence=row.number("sequence"),
        what=row.text("what"),
        before=row.text_or_none("before"),
        after=row.text("after"),
        actor=row.principal("actor"),
        reason=row.message_or_none("reason"),
        at=row.time("at"),
        previous_hash=row.text("previous_hash"),
        hash=row.text("hash"),
    )
