"""A worker as a process: `python -m interfaces.bootstrap.worker`. It never imports the agent."""

from __future__ import annotations

import signal
import threading
from random import SystemRandom
from types import FrameType

from core.clock import SystemClock
from interfaces.bootstrap.log_lines import log_as_json
from interfaces.bootstrap.rows import open_rows
from interfaces.bootstrap.world import World, connect
from interfaces.settings import Settings, read_settings
from tools.access import ToolAccess
from workflows.catalogue import WORKFLOWS
from workflows.engine import Engine
from workflows.gates import ApprovalGate, ChoiceGate, MutationGate
from workflows.recovery import take_over_dead, this_worker
from workflows.registry import Registry
from workflows.worker import Worker, rest_until_news


def main() -> None:
    log_as_json()
    settings = read_settings()
    work(settings, connect(settings))


def work(settings: Settings, world: World) -> None:
    """Until SIGTERM or Ctrl-C, asked between two steps: what is held then is given back to others."""
    clock, rows = SystemClock(), open_rows(settings)
    stop, news = threading.Event(), threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        news.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    take_over_dead(rows)
    gates = (MutationGate(rows), ApprovalGate(rows), ChoiceGate(rows))
    engine = Engine(rows, Registry(WORKFLOWS), ToolAccess(world.clients), clock, gates=gates, random=SystemRandom())
    worker = Worker(
        engine,
        rows,
        clock,
        worker_id=this_worker(),
        lease_seconds=settings.lease_seconds,
        idle=rest_until_news(rows, news),
    )
    worker.run_until(stop.is_set)
    rows.close()


if __name__ == "__main__":
    main()
