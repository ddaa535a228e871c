"""Clients that carry a change out and then lose the answer, or die before anybody could note it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from core.messages.message import message
from core.reasons import FailureClass
from evals.crash_clients import watched
from tools.clients.base import Clients
from tools.errors import OutcomeUnknown


class Killed(BaseException):
    """What SIGKILL is to a process: nothing after it runs, and nothing is written."""


@dataclass(slots=True)
class Losses:
    """`is_lost(call, n)`: whether the answer of the n-th change (from 0) is lost. `lost` names those that were."""

    is_lost: Callable[[str, int], bool]
    kills: bool = False
    """True: the caller dies instead of hearing that the answer was lost."""
    lost: list[str] = field(default_factory=list)
    seen: int = 0

    def after(self, call: str) -> None:
        number, self.seen = self.seen, self.seen + 1
        if self.is_lost(call, number):
            self.lost.append(call)
            if self.kills:
                raise Killed(call)
            raise OutcomeUnknown(
                message("tools.outcome_unknown", call=call, code="lost", raw="the answer was lost"),
                call=call,
                failure_class=FailureClass.UNKNOWN,
            )


def losing(clients: Clients, losses: Losses) -> Clients:
    """The clients of the kill harness, watched for what has just been changed."""

    def watch(moment: str, call: str) -> None:
        if moment == "after":
            losses.after(call)

    return watched(clients, watch)
