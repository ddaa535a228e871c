"""Plays a case with workers that die where they are told to, and tells how it ended, as the twin and the rows say.

Every commit and every changing call is an event with a before and an after. Workers are forked from this process,
which has everything imported and holds no connection; the twin outlives them.
"""

from __future__ import annotations

import gc
import logging
import os
import re
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

import boto3
import structlog

from core.ids import RandomIds, RunId
from core.json_value import JsonObject, JsonValue, canonical_json
from core.messages.message import message
from core.questions import QuestionKind
from core.reasons import FailureClass
from evals.crash_cases import OPERATOR, Case, Prelude
from evals.crash_clients import watched
from evals.crash_twin import TOKEN, TwinControl, TwinTime
from state.database import Database, Session
from state.records import EffectStatus, Question, QuestionStatus, Run, RunStatus
from state.repository import Repository, open_repository
from state.sqlite import open_sqlite
from tools.access import ToolAccess
from tools.clients.aws import BotoAws
from tools.clients.base import Clients
from tools.clients.kubernetes import EksConnector
from tools.contract import EffectTool
from tools.errors import OutcomeUnknown
from tools.idempotency import HAPPENED, NOT_HAPPENED
from workflows.catalogue import WORKFLOWS
from workflows.engine import Engine
from workflows.gates import MutationGate
from workflows.recovery import take_over_dead, this_worker
from workflows.registry import Registry
from workflows.worker import Worker

MOST_PROCESSES = 6
"""A run that is not at its end after so many workers that nobody kills is stuck."""
_MOST_LOOKS = 400
_PROCESS_SECONDS = 60.0
"""How long a worker waits for what the twin's own processes do."""
_PROCESS_LOOK_SECONDS = 0.3
_LEASE_SECONDS = 3600.0
_REGION = "us-west-2"
_SERVICES = ("ec2", "eks", "fsx", "iam", "pricing", "s3", "sagemaker", "service-quotas", "sts")
_ENDS = frozenset({RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.REFUSED, RunStatus.PAUSED})
_MADE_UP = re.compile(
    r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.:+Z]*"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=[-/])[0-9a-z]{12}\b"
    r"|\b(?!\d+xlarge\b)(?=[0-9A-Za-z]*[0-9])[0-9A-Za-z]{4,}\b"
)
"""Hours, numbers and names that the platform or the database gives differ from play to play; sizes of types do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """What one worker process meets: it dies at an event, or loses the answer of a changing call (0 = never)."""

    dies_at: int = 0
    loses: int = 0


UNDISTURBED = Disturbance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a play ended. Two plays of one case must differ in nothing but `kills`."""

    kills: int
    status: str
    effects: Counter[str]
    """At the twin: call -> how often it took effect."""
    live: str
    data: str
    ledger: Counter[str]
    """Step, tool and status of each effect."""
    questions: Counter[str]
    """Question and answer. Outcome questions are left out: they come and go with the kills."""
    repeated_outcome_questions: int
    faults: tuple[str, ...]
    """Of the audit chain, the database file and the worker processes."""


class Stage:
    """A twin, a folder and the clients that the workers are forked with."""

    def __init__(self, control: TwinControl, folder: Path, *, seed: int = 0) -> None:
        self._control, self._folder, self._seed = control, folder / "play", seed
        self._time = TwinTime(control)
        session = boto3.Session(aws_access_key_id=TOKEN, aws_secret_access_key="twin", region_name=_REGION)
        aws = BotoAws(
            session,
            region=_REGION,
            endpoint_url=control.endpoint,
            allow_loopback=True,
            sleep=self._time.advance,
        )
        aws.open_clients(_SERVICES)
        self._clients = Clients(aws=aws, kubernetes=EksConnector(aws, self._time), tags={"muster:managed": "true"})
        gc.freeze()

    def undisturbed(
        self, case: Case, *, access: Callable[[Clients], ToolAccess] = ToolAccess
    ) -> tuple[Ending, tuple[str, ...]]:
        """How it ends when nothing happens to it, and its events in order: `before commit`, `after eks:CreateCluster`.

        Raises `RuntimeError` when even that does not end well: there is nothing to compare with.
        """
        run_id, before = self._begin(case)
        path = self._folder / "events"
        _forked(lambda: path.write_text("\n".join(self._work(case, UNDISTURBED, access))))
        ending = self._ending(run_id, before, 0, [])
        if ending.status != RunStatus.DONE.value or ending.faults or not path.exists():
            raise RuntimeError(f"{case.title} ends {ending.status} with {ending.faults} when nobody disturbs it")
        return ending, tuple(path.read_text().splitlines())

    def play(
        self,
        case: Case,
        disturbances: Sequence[Disturbance],
        *,
        access: Callable[[Clients], ToolAccess] = ToolAccess,
    ) -> Ending:
        """One worker for each disturbance, then fresh ones until the run has ended. `access` makes their tools."""
        run_id, before = self._begin(case)
        kills, faults = 0, list[str]()
        for disturbance in [*disturbances, *[UNDISTURBED] * MOST_PROCESSES]:
            if self._status(run_id) in _ENDS:
                break
            status = _forked(lambda: self._work(case, disturbance, access))  # noqa: B023 - called at once
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                kills += 1
            elif status != 0:
                faults.append(f"a worker broke with status {status}")
        return self._ending(run_id, before, kills, faults)

    def _begin(self, case: Case) -> tuple[RunId, Counter[str]]:
        """The new run, and what the twin had carried out before it."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        self._control.reset(case.world, seed=self._seed)
        status = _forked(lambda: self._prepare(case))
        if status != 0:
            raise RuntimeError(f"{case.title} could not be prepared")
        with self._rows() as rows:
            return rows.list_runs(limit=1)[0].id, self._control.effects()

    def _prepare(self, case: Case) -> None:
        self._time.refresh()
        with self._rows() as rows:
            for prelude in case.preludes:
                self._act_out(rows, prelude, case)
            reads = _Reads(ToolAccess(self._clients))
            _create(rows, case.workflow, case.params(reads), case)

    def _act_out(self, rows: Repository, prelude: Prelude, case: Case) -> None:
        run = _create(rows, prelude.workflow, prelude.params, case)
        self._go_on(rows, ToolAccess(self._clients), run.id, case)
        ended = rows.get_run(run.id)
        if ended.status is not RunStatus.DONE:
            raise RuntimeError(f"the prelude {prelude.workflow} ended {ended.status}: {ended.failure}")

    def _work(self, case: Case, disturbance: Disturbance, access: Callable[[Clients], ToolAccess]) -> tuple[str, ...]:
        """One worker process until the run has ended or asks what nobody answers. Returns its events."""
        self._time.refresh()
        events = _Events(disturbance)
        ids = RandomIds(Random(os.getpid()))
        database = _WatchedDatabase(open_sqlite(self._folder / "muster.db", self._time), events.commit)
        rows = Repository(database, self._time, ids)
        take_over_dead(rows)
        self._go_on(rows, access(watched(self._clients, events.call)), rows.list_runs(limit=1)[0].id, case)
        rows.close()
        return tuple(events.seen)

    def _go_on(self, rows: Repository, tools: ToolAccess, run_id: RunId, case: Case) -> None:
        engine = Engine(rows, Registry(WORKFLOWS), tools, self._time, gates=(MutationGate(rows),), random=Random(7))
        worker = Worker(
            engine, rows, self._time, worker_id=this_worker(), lease_seconds=_LEASE_SECONDS, idle=lambda seconds: None
        )
        deadline = time.monotonic() + _PROCESS_SECONDS
        for _ in range(_MOST_LOOKS):
            worker.work_until_idle()
            run = rows.get_run(run_id)
            if run.status in _ENDS or time.monotonic() > deadline:
                return
            if not self._answer(rows, run, case) and run.wake_at is not None:
                self._time.advance(max((run.wake_at - self._time.now()).total_seconds(), 0) + 0.001)
                if case.runs_processes:
                    time.sleep(_PROCESS_LOOK_SECONDS)

    def _answer(self, rows: Repository, run: Run, case: Case) -> bool:
        """What a person would. True when something was answered."""
        answered = False
        for question in rows.list_questions(status=QuestionStatus.OPEN):
            value = self._outcome(rows, run, question) if question.kind is QuestionKind.OUTCOME else None
            wanted = case.answers.get(question.kind) if value is None else value
            option = next((option for option in question.options if option.value == wanted), None)
            if option is not None:
                rows.answer_question(
                    question.id,
                    options_version=question.options_version,
                    principal=OPERATOR,
                    option_id=option.id,
                )
                answered = True
        return answered

    def _outcome(self, rows: Repository, run: Run, question: Question) -> str:
        """Whoever is asked whether a call worked looks at the platform: more took effect than is recorded."""
        call = next(str(line.params["call"]) for line in question.details if line.key == "effects.call_made")
        recorded = sum(
            effect.status is EffectStatus.APPLIED and _calls()[effect.tool] == call
            for known in rows.list_runs()
            for effect in rows.list_effects(known.id)
        )
        return HAPPENED if self._control.effects()[call] > recorded else NOT_HAPPENED

    def _status(self, run_id: RunId) -> RunStatus:
        with self._rows() as rows:
            return rows.get_run(run_id).status

    def _ending(self, run_id: RunId, before: Counter[str], kills: int, faults: list[str]) -> Ending:
        self._control.settle()
        with self._rows() as rows:
            run = rows.get_run(run_id)
            chain = rows.verify_audit(run_id)
            asked = [question for question in rows.list_questions() if question.run_id == run_id]
            outcomes = Counter(question.name for question in asked if question.kind is QuestionKind.OUTCOME)
            return Ending(
                kills=kills,
                status=run.status.value if run.failure is None else f"{run.status.value}: {run.failure.message}",
                effects=self._control.effects() - before,
                live=_comparable(self._control.live()),
                data=_comparable(run.data),
                ledger=Counter(f"{item.step} {item.tool} {item.status}" for item in rows.list_effects(run_id)),
                questions=Counter(
                    f"{question.name}: {canonical_json(question.answer)}"
                    for question in asked
                    if question.kind is not QuestionKind.OUTCOME
                ),
                repeated_outcome_questions=sum(count - 1 for count in outcomes.values()),
                faults=(*faults, *([] if chain is None else [f"audit: {chain.why}"]), *rows.check()),
            )

    @contextmanager
    def _rows(self) -> Iterator[Repository]:
        """Closed before anything is forked: a connection must not be shared."""
        rows = open_repository(self._folder / "muster.db", clock=self._time, ids=RandomIds(Random(time.monotonic_ns())))
        try:
            yield rows
        finally:
            rows.close()


class _Reads:
    """`workflows.operations.Reads`."""

    def __init__(self, tools: ToolAccess) -> None:
        self.region, self.read = tools.region, tools.read


class _Events:
    """Counts what happens, dies or loses an answer when told to."""

    def __init__(self, disturbance: Disturbance) -> None:
        self._disturbance = disturbance
        self.seen: list[str] = []
        self._changes = 0

    def commit(self, when: str) -> None:
        self._happened(f"{when} commit")

    def call(self, when: str, call: str) -> None:
        self._happened(f"{when} {call}")
        self._changes += when == "after"
        if when == "after" and self._changes == self._disturbance.loses:
            raise OutcomeUnknown(
                message("tools.outcome_unknown", call=call, code="lost", raw="the answer was lost"),
                call=call,
                failure_class=FailureClass.UNKNOWN,
            )

    def _happened(self, event: str) -> None:
        self.seen.append(event)
        if len(self.seen) == self._disturbance.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)


class _WatchedDatabase:
    """A database whose commits are events."""

    def __init__(self, inner: Database, watch: Callable[[str], None]) -> None:
        self._inner, self._watch = inner, watch

    def reading(self) -> AbstractContextManager[Session]:
        return self._inner.reading()

    @contextmanager
    def writing(self) -> Iterator[Session]:
        with self._inner.writing() as session:
            yield session
            self._watch("before")
        self._watch("after")

    def version(self) -> int:
        return self._inner.version()

    def check(self) -> tuple[str, ...]:
        return self._inner.check()

    def close(self) -> None:
        self._inner.close()


def _create(rows: Repository, workflow: str, params: JsonObject, case: Case) -> Run:
    version = next(known.version for known in WORKFLOWS if known.name == workflow)
    return rows.create_run(
        workflow=workflow, workflow_version=version, params=params, requested_by=OPERATOR, cluster=case.cluster
    )


def _forked(work: Callable[[], object]) -> int:
    """Its wait status. Files, connections and threads are opened in the child, so that nothing is shared."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
            work()
            status = 0
        except BaseException:  # noqa: BLE001 - the parent counts it
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def _calls() -> dict[str, str]:
    """Tool name -> call, of every tool that the catalogue has loaded."""
    modules = [module for name, module in sys.modules.items() if name.startswith("tools.")]
    return {
        value.name: value.call for module in modules for value in vars(module).values() if isinstance(value, EffectTool)
    }


def _comparable(value: JsonValue) -> str:
    """As text, without what is made up anew in each play, and with lists of nodes in a settled order."""
    return _MADE_UP.sub("*", canonical_json(_settled(value)))


def _settled(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {_MADE_UP.sub("*", key): _settled(item) for key, item in value.items() if key not in _NAMES_OF_NODES}
    if isinstance(value, list):
        return sorted((_settled(item) for item in value), key=canonical_json)
    return value


_NAMES_OF_NODES = frozenset({"logical_id", "instance_id"})
