"""The kill: the worker dies between a call's effect and its record, at the one moment that duplicates things.

The twin keeps the answer of the call back after the effect; while it waits for it, the worker gets SIGKILL.
Only then is the answer let go, to nobody.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from core.ids import RunId
from interfaces.bootstrap.children import is_alive
from interfaces.bootstrap.embedded import Processes
from interfaces.cli.demo.twin_control import TwinControl
from state.records import EffectStatus, Run, RunStatus
from state.repository import Repository

CALL = "sagemaker:CreateCluster"
_LOOK_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """What was seen at the moment of the kill."""

    pid: int
    run_id: RunId
    effects_at_kill: int
    """How often the call had taken effect by the twin's log: 1."""
    was_recorded: bool
    """Whether the ledger held its outcome: False, or the kill came too late to prove anything."""


class WorkerKiller:
    """`look` is called again and again; it kills once."""

    def __init__(self, rows: Repository, processes: Processes, twin: TwinControl) -> None:
        self._rows, self._processes, self._twin = rows, processes, twin
        self.kill: Kill | None = None
        twin.hold(CALL)

    def look(self) -> Kill | None:
        """The kill, in the very look that did it."""
        if self.kill is not None or not self._twin.is_holding(CALL):
            return None
        run, pid = self._running(), self._processes.pids().get("worker")
        if run is None or pid is None:
            return None
        os.kill(pid, signal.SIGKILL)
        while is_alive(pid):
            time.sleep(_LOOK_SECONDS)
        self.kill = Kill(
            pid=pid,
            run_id=run.id,
            effects_at_kill=self._twin.effects().get(CALL, 0),
            was_recorded=self._is_recorded(run),
        )
        self._twin.release()
        return self.kill

    def _running(self) -> Run | None:
        return next(iter(self._rows.list_runs(status=RunStatus.RUNNING)), None)

    def _is_recorded(self, run: Run) -> bool:
        effects = [effect for effect in self._rows.list_effects(run.id) if effect.tool == "create_cluster"]
        return not effects or effects[-1].status is not EffectStatus.INTENDED
