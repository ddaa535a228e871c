"""Errors of the state layer.

OpsError
+- StateError
   +- RowNotFound            no such run, question, plan or conversation
   +- IllegalTransition      this status does not follow that one
   +- LeaseLost              another worker holds the run now: stop writing
   +- IdempotencyMismatch    the same key came with other arguments
   +- ApprovalUsed          this node of the plan has its run already
   +- DatabaseUnusable       corrupt, locked for good, or written by a newer version
"""

from __future__ import annotations

from core.messages.message import message
from core.reasons import OpsError, WhoActs


class StateError(OpsError):
    pass


class RowNotFound(StateError):
    who_acts = WhoActs.CALLER

    def __init__(self, noun: str, row_id: str) -> None:
        super().__init__(message("state.row_not_found", noun=noun, id=row_id))
        self.noun, self.row_id = noun, row_id


class IllegalTransition(StateError):
    who_acts = WhoActs.CALLER

    def __init__(self, noun: str, row_id: str, before: str, after: str) -> None:
        super().__init__(message("state.illegal_transition", noun=noun, id=row_id, before=before, after=after))
        self.noun, self.row_id, self.before, self.after = noun, row_id, before, after


class LeaseLost(StateError):
    who_acts = WhoActs.PLATFORM

    def __init__(self, run_id: str, fence: int) -> None:
        super().__init__(message("state.lease_lost", run=run_id, fence=fence))
        self.run_id, self.fence = run_id, fence


class IdempotencyMismatch(StateError):
    text = "state.idempotency_mismatch"

    def __init__(self, key: str) -> None:
        super().__init__(message(self.text, key=key))
        self.key = key


class StepChangedItsMind(IdempotencyMismatch):
    """`key` is the effect whose outcome is open."""

    text = "state.step_changed_its_mind"


class ApprovalUsed(StateError):
    def __init__(self, plan_id: str, node_id: str, run_id: str) -> None:
        super().__init__(message("state.approval_used", plan=plan_id, node=node_id, run=run_id))
        self.plan_id, self.node_id, self.run_id = plan_id, node_id, run_id


class DatabaseUnusable(StateError):
    def __init__(self, path: str, why: str) -> None:
        super().__init__(message("state.database_unusable", path=path, why=why))
        self.path, self.why = path, why
