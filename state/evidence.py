"""Evidence: raw material that is kept for people before anything is cleaned up."""

from __future__ import annotations

from datetime import datetime

from core.ids import EvidenceId, Ids, RunId
from state.database import Session
from state.errors import RowNotFound
from state.records import Evidence
from state.rows import Row, storable, time_text
from state.store import Store

MAX_EVIDENCE_CHARACTERS = 200_000
"""A longer text keeps its end, where the cause of a failure stands."""


class EvidenceStore(Store):
    def keep_evidence(self, *, run_id: RunId | None, kind: str, text: str) -> EvidenceId:
        """Stored when this returns. `kind` says what the text is: `event`, `log_tail`, `traceback`."""
        with self._database.writing() as session:
            return insert_evidence(session, self._ids, run_id=run_id, kind=kind, text=text, at=self._now())

    def get_evidence(self, evidence_id: EvidenceId) -> Evidence:
        """Raises `RowNotFound`."""
        with self._database.reading() as session:
            row = session.row("SELECT * FROM evidence WHERE id = :id", {"id": evidence_id})
        if row is None:
            raise RowNotFound("evidence", evidence_id)
        return _evidence(row)

    def list_evidence(self, run_id: RunId) -> list[Evidence]:
        """Oldest first."""
        sql = "SELECT * FROM evidence WHERE run_id = :run_id ORDER BY at, id"
        with self._database.reading() as session:
            return [_evidence(row) for row in session.rows(sql, {"run_id": run_id})]


def insert_evidence(
    session: Session, ids: Ids, *, run_id: RunId | None, kind: str, text: str, at: datetime
) -> EvidenceId:
    evidence_id = EvidenceId(ids.new("evidence"))
    session.execute(
        "INSERT INTO evidence (id, run_id, kind, text, at) VALUES (:id, :run_id, :kind, :text, :at)",
        {
            "id": evidence_id,
            "run_id": run_id,
            "kind": kind,
            "text": storable(text)[-MAX_EVIDENCE_CHARACTERS:],
            "at": time_text(at),
        },
    )
    return evidence_id


def _evidence(row: Row) -> Evidence:
    run_id = row.text_or_none("run_id")
    return Evidence(
        id=EvidenceId(row.text("id")),
        run_id=None if run_id is None else RunId(run_id),
        kind=row.text("kind"),
        text=row.text("text"),
        at=row.time("at"),
    )
