"""Reason enums and the root of all errors.

    OpsError            has a code, and says who must act
    +- InputRefused     the caller's request cannot be carried out as it stands

Each package derives its own tree from `OpsError` and prints it in its own docstring.
"""

from __future__ import annotations

from enum import StrEnum

from core.messages.message import Message


class FailureClass(StrEnum):
    """Why something outside failed; what may be done next depends on it."""

    TRANSIENT = "transient"
    CAPACITY = "capacity"
    CONFIG = "config"
    QUOTA = "quota"
    PERMISSION = "permission"
    UNKNOWN = "unknown"


class WhoActs(StrEnum):
    """Who can do something about an error."""

    CALLER = "caller"
    MODEL = "model"
    OPERATOR = "operator"
    PLATFORM = "platform"


class RefusalReason(StrEnum):
    """Why a request is refused before anything is changed."""

    NAME_TAKEN = "name_taken"
    NAME_INVALID = "name_invalid"
    NAME_UNKNOWN = "name_unknown"
    INSTANCE_TYPE_UNKNOWN = "instance_type_unknown"
    INSTANCE_TYPE_NOT_OFFERED = "instance_type_not_offered"
    ZONE_UNKNOWN = "zone_unknown"
    ZONE_IN_OTHER_REGION = "zone_in_other_region"
    COUNT_OUT_OF_RANGE = "count_out_of_range"
    QUOTA_EXCEEDED = "quota_exceeded"
    CAPACITY_SHORT = "capacity_short"
    BOUNDARY_EXCEEDED = "boundary_exceeded"
    ROLE_MISSING = "role_missing"
    READ_ONLY = "read_only"
    TARGET_BUSY = "target_busy"
    TARGET_IN_WRONG_STATE = "target_in_wrong_state"
    PARAMETER_INVALID = "parameter_invalid"
    NOT_SUPPORTED = "not_supported"
    PLATFORM_UNREACHABLE = "platform_unreachable"
    PREFLIGHT_FAILED = "preflight_failed"
    ANSWER_NOT_AN_OPTION = "answer_not_an_option"
    ANSWER_STALE = "answer_stale"
    ANSWER_LATE = "answer_late"
    ANSWERER_NOT_HUMAN = "answerer_not_human"
    INPUT_TOO_LARGE = "input_too_large"
    APPROVAL_MISSING = "approval_missing"
    APPROVAL_MISMATCH = "approval_mismatch"
    CHOICE_WITHOUT_ORIGIN = "choice_without_origin"


class OpsError(Exception):
    """Root of every error that Muster raises on purpose.

    `message` is a catalogue message, so that a person reads it in their language; `str()` is English.
    """

    who_acts: WhoActs = WhoActs.OPERATOR

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message.english()


class InputRefused(OpsError):
    """The request cannot be carried out as it stands; nothing was changed."""

    who_acts = WhoActs.CALLER

    def __init__(self, reason: RefusalReason, message: Message) -> None:
        super().__init__(message)
        self.reason = reason
