"""What a tool is: a typed read, or a typed change that can be told to have happened.

Tools are values, not classes: frozen dataclasses of functions, one module per noun, with no state and no
clients of their own. Reads raise `tools.errors.ToolError`; so do changes, and `tools.idempotency` is the only
caller of `EffectTool.act`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from core.json_value import JsonObject
from core.messages.message import Message
from core.risk import Risk
from tools.clients.base import Clients

ArgsT = TypeVar("ArgsT", bound=BaseModel)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTool(Generic[ArgsT, ResultT]):
    """Asks, changes nothing, may be called any number of times."""

    name: str
    read: Callable[[Clients, ArgsT], ResultT]


@dataclass(frozen=True, slots=True)
class Found:
    """The effect is there: it happened (now, or in an attempt whose answer was lost)."""

    result: JsonObject


@dataclass(frozen=True, slots=True)
class Absent:
    """The effect is not there, as far as the platform shows at this moment."""


@dataclass(frozen=True, slots=True)
class CannotTell:
    """What is there may be ours or somebody else's: a human decides."""

    why: Message


Observation: TypeAlias = Found | Absent | CannotTell


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What was recorded before the first call."""

    token: str
    intended_at: datetime
    before: JsonObject


def nothing_before(clients: Clients, args: BaseModel) -> JsonObject:
    """For effects that a name, tag or token identifies: no earlier state is needed to recognise them."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectTool(Generic[ArgsT]):
    """One change to the outside, idempotent by construction: see `tools.idempotency`.

    `act(clients, args, token)` makes exactly one mutating call and returns what is worth keeping (ids, ARNs).
    `observe(clients, args, intent)` looks whether the effect of this very intent is there.
    """

    name: str
    call: str
    """`service:Operation`, as the platform's log names it."""
    risk: Risk
    act: Callable[[Clients, ArgsT, str], JsonObject]
    observe: Callable[[Clients, ArgsT, Intent], Observation]
    before: Callable[[Clients, ArgsT], JsonObject] = nothing_before
    honours_token: bool = False
    """True: the provider itself answers a repeated call with the same token as the first."""
    may_repeat: bool = True
    """False: spends money without a token, so an unknown outcome always goes to a human."""
    token_seconds: float | None = None
    """How long the provider remembers a token. While it does, a call whose answer was lost is made again with the
    same token, without a look: the provider knows better than a look tells. Afterwards a look decides."""
    settle_seconds: float = 0.0
    """How long the platform's reads may lag behind its writes: `Absent` is believed only after it."""
