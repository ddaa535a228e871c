"""Kills a worker with SIGKILL wherever it matters, lets fresh processes recover, and counts what happened.

Every commit and every call of the platform is an event, with a before and an after. A worker process is forked
from this one, which has everything imported; it dies at the event that it is told to. The platform is a file that
survives it, so that effects are counted where they happen and not in what the worker remembers.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from core.ids import RandomIds, RunId
from core.json_value import JsonObject
from core.questions import QuestionKind
from state.database import Database, Session
from state.records import EffectStatus, QuestionStatus, RunStatus
from state.repository import Repository, open_repository
from state.sqlite import open_sqlite
from tests.builders.people import person
from tests.fakes.clock import START
from tests.fakes.toy_platform import FakePlatform, Fault
from tools.access import ToolAccess
from tools.clients.base import Clients
from workflows.definition import AnyWorkflow
from workflows.engine import Engine
from workflows.recovery import take_over_dead, this_worker
from workflows.registry import Registry
from workflows.worker import Worker

MOST_PROCESSES = 12
"""A run that is not done after so many fresh workers is stuck."""
_LEASE_SECONDS = 30.0
_MOST_RESTS = 60


class FileClock:
    """Time that goes on where the killed process left it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def now(self) -> datetime:
        return datetime.fromisoformat(self._path.read_text()) if self._path.exists() else START

    def advance(self, duration: timedelta) -> None:
        later = (self.now() + duration).isoformat()
        swap = self._path.with_suffix(".new")
        swap.write_text(later)
        swap.replace(self._path)


class Killer:
    """Counts events and dies at the given one; 0 = never."""

    def __init__(self, at_event: int) -> None:
        self._at_event = at_event
        self.seen: list[str] = []

    def __call__(self, event: str) -> None:
        self.seen.append(event)
        if len(self.seen) == self._at_event:
            os.kill(os.getpid(), signal.SIGKILL)


class WatchedDatabase:
    """A database whose commits are events."""

    def __init__(self, inner: Database, watch: Callable[[str], None]) -> None:
        self._inner, self._watch = inner, watch

    def reading(self) -> AbstractContextManager[Session]:
        return self._inner.reading()

    @contextmanager
    def writing(self) -> Iterator[Session]:
        with self._inner.writing() as session:
            yield session
            self._watch("before commit")
        self._watch("after commit")

    def version(self) -> int:
        return self._inner.version()

    def check(self) -> tuple[str, ...]:
        return self._inner.check()

    def close(self) -> None:
        self._inner.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a scenario came to, compared with the undisturbed one."""

    duplicated: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    wrong: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        return not (self.duplicated or self.lost or self.wrong)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The end of one scenario, as the platform and the database tell it."""

    status: RunStatus
    data: JsonObject
    effects: Counter[str]
    open_effects: int
    questions: Counter[str]
    """How often each question was asked, outcome questions left out: those come and go with the kills."""
    chain_fault: str | None
    file_faults: tuple[str, ...]


class Scenario:
    """One workflow in one folder. `access` makes the tools: a planted fault is another one."""

    def __init__(
        self,
        folder: Path,
        workflow: AnyWorkflow,
        *,
        access: Callable[[Clients], ToolAccess] = ToolAccess,
        lag: timedelta = timedelta(seconds=45),
    ) -> None:
        self._folder, self._workflow, self._access, self._lag = folder, workflow, access, lag
        self._faults: Mapping[str, list[Fault]] = {}
        folder.mkdir()
        self._clock = FileClock(folder / "clock")
        self.run_id = self._create_run()

    def play(self, kills: list[int], *, faults: Mapping[str, list[Fault]] | None = None) -> Outcome:
        """One process per kill, dying at that event of its own; then fresh ones until the run has ended.

        Each process meets `faults` anew, by operation.
        """
        self._faults = faults or {}
        for kill_at in kills:
            self._in_child(kill_at)
        for _ in range(MOST_PROCESSES):
            status = self._end().status
            if status.is_finished:
                break
            if status is RunStatus.FAILED:
                self._retry_as_a_person_would()
            self._in_child(0)
        return self._end()

    def events(self) -> list[str]:
        """The events of an undisturbed run, in this very process."""
        killer = Killer(0)
        self._work(killer)
        return killer.seen

    def _in_child(self, kill_at: int) -> None:
        """Everything with a file or a thread is opened in the child, so that nothing is shared across the fork."""
        child = os.fork()
        if child == 0:
            try:
                self._work(Killer(kill_at))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
            raise AssertionError(f"the worker died of signal {os.WTERMSIG(status)}")

    def _work(self, killer: Killer) -> None:
        ids = RandomIds(Random(os.getpid()))
        database = WatchedDatabase(open_sqlite(self._folder / "muster.db", self._clock), killer)
        repository = Repository(database, self._clock, ids)
        platform = self._platform()
        platform.watch = killer
        platform.faults = {operation: list(met) for operation, met in self._faults.items()}
        take_over_dead(repository)
        engine = Engine(
            repository,
            Registry([self._workflow]),
            self._access(platform.clients()),
            self._clock,
            gates=(),
            random=Random(1),
        )
        rests = 0

        def idle(seconds: float) -> None:
            nonlocal rests
            rests += 1
            self._answer_as_a_person_would(repository)
            self._clock.advance(timedelta(seconds=seconds))

        def has_ended() -> bool:
            status = repository.get_run(self.run_id).status
            return rests >= _MOST_RESTS or status.is_finished or status is RunStatus.FAILED

        worker = Worker(
            engine, repository, self._clock, worker_id=this_worker(), lease_seconds=_LEASE_SECONDS, idle=idle
        )
        worker.run_until(has_ended)
        repository.close()

    def _answer_as_a_person_would(self, repository: Repository) -> None:
        """Whoever is asked whether something happened looks at the platform itself."""
        for question in repository.list_questions(status=QuestionStatus.OPEN):
            option = question.options[0].id
            if question.kind is QuestionKind.OUTCOME:
                tokens = {effect["token"] for effect in self._platform().effects()}
                asked = next(e for e in repository.list_effects(self.run_id) if e.status is EffectStatus.UNKNOWN)
                option = "happened" if asked.token in tokens else "not_happened"
            repository.answer_question(
                question.id, options_version=question.options_version, principal=person(), option_id=option
            )

    def _retry_as_a_person_would(self) -> None:
        repository = self._open()
        repository.retry_run(self.run_id, actor=person())
        repository.close()

    def _platform(self) -> FakePlatform:
        return FakePlatform(self._clock, self._folder / "platform", lag=self._lag)

    def _create_run(self) -> RunId:
        repository = self._open()
        run = repository.create_run(
            workflow=self._workflow.name, workflow_version=self._workflow.version, params={}, requested_by=person()
        )
        repository.close()
        return run.id

    def _open(self) -> Repository:
        return open_repository(self._folder / "muster.db", clock=self._clock, ids=RandomIds(Random(3)))

    def _end(self) -> Outcome:
        repository = self._open()
        run = repository.get_run(self.run_id)
        fault = repository.verify_audit(self.run_id)
        asked = [question for question in repository.list_questions() if question.kind is not QuestionKind.OUTCOME]
        outcome = Outcome(
            status=run.status,
            data=run.data,
            effects=self._platform().counts(),
            open_effects=sum(
                effect.status is not EffectStatus.APPLIED for effect in repository.list_effects(self.run_id)
            ),
            questions=Counter(question.name for question in asked),
            chain_fault=None if fault is None else fault.why,
            file_faults=repository.check(),
        )
        repository.close()
        return outcome


def compare(undisturbed: Outcome, disturbed: Outcome) -> Verdict:
    wrong = [
        f"{name}: {mine!r} instead of {theirs!r}"
        for name, mine, theirs in (
            ("status", disturbed.status.value, undisturbed.status.value),
            ("data", disturbed.data, undisturbed.data),
            ("questions", disturbed.questions, undisturbed.questions),
            ("open effects", disturbed.open_effects, 0),
            ("audit chain", disturbed.chain_fault, None),
            ("database file", disturbed.file_faults, ()),
        )
        if mine != theirs
    ]
    return Verdict(
        duplicated=disturbed.effects - undisturbed.effects,
        lost=undisturbed.effects - disturbed.effects,
        wrong=tuple(wrong),
    )
