"""The worker: claims what may go on, runs it, and rests until there is something to do.

Several workers, in threads or processes, may share a database: a run is held by one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog

from core.clock import Clock
from core.ids import RunId, WorkerId
from state.errors import DatabaseUnusable, LeaseLost
from state.records import Run
from state.repository import Repository
from state.switches import Mutation
from workflows.engine import Engine
from workflows.recovery import take_over_dead

LONGEST_REST_SECONDS = 5.0
"""A missed wake-up costs this much at most."""
_SHORTEST_REST_SECONDS = 0.1
"""Also when a run is due that cannot go on yet: one that another holds up, or any while the stop switch is on."""
_POLL_SECONDS = 0.1
_AFTER_DATABASE_TROUBLE_SECONDS = 1.0

log = structlog.get_logger(__name__)


class Worker:
    """`idle(seconds)` rests for at most that long and returns early when there may be news: see `rest_until_news`."""

    def __init__(
        self,
        engine: Engine,
        repository: Repository,
        clock: Clock,
        *,
        worker_id: WorkerId,
        lease_seconds: float,
        idle: Callable[[float], None],
    ) -> None:
        self._engine, self._repository, self._clock = engine, repository, clock
        self._id, self._lease, self._idle = worker_id, timedelta(seconds=lease_seconds), idle

    def run_until(self, stop: Callable[[], bool]) -> None:
        """Works until `stop` says so, asked between two steps; what is held then is given back."""
        log.info("worker_began", worker=self._id)
        with Heartbeat(self._repository, self._clock, self._lease) as heartbeat:
            while not stop():
                try:
                    if not self._work_once(heartbeat, stop):
                        self._idle(self._seconds_to_rest())
                except DatabaseUnusable:
                    log.exception("database_unusable", worker=self._id)
                    self._idle(_AFTER_DATABASE_TROUBLE_SECONDS)
        log.info("worker_ended", worker=self._id)

    def work_until_idle(self, *, only: RunId | None = None) -> None:
        """Everything that can go on now, then returns: for tests and commands."""
        with Heartbeat(self._repository, self._clock, self._lease) as heartbeat:
            while self._work_once(heartbeat, lambda: False, only=only):
                pass

    def _work_once(self, heartbeat: Heartbeat, stop: Callable[[], bool], *, only: RunId | None = None) -> bool:
        """True when there was something to do."""
        self._repository.expire_questions()
        if self._repository.get_mutation() is Mutation.STOPPED:
            return False
        sharing = self._engine.sharing
        lease_until = self._clock.now() + self._lease
        run = self._repository.claim_run(worker=self._id, lease_until=lease_until, sharing=sharing, only=only)
        if run is None:
            self._repository.explain_queue(sharing=sharing)
            return bool(take_over_dead(self._repository))
        with heartbeat.holding(run) as still_held:
            try:
                self._engine.run_once(run, still_held=still_held, should_drain=stop)
            except LeaseLost:
                log.warning("lease_lost", worker=self._id, run=run.id)
            except DatabaseUnusable:
                raise
            except Exception:
                log.exception("run_broke", worker=self._id, run=run.id)
        return True

    def _seconds_to_rest(self) -> float:
        wake_at = self._repository.next_wake_at()
        if wake_at is None:
            return LONGEST_REST_SECONDS
        return min(LONGEST_REST_SECONDS, max(_SHORTEST_REST_SECONDS, (wake_at - self._clock.now()).total_seconds()))


class Heartbeat:
    """A thread that renews the lease of the run that is held, so that a slow call does not lose it."""

    def __init__(self, repository: Repository, clock: Clock, lease: timedelta) -> None:
        self._repository, self._clock, self._lease = repository, clock, lease
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._held: Run | None = None
        self._until, self._is_lost = clock.now(), False
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @contextmanager
    def holding(self, run: Run) -> Iterator[Callable[[], None]]:
        """Yields what raises `LeaseLost` once the lease is lost, or has run out by this machine's clock."""
        with self._lock:
            self._held, self._is_lost = run, False
            self._until = run.lease_expires_at or self._clock.now()
        try:
            yield lambda: self._check(run)
        finally:
            with self._lock:
                self._held = None

    def _check(self, run: Run) -> None:
        with self._lock:
            if self._is_lost or self._clock.now() >= self._until:
                raise LeaseLost(run.id, run.fence)

    def _beat(self) -> None:
        while not self._ended.wait(self._lease.total_seconds() / 3):
            with self._lock:
                run = self._held
            if run is not None:
                self._renew(run)

    def _renew(self, run: Run) -> None:
        until = self._clock.now() + self._lease
        try:
            self._repository.renew_lease(run, until=until)
        except LeaseLost:
            with self._lock:
                # The run may just have ended in this very worker; then nobody asks any more.
                self._is_lost = self._is_lost or self._held is run
            return
        except DatabaseUnusable as error:
            log.warning("lease_not_renewed", run=run.id, why=error.why)
            return
        with self._lock:
            if self._held is run:
                self._until = until


def rest_until_news(repository: Repository, poke: threading.Event) -> Callable[[float], None]:
    """The `idle` of a worker on SQLite, which cannot be told of news: it asks cheaply, ten times a second.

    What was committed since the last rest ends this one at once, so that nothing is missed in between. Setting
    `poke` ends it too.
    """
    known: int | None = -1

    def rest(seconds: float) -> None:
        nonlocal known
        left = seconds
        while (present := _version(repository)) == known and left > 0 and not poke.wait(min(_POLL_SECONDS, left)):
            left -= _POLL_SECONDS
        known = present
        poke.clear()

    return rest


def _version(repository: Repository) -> int | None:
    """`None` while the database is in trouble: that is no news, and nothing to end a rest for."""
    try:
        return repository.version()
    except DatabaseUnusable:
        return None
