"""Failures in one call: class, sentence, evidence and what may follow."""

from __future__ import annotations

from typing import Final

from core.failures import Failure, NextAction
from core.ids import EvidenceId
from core.messages.message import Message
from core.reasons import FailureClass
from workflows.definition import Fail

_NEXT: Final[dict[FailureClass, tuple[NextAction, ...]]] = {
    FailureClass.TRANSIENT: (NextAction.RETRY_STEP, NextAction.WAIT, NextAction.CANCEL),
    FailureClass.CAPACITY: (NextAction.CHOOSE_AGAIN, NextAction.WAIT, NextAction.CANCEL),
    FailureClass.CONFIG: (NextAction.FIX_AND_RETRY, NextAction.CANCEL),
    FailureClass.QUOTA: (NextAction.FIX_AND_RETRY, NextAction.CHOOSE_AGAIN, NextAction.CANCEL),
    FailureClass.PERMISSION: (NextAction.FIX_AND_RETRY, NextAction.CANCEL),
    FailureClass.UNKNOWN: (NextAction.RETRY_STEP, NextAction.ESCALATE, NextAction.CANCEL),
}


def fail(failure_class: FailureClass, text: Message, *evidence: EvidenceId) -> Fail:
    """What may follow depends on the class alone."""
    return Fail(
        failure=Failure(failure_class=failure_class, message=text, evidence=evidence, next_actions=_NEXT[failure_class])
    )
