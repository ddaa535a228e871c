"""The tools with their clients bound: how layers above use them without touching a client."""

from __future__ import annotations

from collections.abc import Callable

from core.clock import Clock
from state.records import Run
from state.repository import Repository
from tools.clients.base import Clients
from tools.contract import ArgsT, ReadTool, ResultT
from tools.idempotency import EffectLedger, PlannedCall


class ToolAccess:
    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    @property
    def region(self) -> str:
        return self._clients.aws.region

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT:
        """Raises `ToolError`."""
        return tool.read(self._clients, args)

    def ledger(
        self,
        repository: Repository,
        clock: Clock,
        *,
        permit: Callable[[Run, PlannedCall], None],
        still_held: Callable[[], None],
    ) -> EffectLedger:
        """For one attempt of a step."""
        return EffectLedger(repository, self._clients, clock, permit=permit, still_held=still_held)
