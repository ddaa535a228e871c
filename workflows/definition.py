"""What a workflow is: a typed list of named steps, each a small function from context to one outcome.

A step runs at least once: a crash before its outcome is committed runs it again. So it reads, asks, waits,
or changes something through `StepContext.perform`, which makes a change happen once whatever is lost.
Waiting and asking are outcomes, stored as rows; no thread sleeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from core.failures import Failure
from core.governance.principals import Principal
from core.ids import EvidenceId, StepName
from core.json_value import JsonObject, JsonValue
from core.messages.message import Message
from core.questions import QuestionDraft
from state.records import Run
from tools.contract import ArgsT, EffectTool, ReadTool, ResultT

ParamsT = TypeVar("ParamsT", bound=BaseModel)


class StepKind(StrEnum):
    PREFLIGHT = "preflight"
    """Reads only."""
    QUESTION = "question"
    EFFECT = "effect"
    """Changes something, through the ledger."""
    WAIT = "wait"
    """Counts what is there, with a deadline and progress."""
    VERIFY = "verify"
    """Proves the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """Go on: to the step that follows, or to `to`. `data` is merged into the run's data."""

    data: JsonObject = field(default_factory=dict)
    to: StepName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Run this step again after `delay`. `why` is shown; `data` is merged."""

    delay: timedelta
    why: Message
    data: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Put this question and run the step again once it is answered (or withdrawn: then the run is cancelled)."""

    question: QuestionDraft
    data: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Stop here. Nothing is rolled back; the run can be retried from this step."""

    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The run is done; `data` is merged."""

    data: JsonObject = field(default_factory=dict)


Outcome: TypeAlias = Next | Wait | Ask | Fail | Done


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a question of this run was answered."""

    value: JsonValue
    by: Principal
    at: datetime
    question_id: str


class StepContext(Protocol):
    """What a step may use. Anything else (clock, randomness, clients) it must not reach for."""

    @property
    def run(self) -> Run: ...

    @property
    def now(self) -> datetime: ...

    @property
    def step_started_at(self) -> datetime:
        """When this step first began, over all attempts: deadlines count from here."""
        ...

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT: ...

    def perform(self, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        """Carry the change out once. Returns the recorded result, also when it happened in an earlier attempt.

        Raises `ToolError`: uncaught, the engine retries a transient one with back-off, turns an unknown
        outcome into a question, and fails the step with class and evidence for the rest.
        """
        ...

    def answer(self, question_name: str) -> Answer | None:
        """The answer to this run's question of that name; absent until it was asked and answered."""
        ...

    def report(self, progress: Message, *, done: int | None = None, total: int | None = None) -> None:
        """Shown to whoever watches. Committed with the step's outcome; equal reports are shown once."""
        ...

    def keep_evidence(self, kind: str, text: str) -> EvidenceId:
        """Raw material for people, stored at once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[ParamsT]):
    name: StepName
    kind: StepKind
    title: Message
    """What people see while it runs."""
    function: Callable[[StepContext, ParamsT], Outcome]
    phase: str = ""
    """Steps of one phase are timed together in summaries; absent = the step's own name."""
    deadline: timedelta | None = None
    """A step that still waits this long after it began fails, saying what it waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow(Generic[ParamsT]):
    """Named and versioned: a run goes on only under the version that it began with.

    Raises `ValueError` when two steps share a name or there is none.
    """

    name: str
    version: int
    params: type[ParamsT]
    steps: tuple[Step[ParamsT], ...]
    title: Message
    shares_cluster: bool = False
    """True: its runs may work on one cluster beside each other (jobs). Others have the cluster to themselves."""

    _by_name: Mapping[StepName, Step[ParamsT]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {step.name: step for step in self.steps})
        names = [step.name for step in self.steps]
        if not names or len(set(names)) != len(names):
            raise ValueError(f"workflow {self.name!r} needs steps with names of their own, not {names!r}")

    def step(self, name: StepName) -> Step[ParamsT]:
        """Raises `KeyError` for a step that this version does not have."""
        return self._by_name[name]

    def after(self, name: StepName) -> StepName | None:
        """The step that follows, `None` at the end."""
        names = [step.name for step in self.steps]
        position = names.index(name)
        return names[position + 1] if position + 1 < len(names) else None

    @property
    def first(self) -> Step[ParamsT]:
        return self.steps[0]

    def execute(self, name: StepName, context: StepContext, params: JsonObject) -> Outcome:
        """Runs one step. Raises what the step raises, and `pydantic.ValidationError` for other parameters."""
        return self._by_name[name].function(context, self.params.model_validate(params))


AnyStep: TypeAlias = Step[Any]
AnyWorkflow: TypeAlias = Workflow[Any]
"""Of whatever parameters: what a catalogue and a registry hold."""
