"""What a turn works with: the small state that is checkpointed, and the desk of everything that is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypedDict

from agent.models.wire import Model
from agent.toolbox.reads import LookTool
from core.clock import Clock
from core.governance.principals import Principal
from core.ids import ConversationId, PlanId
from core.messages.message import Language
from state.records import Plan, PlanStatus, TranscriptEntry
from state.repository import Repository
from workflows.operations import Operation, Reads


class TurnState(TypedDict, total=False):
    """Ids and counters only: a checkpoint stays far below 4 KB, and the rows remain the truth."""

    turn: int
    """Sequence of the user's transcript entry that this turn is about."""
    is_settling: bool
    """True when the turn only looks for an answer given elsewhere."""
    model_calls: int
    tokens: int
    repairs: int
    spent_seconds: float
    question_id: str | None
    """The plan-level question that was shown last, and the version of its options that was shown."""
    options_version: int
    refused_plan_id: str | None
    """A draft that was refused as it stands. The next message may correct it; after that it is over."""
    refused_turn: int
    """The turn in which it was refused."""
    ended: str
    """An `EndReason`, set with the step to `rest`."""
    next: str
    """The node that follows, decided by the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Where a turn ends politely."""

    model_calls: int = 8
    tokens: int = 60_000
    seconds: float = 120.0
    """Waiting for the model, over all calls of a turn."""
    seconds_per_call: float = 60.0
    repairs: int = 2
    input_characters: int = 20_000
    history_entries: int = 40
    approval_lasts: timedelta = timedelta(hours=24)
    open_tasks: int = 12
    """Operations in one plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Where Muster works: on every plan and in the prompt."""

    region: str
    account: str
    is_twin: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Everything that all conversations share."""

    repository: Repository
    operations: Mapping[str, Operation]
    workflow_versions: Mapping[str, int]
    reads: Reads
    look_tools: Mapping[str, LookTool]
    model: Model
    clock: Clock
    profile: Profile
    budgets: Budgets = field(default_factory=Budgets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The graph's context for one invocation; never checkpointed."""

    desk: Desk
    conversation_id: ConversationId
    principal: Principal
    language: Language

    @property
    def repository(self) -> Repository:
        return self.desk.repository

    def transcript(self, after: int = 0) -> list[TranscriptEntry]:
        return self.repository.list_transcript(self.conversation_id, after=after)

    def entry(self, sequence: int) -> TranscriptEntry:
        """Raises `LookupError` when the conversation has no such entry."""
        for found in self.transcript(after=sequence - 1):
            return found
        raise LookupError(f"no transcript entry {sequence}")

    def open_plan(self) -> Plan | None:
        """The plan of this conversation that is not decided: looked up, so a crash cannot lose it."""
        for status in (PlanStatus.PROPOSED, PlanStatus.DRAFT):
            found: Sequence[Plan] = self.repository.list_plans(
                status=status, conversation_id=self.conversation_id, limit=1
            )
            if found:
                return found[0]
        return None

    def plan(self, plan_id: str) -> Plan:
        return self.repository.get_plan(PlanId(plan_id))
