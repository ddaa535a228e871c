"""The rows that must never be lost, as frozen values. `state.repository` reads and writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.failures import Failure
from core.governance.principals import Principal
from core.ids import (
    ClusterName,
    ConversationId,
    EffectKey,
    EvidenceId,
    PlanId,
    QuestionId,
    RunId,
    StepName,
    WorkerId,
)
from core.json_value import JsonObject, JsonValue, digest
from core.messages.message import Language, Message
from core.questions import Option, QuestionKind


class RunStatus(StrEnum):
    QUEUED = "queued"
    """Not begun: no worker yet, or a run it depends on is not done."""
    RUNNING = "running"
    WAITING = "waiting"
    """Until `wake_at`, or for `waiting_for`."""
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REFUSED = "refused"

    @property
    def is_finished(self) -> bool:
        return self in {RunStatus.DONE, RunStatus.CANCELLED, RunStatus.REFUSED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One execution of a workflow. `params` are frozen at approval; `data` grows with its steps."""

    id: RunId
    workflow: str
    workflow_version: int
    params: JsonObject
    requested_by: Principal
    status: RunStatus
    created_at: datetime
    updated_at: datetime
    cluster: ClusterName | None = None
    """The cluster it works on: conflicting runs of one cluster go one after another."""
    plan_id: PlanId | None = None
    plan_node: str | None = None
    conversation_id: ConversationId | None = None
    depends_on: tuple[RunId, ...] = ()
    data: JsonObject = field(default_factory=dict)
    step: StepName | None = None
    """The step that is running or comes next."""
    attempt: int = 0
    """How often the present step began; for people, never part of a key."""
    wake_at: datetime | None = None
    waiting_for: QuestionId | None = None
    reason: Message | None = None
    """Why it waits, is paused or ended as it did."""
    failure: Failure | None = None
    fence: int = 0
    """Grows with every claim; a write that carries an older one is refused."""
    lease_owner: WorkerId | None = None
    lease_expires_at: datetime | None = None
    stop_requested: RunStatus | None = None
    """`paused` or `cancelled`: what a person asked for while a worker holds the run; obeyed at the next commit."""
    stop_requested_by: Principal | None = None


class StepStatus(StrEnum):
    STARTED = "started"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """What one step did: one row per run and step name."""

    run_id: RunId
    name: StepName
    kind: str
    status: StepStatus
    attempts: int
    started_at: datetime
    ended_at: datetime | None = None
    progress: Message | None = None
    output: JsonObject = field(default_factory=dict)
    """What its outcomes merged into the run's data."""
    retries: int = 0
    """How often it began again by itself: after a passing fault of the platform, or because its worker was lost."""


class EffectStatus(StrEnum):
    INTENDED = "intended"
    APPLIED = "applied"
    FAILED = "failed"
    """The platform refused it: it certainly did not happen."""
    UNKNOWN = "unknown"
    """It can't be told whether it happened: a human is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One change to the outside. `key` = hash(run, step, tool, canonical arguments), the same on every attempt."""

    key: EffectKey
    run_id: RunId
    step: StepName
    tool: str
    args: JsonObject
    token: str
    """Sent to the provider where it honours one."""
    status: EffectStatus
    fence: int
    intended_at: datetime
    called_at: datetime
    """No call was made later than this, but for the last one: what the platform shows settles from here on."""
    before: JsonObject = field(default_factory=dict)
    """What the tool read before the first call (counts), so that the effect can be told from what was there."""
    settled_at: datetime | None = None
    result: JsonObject | None = None
    rounds: int = 0
    """How often it became `unknown`: each time is a question of its own."""


class QuestionStatus(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    """The one who asked no longer needs it (cancelled run, corrected goal)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Asked by a run or by a plan; the first valid answer wins."""

    id: QuestionId
    name: str
    kind: QuestionKind
    prompt: Message
    options: tuple[Option, ...]
    options_version: int
    status: QuestionStatus
    asked_at: datetime
    takes_other: bool = False
    field: str | None = None
    details: tuple[Message, ...] = ()
    run_id: RunId | None = None
    plan_id: PlanId | None = None
    conversation_id: ConversationId | None = None
    expires_at: datetime | None = None
    answer: JsonValue = None
    """The chosen option's value, or the value as written where `takes_other`."""
    answered_by: Principal | None = None
    answered_at: datetime | None = None
    plan_digest: str | None = None
    """For the approval of a plan: what exactly was shown."""


class PlanStatus(StrEnum):
    DRAFT = "draft"
    """Choices or values are still missing."""
    PROPOSED = "proposed"
    """Complete; its approval is asked."""
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanNode:
    """One operation of a plan. `choices` are `core.choices.Choice.to_json()` objects by kind."""

    id: str
    operation: str
    params: JsonObject
    choices: JsonObject = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Operations in order, approved as one. Its runs are created in the transaction that approves it."""

    id: PlanId
    conversation_id: ConversationId | None
    requested_by: Principal
    status: PlanStatus
    nodes: tuple[PlanNode, ...]
    envelope: JsonObject
    """What an approval allows: targets, frozen ids, most cost per hour in cents, quotes; hashed with the nodes."""
    created_at: datetime
    updated_at: datetime

    @property
    def digest(self) -> str:
        """Of everything that is approved: the nodes and the envelope."""
        nodes: list[JsonObject] = [
            {
                "id": node.id,
                "operation": node.operation,
                "params": node.params,
                "choices": node.choices,
                "depends_on": node.depends_on,
            }
            for node in self.nodes
        ]
        return digest({"nodes": nodes, "envelope": self.envelope})


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    id: ConversationId
    title: str
    language: Language
    started_by: Principal
    created_at: datetime
    updated_at: datetime


class Speaker(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptEntry:
    """One turn's part. Only `user` entries of the requester can carry a `said` choice."""

    conversation_id: ConversationId
    sequence: int
    speaker: Speaker
    text: str
    at: datetime
    principal: Principal | None = None
    message: Message | None = None
    """Set where code wrote the text, so that it can be shown in another language."""
    tool_calls: JsonValue = None
    """Chat Completions `tool_calls` of an assistant entry."""
    tool_call_id: str | None = None


class FeedKind(StrEnum):
    STATUS = "status"
    PROGRESS = "progress"
    QUESTION = "question"
    ANSWER = "answer"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """What a channel shows while work goes on; read by cursor (`sequence` grows over the whole database)."""

    sequence: int
    kind: FeedKind
    message: Message
    at: datetime
    conversation_id: ConversationId | None = None
    run_id: RunId | None = None
    question_id: QuestionId | None = None
    data: JsonObject = field(default_factory=dict)
    """For progress: `{"done": int, "total": int}` and whatever the channel may draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Raw material kept before anything is cleaned up. Untrusted: shown escaped, never obeyed."""

    id: EvidenceId
    run_id: RunId | None
    kind: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One status change with its actor and reason; `hash` chains the events of one subject."""

    subject: str
    """The run's, plan's or question's id."""
    sequence: int
    what: str
    """`run.status`, `question.answered` and so on."""
    before: str | None
    after: str
    actor: Principal
    reason: Message | None
    at: datetime
    previous_hash: str
    hash: str
