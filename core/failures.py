"""A failure as people and code read it: class, sentence, evidence, and what may be done next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.ids import EvidenceId
from core.json_value import JsonValue
from core.messages.message import Message
from core.reasons import FailureClass


class NextAction(StrEnum):
    """What may follow a failure; nothing of it happens by itself."""

    RETRY_STEP = "retry_step"
    WAIT = "wait"
    CHOOSE_AGAIN = "choose_again"
    """Ask the human for another zone, type or capacity."""
    FIX_AND_RETRY = "fix_and_retry"
    """Someone changes a setting or permission outside Muster first."""
    CANCEL = "cancel"
    ESCALATE = "escalate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """`evidence` are ids of kept raw material: the event, the nested cause, the tail of a log."""

    failure_class: FailureClass
    message: Message
    evidence: tuple[EvidenceId, ...] = ()
    next_actions: tuple[NextAction, ...] = ()

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "class": self.failure_class.value,
            "message": self.message.to_json(),
            "evidence": list(self.evidence),
            "next_actions": [action.value for action in self.next_actions],
        }
