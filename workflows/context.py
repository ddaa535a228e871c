"""What a running step sees: reads, effects through the ledger, answers, and a place for progress."""

from __future__ import annotations

from datetime import datetime

from core.clock import Clock
from core.ids import EvidenceId
from core.json_value import JsonObject
from core.messages.message import Message
from state.records import Run, StepRecord
from state.repository import Repository
from state.steps import Report
from tools.access import ToolAccess
from tools.contract import ArgsT, EffectTool, ReadTool, ResultT
from tools.idempotency import EffectLedger
from workflows.definition import Answer
from workflows.questions import answer_to


class RunningStep:
    """The `StepContext` of one attempt. What it collects is committed with the step's outcome."""

    def __init__(
        self,
        run: Run,
        record: StepRecord,
        *,
        repository: Repository,
        tools: ToolAccess,
        clock: Clock,
        ledger: EffectLedger,
    ) -> None:
        self._run, self._record = run, record
        self._repository, self._tools, self._clock, self._ledger = repository, tools, clock, ledger
        self.reports: list[Report] = []

    @property
    def run(self) -> Run:
        return self._run

    @property
    def now(self) -> datetime:
        return self._clock.now()

    @property
    def step_started_at(self) -> datetime:
        return self._record.started_at

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT:
        return self._tools.read(tool, args)

    def perform(self, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        return self._ledger.perform(self._run, self._record.name, tool, args)

    def answer(self, question_name: str) -> Answer | None:
        return answer_to(self._repository, self._run.id, question_name)

    def report(self, progress: Message, *, done: int | None = None, total: int | None = None) -> None:
        counts = {name: count for name, count in (("done", done), ("total", total)) if count is not None}
        self.reports.append(Report(message=progress, data=counts))

    def keep_evidence(self, kind: str, text: str) -> EvidenceId:
        return self._repository.keep_evidence(run_id=self._run.id, kind=kind, text=text)
