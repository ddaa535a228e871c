"""Makes workers in no time: `python -m evals.scenario_forge`, a process that has imported everything a worker needs.

Each line on stdin is a JSON object `{"environment": {...}, "clock": PATH, "log": PATH}`; a copy of this process
becomes a worker of that environment and its process id is printed. A worker made so is as real as any: it has its
own process, database connection and clients, and can be killed. The forge ends, with all its workers, with stdin.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from evals.scenario_time import SharedClock
from interfaces.bootstrap.log_lines import log_as_json
from interfaces.bootstrap.worker import work
from interfaces.bootstrap.world import connect
from interfaces.settings import adopt_environment, read_settings

LONGEST_REST_SECONDS = 0.04
"""On this machine: the runner turns the clock on while a worker rests, and the worker must see it."""


def main() -> None:
    # The system takes note of ended workers by itself: a process id that is gone is gone at once.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    made: list[int] = []
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become_worker(order["environment"], Path(order["clock"]), Path(order["log"]))
        made.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()


def _become_worker(environment: Mapping[str, str], clock: Path, log: Path) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for target, source in ((0, nothing), (1, file), (2, file)):
            os.dup2(source, target)
        adopt_environment(environment)
        log_as_json()
        settings = read_settings()
        work(settings, connect(settings), clock=SharedClock(clock), longest_rest_seconds=LONGEST_REST_SECONDS)
        status = 0
    finally:
        os._exit(status)  # never back into the forge's loop


if __name__ == "__main__":
    main()
