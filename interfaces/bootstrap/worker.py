"""A worker as a process: `python -m interfaces.bootstrap.worker`. It never imports the agent."""

from __future__ import annotations

import signal
import threading
from random import SystemRandom
from types import FrameType

from core.clock import Clock, SystemClock
from interfaces.bootstrap.home import Home
from interfaces.bootstrap.log_lines import log_as_json
from interfaces.bootstrap.rows import open_rows
from interfaces.bootstrap.seals import seal_audit, sealing
from interfaces.bootstrap.world import World, connect
from interfaces.settings import Settings, read_settings
from tools.access import ToolAccess
from workflows.catalogue import WORKFLOWS
from workflows.engine import Engine
from workflows.gates import ApprovalGate, ChoiceGate, MutationGate, RoleGate
from workflows.recovery import take_over_dead, this_worker
from workflows.registry import Registry
from workflows.worker import Worker, rest_until_news

_SYSTEM_CLOCK = SystemClock()


def main() -> None:
    log_as_json()
    settings = read_settings()
    work(settings, connect(settings))


def work(
    settings: Settings, world: World, *, clock: Clock = _SYSTEM_CLOCK, longest_rest_seconds: float | None = None
) -> None:
    """Until SIGTERM or Ctrl-C, asked between two steps: what is held then is given back to others.

    `longest_rest_seconds` is for a `clock` that somebody may turn on while the worker rests.
    """
    rows, home = open_rows(settings, clock=clock), Home(settings.home)
    stop, news = threading.Event(), threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        news.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    take_over_dead(rows)
    gates = (MutationGate(rows), ApprovalGate(rows), RoleGate(rows), ChoiceGate(rows))
    engine = Engine(rows, Registry(WORKFLOWS), ToolAccess(world.clients), clock, gates=gates, random=SystemRandom())
    rest = sealing(home, rows, rest_until_news(rows, news))
    worker = Worker(
        engine,
        rows,
        clock,
        worker_id=this_worker(),
        lease_seconds=settings.lease_seconds,
        idle=lambda seconds: rest(seconds if longest_rest_seconds is None else min(seconds, longest_rest_seconds)),
    )
    worker.run_until(stop.is_set)
    seal_audit(home, rows)
    rows.close()


if __name__ == "__main__":
    main()
