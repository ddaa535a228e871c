"""Errors of the workflow layer.

OpsError
+- WorkflowError
   +- UnknownWorkflow    this process does not have the workflow, the version or the step

`GateRefused` is control flow: the engine ends the step with it.
"""

from __future__ import annotations

from core.messages.message import Message
from core.reasons import OpsError


class WorkflowError(OpsError):
    pass


class UnknownWorkflow(WorkflowError):
    def __init__(self, why: Message, *, workflow: str, version: int) -> None:
        super().__init__(why)
        self.workflow, self.version = workflow, version
