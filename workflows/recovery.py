"""What happens to the runs of workers that died: taken over at once when their process is known to be gone.

A worker's id says on which machine it ran, under which process id and since when, so that a process that
got the same number later is not mistaken for it. Of workers elsewhere nothing is known: their leases expire.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

import structlog

from core.ids import WorkerId
from state.errors import LeaseLost
from state.records import Run
from state.repository import Repository

_STARTED_FIELD = 22
"""`starttime` in /proc/<pid>/stat, counted from 1 (proc(5))."""
_DEAD_STATES = {"Z", "X"}

log = structlog.get_logger(__name__)


def this_worker(number: int = 0) -> WorkerId:
    """`machine/pid/started/number`; `number` tells apart the workers of one process."""
    pid = os.getpid()
    return WorkerId(f"{_machine()}/{pid}/{_started_at(pid) or 0}/{number}")


def is_dead(worker: WorkerId) -> bool:
    """True only when this machine can tell that the worker's process has ended."""
    machine, _, process = worker.partition("/")
    parts = process.split("/")
    if machine != _machine() or len(parts) != 3 or not parts[0].isdecimal():
        return False
    pid, started = int(parts[0]), parts[1]
    found = _started_at(pid)
    if found is None:
        return not _exists(pid)
    return started not in {found, "0"}


def take_over_dead(repository: Repository) -> list[Run]:
    """Ends the leases of dead workers of this machine, so that their runs can be claimed now. Returns those runs."""
    freed = []
    for run in repository.list_held_runs():
        if run.lease_owner is None or not is_dead(run.lease_owner):
            continue
        try:
            repository.end_lease(run)
        except LeaseLost:
            continue  # another worker was faster
        log.info("lease_of_dead_worker_ended", run=run.id, worker=run.lease_owner)
        freed.append(run)
    return freed


def _machine() -> str:
    """Processes that share it can see each other: same host, same boot, same process-id namespace."""
    boot = _read(Path("/proc/sys/kernel/random/boot_id"))[:8]
    namespace = "".join(filter(str.isdecimal, _link(Path("/proc/self/ns/pid"))))
    return "-".join(part for part in (socket.gethostname(), boot, namespace) if part)


def _started_at(pid: int) -> str | None:
    """Clock ticks since boot; `None` when there is no such process, it is a zombie, or the system has no /proc."""
    stat = _read(Path(f"/proc/{pid}/stat"))
    fields = stat.rpartition(")")[2].split()
    if not fields or fields[0] in _DEAD_STATES:
        return None
    return fields[_STARTED_FIELD - 3]


def _exists(pid: int) -> bool:
    """Where there is no /proc, a signal that does nothing tells; a zombie there counts as alive."""
    if Path("/proc/self/stat").exists():
        return _started_at(pid) is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _link(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
