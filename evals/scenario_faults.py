"""The faults that the twin can't carry out alone: a killed worker, and moments that are steps of a run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.json_value import JsonObject
from evals.scenario_format import KILL_WORKER, FaultEntry
from evals.scenario_stage import Scene

_START_SECONDS = 30.0
_LOOK_SECONDS = 0.02
HORIZON_SECONDS = 3600.0
"""A fault that is due within an hour of twin time keeps a scenario from being quiet."""


class WorldNotReady(RuntimeError):
    """What the scenario's world says is running does not come to run."""


@dataclass(slots=True)
class _Pending:
    fault: FaultEntry
    is_held: bool = False
    """An answer was kept back for it."""


@dataclass(slots=True)
class FaultWatch:
    """Armed before the first turn; `look` is called again and again and never waits."""

    scene: Scene
    _began: datetime = field(init=False)
    _own: list[_Pending] = field(default_factory=list)
    fired: list[str] = field(default_factory=list)

    def arm(self) -> None:
        """Moments at the start are over when this returns. Raises `TwinRefused`, `WorldNotReady`."""
        scenario = self.scene.scenario
        running = {job.name for c in scenario.world.clusters for job in c.jobs if job.state == "Running"}
        self._await_jobs(running)
        self._began = self.scene.twin.time().now
        for_twin: list[JsonObject] = []
        for fault in scenario.faults:
            job = fault.at.removeprefix("job_running:")
            if fault.at.startswith("job_running:") and job in running:
                self._at_start(fault, job)
            elif fault.kind == KILL_WORKER or fault.at.startswith("step:"):
                self._own.append(_Pending(fault))
            else:
                for_twin.append(fault.for_twin(at=fault.at))
        if for_twin:
            self.scene.twin.arm(for_twin)
        for pending in self._own:
            self._hold(pending)
        self.look()

    def look(self) -> None:
        """Fires what is due."""
        for pending in list(self._own):
            if self._is_due(pending):
                self._own.remove(pending)
                self._fire(pending)

    @property
    def is_due_soon(self) -> bool:
        """A fault of its own that a mere wait brings about within the hour."""
        return any(
            self._seconds_left(pending.fault) <= HORIZON_SECONDS
            for pending in self._own
            if pending.fault.at.startswith("seconds:")
        )

    def never_came(self) -> tuple[str, ...]:
        """Faults whose moment did not come, or which found nothing to break."""
        own = [_shown(pending.fault.kind, pending.fault.at) for pending in self._own]
        twin = [
            _shown(str(fault.get("kind")), str(fault.get("at", "now")))
            + (f": {problem}" if (problem := fault.get("problem")) else "")
            for fault in self.scene.twin.faults()
            if fault.get("fired_at") is None or fault.get("problem")
        ]
        return (*own, *twin)

    def _at_start(self, fault: FaultEntry, job: str) -> None:
        if fault.kind == KILL_WORKER:
            self.scene.worker.kill()
        else:
            named = job if fault.job is None and fault.node is None else fault.job
            self.scene.twin.arm([{**fault.for_twin(at=""), **({"job": named} if named else {})}])

    def _hold(self, pending: _Pending) -> None:
        """A worker dies after the effect and before it hears of it: the answer waits for that."""
        if pending.fault.at.startswith("effect:"):
            self.scene.twin.hold(pending.fault.at.removeprefix("effect:"))
            pending.is_held = True

    def _is_due(self, pending: _Pending) -> bool:
        at = pending.fault.at
        if at.startswith("effect:"):
            return at.removeprefix("effect:") in self.scene.twin.held()
        if at.startswith("step:"):
            return self._has_begun(at.removeprefix("step:"))
        if at.startswith("seconds:"):
            return self._seconds_left(pending.fault) <= 0
        if at.startswith("job_running:"):
            return _jobs(self.scene.twin.state()).get(at.removeprefix("job_running:")) == "Running"
        return self._has_intent()

    def _fire(self, pending: _Pending) -> None:
        fault = pending.fault
        self.fired.append(_shown(fault.kind, fault.at))
        if fault.kind == KILL_WORKER:
            self.scene.worker.kill()
        else:
            self.scene.twin.arm([fault.for_twin(at=fault.at)])
        if pending.is_held:
            self.scene.twin.release()
            for other in self._own:
                self._hold(other)  # letting go disarms what others have armed

    def _has_begun(self, step: str) -> bool:
        workflow, _, name = step.partition(".")
        rows = self.scene.rows
        return any(
            record.name == name
            for run in rows.list_runs()
            if run.workflow == workflow
            for record in rows.list_steps(run.id)
        )

    def _has_intent(self) -> bool:
        """The ledger notes a change before its call: the last moment before the first effect that can be seen."""
        rows = self.scene.rows
        return any(rows.list_effects(run.id) for run in rows.list_runs())

    def _seconds_left(self, fault: FaultEntry) -> float:
        due = float(fault.at.removeprefix("seconds:"))
        return due - (self.scene.clock.now() - self._began).total_seconds()

    def _await_jobs(self, names: set[str]) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while missing := {name for name in names if _jobs(self.scene.twin.state()).get(name) != "Running"}:
            if time.monotonic() > deadline:
                raise WorldNotReady(f"jobs of the world do not run: {', '.join(sorted(missing))}")
            time.sleep(_LOOK_SECONDS)


def _jobs(state: JsonObject) -> dict[str, str]:
    """Name -> state, over all clusters."""
    found: dict[str, str] = {}
    clusters = state.get("clusters")
    for cluster in clusters.values() if isinstance(clusters, Mapping) else ():
        jobs = cluster.get("jobs") if isinstance(cluster, Mapping) else None
        for name, job in jobs.items() if isinstance(jobs, Mapping) else ():
            found[name] = str(job.get("state")) if isinstance(job, Mapping) else ""
    return found


def _shown(kind: str, at: str) -> str:
    return f"{kind} at {at}"
