"""Whoever needs the embedded processes asks for them here: what is missing is started, what is there is shared.

The processes belong to a supervisor of their own (`interfaces.bootstrap.supervisor`), not to the chat that
happened to start them: a closed terminal ends no work.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from core.json_value import JsonObject, JsonValue
from core.messages.message import message
from core.reasons import OpsError, WhoActs
from interfaces.bootstrap.children import Recipe, is_alive, is_running_module, start
from interfaces.bootstrap.environment import bare_environment, twin_environment
from interfaces.bootstrap.home import Home, locked, locked_if_free, read_json
from interfaces.bootstrap.servers import ServerRecord
from interfaces.settings import Settings

_READY_WITHIN_SECONDS = 60.0
_LOOK_EVERY_SECONDS = 0.05
_ASK_AGAIN_SECONDS = 2.0
_DEATHS_MEAN_TROUBLE = 3


class EmbeddedUnavailable(OpsError):
    """A process of the embedded profile does not come up; its log says why."""

    who_acts = WhoActs.OPERATOR

    def __init__(self, process: str, log: str, tail: str) -> None:
        super().__init__(message("cli.embedded_unavailable", process=process, log=log, tail=tail))
        self.process, self.log = process, log


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """The running set, read anew at each look: a process may have been replaced meanwhile."""

    settings: Settings

    @property
    def twin(self) -> ServerRecord:
        """Raises `EmbeddedUnavailable` while it is down."""
        return self._server("twin")

    @property
    def planner(self) -> ServerRecord:
        """Raises `EmbeddedUnavailable` while it is down."""
        return self._server("planner")

    def pids(self) -> Mapping[str, int]:
        """Of the processes that live, the supervisor among them."""
        status = self._status()
        found = {"supervisor": status.get("pid"), **{name: child.get("pid") for name, child in _children(status)}}
        return {name: pid for name, pid in found.items() if isinstance(pid, int)}

    def environment(self) -> Mapping[str, str]:
        """For this process and for tools beside it: the twin as if it were AWS."""
        return twin_environment(self.settings, self.twin)

    def _server(self, name: str) -> ServerRecord:
        match self._status().get(name):
            case {"endpoint": str(endpoint), "token": str(token), "pid": int(pid)}:
                return ServerRecord(endpoint=endpoint, token=token, pid=pid)
            case _:
                raise _unavailable(Home(self.settings.home), name)

    def _status(self) -> JsonObject:
        return living_status(Home(self.settings.home))


@contextmanager
def embedded_processes(
    settings: Settings, *, ready_within_seconds: float = _READY_WITHIN_SECONDS
) -> Iterator[Processes]:
    """Have them running for the length of the block. Raises `EmbeddedUnavailable` naming the process and its log."""
    home = Home(settings.home)
    home.create()
    with locked(home.users_lock, shared=True):
        await_ready(settings, ready_within_seconds)
        yield Processes(settings=settings)


def start_supervisor(settings: Settings) -> None:
    """Start one unless it is there. Two that start at once settle it by the lock: one leaves again."""
    home = Home(settings.home)
    with locked_if_free(home.supervisor_lock) as is_free:
        if not is_free:
            return
    process = start(
        Recipe(
            name="supervisor",
            module="interfaces.bootstrap.supervisor",
            arguments=[],
            environment=lambda: bare_environment(settings),
            log=home.logs / "supervisor.log",
        )
    )
    # It outlives this process; while this one lives, somebody has to take note of its end.
    threading.Thread(target=process.wait, name="supervisor-end", daemon=True).start()


def living_status(home: Home) -> JsonObject:
    """What the supervisor last said; empty when there is none or it is dead."""
    status = read_json(home.status) or {}
    pid = status.get("pid")
    return status if isinstance(pid, int) and is_alive(pid) else {}


def await_ready(settings: Settings, within_seconds: float) -> None:
    """Raises `EmbeddedUnavailable` at the deadline, or as soon as a process has died too often."""
    home, deadline, ask_again_at = Home(settings.home), time.monotonic() + within_seconds, 0.0
    while True:
        status = living_status(home)
        if status.get("is_ready") is True:
            return
        if not status and time.monotonic() > ask_again_at:
            # Again and again: the one that was there a moment ago may have been about to leave.
            start_supervisor(settings)
            ask_again_at = time.monotonic() + _ASK_AGAIN_SECONDS
        failing = next((name for name, child in _children(status) if _is_hopeless(child)), None)
        if failing is not None or time.monotonic() > deadline:
            raise _unavailable(home, failing or _first_missing(status))
        time.sleep(_LOOK_EVERY_SECONDS)


def _children(status: JsonObject) -> list[tuple[str, Mapping[str, JsonValue]]]:
    children = status.get("children")
    if not isinstance(children, Mapping):
        return []
    return [(name, child) for name, child in children.items() if isinstance(child, Mapping)]


def _is_hopeless(child: Mapping[str, JsonValue]) -> bool:
    deaths = child.get("deaths")
    return child.get("pid") is None and isinstance(deaths, int) and deaths >= _DEATHS_MEAN_TROUBLE


def _first_missing(status: JsonObject) -> str:
    if not status:
        return "supervisor"
    return next((name for name in ("twin", "planner") if status.get(name) is None), "worker")


def _unavailable(home: Home, name: str) -> EmbeddedUnavailable:
    log = home.logs / f"{name}.log"
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return EmbeddedUnavailable(name, str(log), next((line for line in reversed(lines) if line.strip()), "-")[:300])


def stop_processes(settings: Settings, *, within_seconds: float = 20.0) -> None:
    """End the supervisor and with it all it keeps, whoever still uses them. Returns once it is gone."""
    pid = living_status(Home(settings.home)).get("pid")
    if not isinstance(pid, int) or not is_running_module(pid, "interfaces.bootstrap.supervisor"):
        return
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + within_seconds
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(_LOOK_EVERY_SECONDS)
