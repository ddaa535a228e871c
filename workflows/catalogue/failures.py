"""Failures in one call: class, sentence, evidence and what may follow."""

from __future__ import annotations

from core.failures import Failure
from core.ids import EvidenceId
from core.messages.message import Message
from core.reasons import FailureClass
from workflows.definition import Fail
from workflows.failing import NEXT_ACTIONS


def fail(failure_class: FailureClass, text: Message, *evidence: EvidenceId) -> Fail:
    """What may follow depends on the class alone."""
    return Fail(
        failure=Failure(
            failure_class=failure_class, message=text, evidence=evidence, next_actions=NEXT_ACTIONS[failure_class]
        )
    )
