"""The process behind the embedded profile: keeps the twin, the planner and one worker alive for a home folder.

One per home, shared by every chat of it. It goes when nobody needs it any more: no chat holds the users' lock
and no run is under way. Unfinished runs go on without a chat, and are still there when the next one comes.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from core.json_value import JsonObject
from core.reasons import OpsError
from interfaces.bootstrap.children import Child, Recipe, is_alive, is_running_module
from interfaces.bootstrap.environment import bare_environment, twin_environment
from interfaces.bootstrap.home import Home, locked_if_free, read_json, write_json
from interfaces.bootstrap.rows import open_rows
from interfaces.bootstrap.servers import ServerRecord, read_server_record, stable_port
from interfaces.settings import Settings, read_settings
from state.records import RunStatus

_LOOK_EVERY_SECONDS = 0.1
_LINGER_SECONDS = 5.0
"""How long the processes outlive their last user: the next command often comes at once."""
_CHECK_RUNS_EVERY_SECONDS = 5.0
_ORPHAN_SECONDS = 5.0


def main() -> None:
    settings = read_settings()
    home = Home(settings.home)
    home.create()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    with locked_if_free(home.supervisor_lock) as is_ours:
        if not is_ours:
            return  # another one was faster, and serves this home
        end_orphans(home)
        Supervisor(settings).run_until(stop)


class Supervisor:
    """Holds the three children and the status file that tells others about them."""

    def __init__(self, settings: Settings) -> None:
        self._home, self._settings = Home(settings.home), settings
        self._twin = Child(recipe=_twin(settings))
        # Whoever names a model server of their own needs no planner.
        self._planner = Child(recipe=_planner(settings)) if settings.model_url is None else None
        self._worker = Child(recipe=_worker(settings, self._twin_server))
        self._worker_endpoint = ""
        self._published: JsonObject | None = None

    def run_until(self, stop: threading.Event) -> None:
        idleness = _Idleness(self._settings)
        try:
            while not stop.wait(_LOOK_EVERY_SECONDS):
                self.look_after()
                if idleness.is_over():
                    with locked_if_free(self._home.users_lock) as is_alone:
                        # Under the lock: a chat that comes now waits here, then starts a supervisor of its own.
                        if is_alone:
                            self.end()
                            return
        finally:
            self.end()

    def look_after(self) -> None:
        """One round: start what is missing, tell what is there."""
        self._twin.keep_alive()
        if self._planner is not None:
            self._planner.keep_alive()
        if (twin := self._server(self._twin, self._home.twin / "twin.json")) is not None:
            if self._worker_endpoint not in {"", twin.endpoint}:
                self._worker.end()  # the twin came back elsewhere: a worker keeps the address it was born with
            self._worker_endpoint = twin.endpoint
            self._worker.keep_alive()
        self._publish(twin, self._planner_server())

    def end(self) -> None:
        """The worker first: it lets go of its run before the ground goes."""
        for child in reversed(self._children().values()):
            child.end()
        self._home.status.unlink(missing_ok=True)

    def _twin_server(self) -> ServerRecord:
        record = self._server(self._twin, self._home.twin / "twin.json")
        if record is None:
            raise RuntimeError("the worker is started only while the twin is ready")
        return record

    def _planner_server(self) -> ServerRecord | None:
        return self._server(self._planner, self._home.planner / "planner.json") if self._planner is not None else None

    def _children(self) -> dict[str, Child]:
        planner = {"planner": self._planner} if self._planner is not None else {}
        return {"twin": self._twin, **planner, "worker": self._worker}

    def _server(self, child: Child, path: Path) -> ServerRecord | None:
        return read_server_record(path, pid=pid) if (pid := child.pid) is not None else None

    def _publish(self, twin: ServerRecord | None, planner: ServerRecord | None) -> None:
        is_planned = planner is not None or self._planner is None
        status: JsonObject = {
            "pid": os.getpid(),
            "is_ready": twin is not None and is_planned and self._worker.pid is not None,
            "twin": twin.to_json() if twin else None,
            "planner": planner.to_json() if planner else None,
            "children": {name: child.to_json() for name, child in self._children().items()},
        }
        if status != self._published:
            write_json(self._home.status, status)
            self._published = status


class _Idleness:
    """Tells when nobody has needed the processes for a while."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._alone_since: float | None = None
        self._check_runs_at = 0.0

    def is_over(self) -> bool:
        now = time.monotonic()
        with locked_if_free(Home(self._settings.home).users_lock) as is_alone:
            pass
        if not is_alone:
            self._alone_since = None
            return False
        if self._alone_since is None:
            self._alone_since = now
        if now - self._alone_since < _LINGER_SECONDS or now < self._check_runs_at:
            return False
        self._check_runs_at = now + _CHECK_RUNS_EVERY_SECONDS
        return not has_unfinished_runs(self._settings)


def end_orphans(home: Home) -> None:
    """What a killed supervisor left behind: two twins must not write one folder."""
    children = (read_json(home.status) or {}).get("children")
    for name, child in children.items() if isinstance(children, Mapping) else ():
        pid = child.get("pid") if isinstance(child, Mapping) else None
        if isinstance(pid, int) and is_running_module(pid, f"interfaces.bootstrap.{name}"):
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + _ORPHAN_SECONDS
            while is_alive(pid) and time.monotonic() < deadline:
                time.sleep(_LOOK_EVERY_SECONDS)
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
    home.status.unlink(missing_ok=True)


def has_unfinished_runs(settings: Settings) -> bool:
    """True while a worker has something to do; a run that waits for a person needs nobody until they answer."""
    if not Home(settings.home).database.exists():
        return False
    try:
        rows = open_rows(settings)
    except OpsError:
        return False  # an unusable database: no worker can do anything about it either
    try:
        active = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)
        return any(run.waiting_for is None for status in active for run in rows.list_runs(status=status))
    finally:
        rows.close()


def _twin(settings: Settings) -> Recipe:
    home = Home(settings.home)
    return Recipe(
        name="twin",
        module="interfaces.bootstrap.twin",
        arguments=[
            *("--folder", str(home.twin)),
            *("--port", str(stable_port(home.root / "twin.port"))),
            *("--time-factor", str(settings.time_factor)),
            *("--region", settings.region),
        ],
        environment=lambda: bare_environment(settings),
        log=home.logs / "twin.log",
    )


def _planner(settings: Settings) -> Recipe:
    home = Home(settings.home)
    return Recipe(
        name="planner",
        module="interfaces.bootstrap.planner",
        arguments=["--folder", str(home.planner), "--port", str(stable_port(home.root / "planner.port"))],
        environment=lambda: bare_environment(settings),
        log=home.logs / "planner.log",
    )


def _worker(settings: Settings, twin: Callable[[], ServerRecord]) -> Recipe:
    return Recipe(
        name="worker",
        module="interfaces.bootstrap.worker",
        arguments=[],
        environment=lambda: twin_environment(settings, twin()),
        log=Home(settings.home).logs / "worker.log",
    )


if __name__ == "__main__":
    main()
