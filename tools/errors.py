"""Errors of the tools, by who must act.

OpsError
+- EndpointRefused              the configured endpoint is not the one that this profile may use
+- ToolError                    carries a `FailureClass` and the raw text of the cause
   +- RetryableToolError        it certainly did not happen; trying again later may work (throttled, refused connection)
   +- RejectedByPlatform        it certainly did not happen, and never will as it is (validation, quota, permission)
   +- TargetNotFound            the named thing does not exist
   +- Conflict                  the thing is in a state in which this cannot be done now
   +- OutcomeUnknown            it may have happened (lost response, 5xx after the request was sent): reconcile first
"""

from __future__ import annotations

from core.messages.message import Message
from core.reasons import FailureClass, OpsError, WhoActs


class EndpointRefused(OpsError):
    """Nothing was sent: production pointed at a twin, or a twin that points at the real cloud."""


class ToolError(OpsError):
    """`call` is `service:Operation`; `code` the platform's own error code; `raw` its text, untrusted."""

    def __init__(
        self,
        message: Message,
        *,
        call: str,
        failure_class: FailureClass,
        code: str = "",
        raw: str = "",
    ) -> None:
        super().__init__(message)
        self.call, self.failure_class, self.code, self.raw = call, failure_class, code, raw


class RetryableToolError(ToolError):
    who_acts = WhoActs.PLATFORM


class RejectedByPlatform(ToolError):
    who_acts = WhoActs.CALLER


class TargetNotFound(ToolError):
    who_acts = WhoActs.CALLER


class Conflict(ToolError):
    who_acts = WhoActs.PLATFORM


class OutcomeUnknown(ToolError):
    who_acts = WhoActs.PLATFORM
