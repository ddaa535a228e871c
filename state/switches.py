"""Settings that stop the whole installation: kept in the database so that every worker sees them at once."""

from __future__ import annotations

from enum import StrEnum

from core.governance.principals import Principal
from core.messages.message import Message
from state.audit import record_event
from state.rows import time_text
from state.store import Store


class Mutation(StrEnum):
    """What runs may do to the outside."""

    ALLOWED = "allowed"
    READ_ONLY = "read_only"
    """Runs go on reading; the first change that one wants to make pauses it."""
    STOPPED = "stopped"
    """The stop switch: no run begins and none changes anything."""


MUTATION = "mutation"
"""The switch's name: also the subject of its audit events."""


class Switches(Store):
    def get_mutation(self) -> Mutation:
        with self._database.reading() as session:
            row = session.row("SELECT position FROM switches WHERE name = :name", {"name": MUTATION})
            return Mutation.ALLOWED if row is None else Mutation(row.text("position"))

    def set_mutation(self, position: Mutation, *, actor: Principal, reason: Message | None = None) -> None:
        """Seen by every worker before its next effect. Setting it to what it is changes nothing."""
        with self._database.writing() as session:
            sql = "SELECT position FROM switches WHERE name = :name" + session.for_update
            row = session.row(sql, {"name": MUTATION})
            before = Mutation.ALLOWED if row is None else Mutation(row.text("position"))
            if before is position:
                return
            now = self._now()
            session.execute(
                """
                INSERT INTO switches (name, position, updated_at) VALUES (:name, :position, :at)
                ON CONFLICT (name) DO UPDATE SET position = excluded.position, updated_at = excluded.updated_at
                """,
                {"name": MUTATION, "position": position.value, "at": time_text(now)},
            )
            record_event(
                session,
                subject=MUTATION,
                what="mutation.switched",
                before=before.value,
                after=position.value,
                actor=actor,
                reason=reason,
                at=now,
            )
