"""How much memory the demo takes: the proportional share (PSS) of this process and everything below it."""

from __future__ import annotations

import threading
from collections import defaultdict
from pathlib import Path

_EVERY_SECONDS = 0.5


class MemoryWatch:
    """Samples in a thread between `start` and `stop`. `peak_mib` is of the sum, not a sum of peaks."""

    def __init__(self, root_pid: int) -> None:
        self._root, self._over = root_pid, threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory-watch", daemon=True)
        self.peak_mib = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_EVERY_SECONDS):
            self.peak_mib = max(self.peak_mib, total_pss_mib(self._root))


def total_pss_mib(root_pid: int) -> float:
    return sum(pss_kib(pid) for pid in tree(root_pid)) / 1024


def pss_kib(pid: int) -> int:
    """0 for a process that has just gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def tree(root_pid: int) -> list[int]:
    """The process and all its descendants, whatever session they are in."""
    children = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(path.parent.name))
    found, waiting = [], [root_pid]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children[pid]
    return found
