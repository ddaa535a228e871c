"""Why a remediation is not carried out: a reason for programs, a sentence for people, and when to ask again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.messages.message import Message, MessageParam, message


class RefusalCause(StrEnum):
    TARGET_UNKNOWN = "target_unknown"
    TARGET_IS_ANOTHER_INSTANCE = "target_is_another_instance"
    NODE_UNMANAGED = "node_unmanaged"
    CONTROLLER_NODE = "controller_node"
    PAUSED = "paused"
    ALREADY_IN_REPAIR = "already_in_repair"
    NOT_CONFIRMED = "not_confirmed"
    CORDONED_BY_OTHER = "cordoned_by_other"
    FLEET_WIDE_CODE = "fleet_wide_code"
    BREAKER_TRIPPED = "breaker_tripped"
    BREAKER_WOULD_TRIP = "breaker_would_trip"
    STORM = "storm"
    STORM_EXIT_DELAY = "storm_exit_delay"
    NODE_BUDGET_SPENT = "node_budget_spent"
    FLAPPING = "flapping"
    REPLACED_ALREADY = "replaced_already"
    JOB_RUNNING = "job_running"

    @property
    def needs_person(self) -> bool:
        """Whether waiting does not help."""
        return self in {
            RefusalCause.TARGET_UNKNOWN,
            RefusalCause.TARGET_IS_ANOTHER_INSTANCE,
            RefusalCause.NODE_UNMANAGED,
            RefusalCause.CONTROLLER_NODE,
            RefusalCause.CORDONED_BY_OTHER,
            RefusalCause.FLEET_WIDE_CODE,
            RefusalCause.BREAKER_TRIPPED,
            RefusalCause.NODE_BUDGET_SPENT,
            RefusalCause.FLAPPING,
            RefusalCause.REPLACED_ALREADY,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RemediationRefusal:
    cause: RefusalCause
    message: Message
    ask_again_at: datetime | None = None
    """When the same proposal may pass; None where no time is known."""


def refusal(cause: RefusalCause, ask_again_at: datetime | None = None, /, **params: MessageParam) -> RemediationRefusal:
    return RemediationRefusal(
        cause=cause, message=message(f"health.refused_{cause}", **params), ask_again_at=ask_again_at
    )
