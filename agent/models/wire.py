"""What goes to a model and what comes back, without the SDK: the rest of the agent sees only this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import OpsError, WhoActs


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """`arguments` is the raw text as the model wrote it: untrusted, perhaps no JSON at all."""

    id: str
    name: str
    arguments: str

    def to_wire(self) -> JsonObject:
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One complete answer: it ended with a finish reason, so its tool calls are whole.

    `is_cut_short` is true for a finish reason of `length`; such an answer never carries tool calls.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    is_cut_short: bool = False
    tokens: int = 0
    """Input and output together, estimated where the server does not tell."""


class TextSink(Protocol):
    """Where the text goes while it comes in."""

    def piece(self, text: str) -> None: ...

    def restart(self) -> None:
        """The attempt broke off: what was shown of it is void, another attempt begins."""
        ...


class Model(Protocol):
    def reply(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], sink: TextSink, *, seconds: float
    ) -> Reply:
        """Blocks for at most `seconds`, retries included. Raises `ModelError`; then nothing was decided."""
        ...


class ModelError(OpsError):
    """The model gave no usable answer; the conversation goes on when it does.

    OpsError
    +- ModelError
       +- ModelUnreachable   refused, overloaded or broken off, also on the last attempt
       +- ModelTimedOut      no whole answer before the deadline
       +- ModelRejected      the server refuses such requests: key, model name or request
    """

    who_acts = WhoActs.MODEL


class ModelUnreachable(ModelError):
    def __init__(self, why: str) -> None:
        super().__init__(message("agent.model_unreachable", why=why))


class ModelTimedOut(ModelError):
    def __init__(self, seconds: float) -> None:
        super().__init__(message("agent.model_timed_out", seconds=round(seconds)))


class ModelRejected(ModelError):
    who_acts = WhoActs.OPERATOR

    def __init__(self, status: int, why: str) -> None:
        super().__init__(message("agent.model_rejected", status=status, why=why))
        self.status = status
