"""A step's context without an engine: reads answer from a table, and what the step says is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from core.ids import EvidenceId, RunId
from core.json_value import JsonObject
from core.messages.message import Message
from state.records import Run, RunStatus
from tests.builders.people import person
from tests.fakes.clock import START
from tools.contract import ArgsT, EffectTool, ReadTool, ResultT
from workflows.definition import Answer


@dataclass(slots=True)
class FakeContext:
    """`facts`: read tool's name -> its result. A tool without a fact is a mistake of the test."""

    facts: Mapping[str, object]
    data: JsonObject = field(default_factory=dict)
    now: datetime = START
    step_started_at: datetime = START
    answers: Mapping[str, Answer] = field(default_factory=dict)
    reports: list[Message] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)

    @property
    def run(self) -> Run:
        return Run(
            id=RunId("run-1"),
            workflow="toy",
            workflow_version=1,
            params={},
            requested_by=person(),
            status=RunStatus.RUNNING,
            created_at=START,
            updated_at=START,
            data=self.data,
        )

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT:
        return cast(ResultT, self.facts[tool.name])

    def perform(self, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        raise AssertionError(f"this step changes nothing, but performed {tool.name}")

    def answer(self, question_name: str) -> Answer | None:
        return self.answers.get(question_name)

    def report(self, progress: Message, *, done: int | None = None, total: int | None = None) -> None:
        self.reports.append(progress)

    def keep_evidence(self, kind: str, text: str) -> EvidenceId:
        self.evidence.append(text)
        return EvidenceId(f"evidence-{len(self.evidence)}")
