"""Runs of the catalogue on a whole twin with the real engine; waiting is advancing the twin's clock."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from core.ids import ClusterName, RunId, WorkerId
from core.json_value import JsonObject, JsonValue
from state.records import Question, QuestionStatus, Run, RunStatus
from state.repository import Repository
from tests.builders.people import person
from tests.polling import eventually
from tests.twin_process import WholeTwin
from tools.access import ToolAccess
from tools.clients.base import Clients
from workflows.catalogue import WORKFLOWS
from workflows.engine import Engine
from workflows.registry import Registry
from workflows.worker import Worker

MOST_LOOKS = 600
LEASE_SECONDS = 3600.0


class Bench:
    """One repository and one worker against one twin. `clients` replaces the twin's own (to lose answers)."""

    def __init__(
        self, twin: WholeTwin, repository: Repository, clients: Clients | None = None, *, worker: str = "worker-a"
    ) -> None:
        self.twin, self.repository = twin, repository
        engine = Engine(
            repository,
            Registry(WORKFLOWS),
            ToolAccess(clients or twin.clients),
            twin.clock,
            gates=(),
            random=Random(7),
        )
        self._worker = Worker(
            engine,
            repository,
            twin.clock,
            worker_id=WorkerId(worker),
            lease_seconds=LEASE_SECONDS,
            idle=lambda seconds: None,
        )

    def start(self, workflow: str, params: JsonObject, *, cluster: str, depends_on: Sequence[RunId] = ()) -> Run:
        return self.repository.create_run(
            workflow=workflow,
            workflow_version=1,
            params=params,
            requested_by=person(),
            cluster=ClusterName(cluster),
            depends_on=depends_on,
        )

    def work(self, run: Run, *, most_looks: int | None = None) -> Run:
        """Until it ends, fails or asks; or has looked that often."""
        for _ in range(most_looks or MOST_LOOKS):
            now = self._look(run)
            if not _is_asleep(now):
                return now
        if most_looks is not None:
            return self.repository.get_run(run.id)
        raise AssertionError(f"{run.id} still waits after {MOST_LOOKS} looks: {self.repository.get_run(run.id)}")

    def work_with_processes(self, run: Run, *, within_seconds: float = 30.0) -> Run:
        """The same, where the twin runs processes that take real time."""

        def ended() -> Run | None:
            now = self._look(run)
            return None if _is_asleep(now) else now

        found = eventually(ended, within_seconds=within_seconds, what=f"the end of {run.id}")
        assert found is not None
        return found

    def _look(self, run: Run) -> Run:
        self._worker.work_until_idle()
        now = self.repository.get_run(run.id)
        if _is_asleep(now) and now.wake_at is not None:
            self.twin.advance(max((now.wake_at - self.twin.clock.now()).total_seconds(), 0) + 0.001)
        return now

    def open_question(self) -> Question:
        (question,) = self.repository.list_questions(status=QuestionStatus.OPEN)
        return question

    def answer(self, value: JsonValue) -> None:
        """With the option of that value, or as written where the question takes it."""
        question = self.open_question()
        option = next((option for option in question.options if option.value == value), None)
        self.repository.answer_question(
            question.id,
            options_version=question.options_version,
            principal=person(),
            option_id=option.id if option is not None else None,
            value=None if option is not None else value,
        )


def _is_asleep(run: Run) -> bool:
    return run.status is RunStatus.WAITING and run.waiting_for is None and run.wake_at is not None
