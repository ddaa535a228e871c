"""A conversation in a test: the real graph and repository, a scripted model, fake operations."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TypeVar

from agent.assistant import Assistant
from agent.conversation import Budgets, Profile
from agent.events import AgentEvent, EndReason, QuestionAsked, Refusal, Said, TextWhole, TurnEnded
from agent.models.wire import Model
from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, ConversationId, RandomIds
from core.json_value import JsonValue
from core.messages.message import Language
from state.records import Plan, PlanNode, Question, QuestionStatus, Run
from state.repository import Repository, open_repository
from tests.fakes.model import ScriptedModel, Turn
from tests.fakes.operations import FakeCreateCluster, FakeReads, FakeSubmitJob, fake_list_clusters

ANA = Principal(id=ActorId("ana"), role=Role.PLATFORM_ADMIN, channel=Channel.TERMINAL)
PROFILE = Profile(region="us-west-2", account="111122223333", is_twin=True)
EventT = TypeVar("EventT")


class TickingClock:
    """Each look is one millisecond later; `skip` moves on."""

    def __init__(self) -> None:
        self._now = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        self._now += timedelta(milliseconds=1)
        return self._now

    def skip(self, delta: timedelta) -> None:
        self._now += delta


@dataclass
class Talk:
    assistant: Assistant
    repository: Repository
    model: ScriptedModel
    conversation_id: ConversationId
    create: FakeCreateCluster
    submit: FakeSubmitJob
    clock: TickingClock
    shown: list[JsonValue]
    """What the list of clusters shows."""
    checkpoints: Path
    events: list[AgentEvent] = field(default_factory=list)

    def send(self, text: str, *script: Turn, principal: Principal = ANA) -> list[AgentEvent]:
        """One turn; `script` is what the model does in it."""
        self.model.script += script
        self.events = list(self.assistant.send(self.conversation_id, text, principal))
        return self.events

    def resume(self) -> list[AgentEvent]:
        self.events = list(self.assistant.resume(self.conversation_id))
        return self.events

    def answer(self, option_id: str | None = None, value: str | None = None) -> Question:
        """Through the repository, as another channel does."""
        question = self.asked
        return self.repository.answer_question(
            question.id, options_version=question.options_version, principal=ANA, option_id=option_id, value=value
        )

    def look_says(self, clusters: list[JsonValue]) -> None:
        self.shown[:] = clusters

    def checkpoint_sizes(self) -> list[int]:
        """Bytes of each checkpoint's state."""
        with closing(sqlite3.connect(self.checkpoints)) as connection:
            return [len(row[0]) for row in connection.execute("SELECT checkpoint FROM checkpoints")]

    @property
    def asked(self) -> Question:
        """The question that this turn showed last."""
        return self.of(QuestionAsked)[-1].question

    @property
    def ended(self) -> EndReason:
        [end] = self.of(TurnEnded)
        return end.reason

    @property
    def sentences(self) -> list[str]:
        said = [event.message.english() for event in self.events if isinstance(event, Said | Refusal)]
        return said + [event.text for event in self.of(TextWhole)]

    @property
    def plans(self) -> list[Plan]:
        return self.repository.list_plans(conversation_id=self.conversation_id)

    @property
    def nodes(self) -> Sequence[PlanNode]:
        return self.plans[0].nodes

    @property
    def runs(self) -> list[Run]:
        return self.repository.list_runs(conversation_id=self.conversation_id)

    @property
    def open_questions(self) -> list[Question]:
        return self.repository.list_questions(status=QuestionStatus.OPEN)

    def of(self, kind: type[EventT]) -> list[EventT]:
        return [event for event in self.events if isinstance(event, kind)]


def begin_talk(folder: Path, *, budgets: Budgets | None = None, model: Model | None = None) -> Talk:
    """A fresh conversation in `folder`; without another model it follows the scripts given to `send`."""
    clock, scripted = TickingClock(), ScriptedModel()
    repository = open_repository(folder / "muster.db", clock=clock, ids=RandomIds(Random(1)))
    create, submit = FakeCreateCluster(), FakeSubmitJob()
    shown: list[JsonValue] = [{"name": "base"}]
    assistant = Assistant(
        repository=repository,
        operations=[create, submit],
        workflow_versions={"create_cluster": 1, "submit_job": 1},
        reads=FakeReads(),
        look_tools=[fake_list_clusters(shown)],
        model=model or scripted,
        clock=clock,
        profile=PROFILE,
        checkpoints_path=folder / "checkpoints.db",
        budgets=budgets,
    )
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=ANA)
    return Talk(
        assistant=assistant,
        repository=repository,
        model=scripted,
        conversation_id=conversation.id,
        create=create,
        submit=submit,
        clock=clock,
        shown=shown,
        checkpoints=folder / "checkpoints.db",
    )
