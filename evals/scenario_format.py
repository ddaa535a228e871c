"""A scenario as written: the twin's world, what goes wrong, what the human says and answers, what must be true.

The models are strict: an unknown key is an error, so that a misspelt expectation can't pass unseen.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId
from core.messages.message import Language
from core.questions import QuestionKind
from twin.faults import FaultSpec
from twin.world.specification import WorldSpec

KILL_WORKER = "kill_worker"
MOMENTS = ("before_first_effect", "effect:", "step:", "job_running:", "seconds:")
ABSENT = "absent"
_OF_JOBS = frozenset({"job_hang", "loss_nan"})
Count: TypeAlias = Annotated[int, Field(ge=0)]
Call: TypeAlias = Annotated[str, Field(pattern=r"^[^\s:]+:[^\s:]+(:[^\s:]+)?$")]
"""`sagemaker:CreateCluster`, `k8s:create:hyperpodpytorchjobs`."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Actor(_Strict):
    user: Annotated[str, Field(min_length=1)]
    role: Role
    project: str | None = None

    @property
    def principal(self) -> Principal:
        """As it sits at a terminal; shown as scripted wherever it answers."""
        return Principal(
            id=ActorId(self.user), role=self.role, channel=Channel.TERMINAL, project=self.project, is_scripted=True
        )


class Boundary(_Strict):
    """The organisation's boundary, costs in USD; an absent limit is none."""

    max_nodes_per_cluster: Count | None = None
    allowed_types: tuple[str, ...] | None = None
    allowed_regions: tuple[str, ...] | None = None
    max_cost_per_hour: Annotated[float | None, Field(ge=0)] = None


class FaultEntry(_Strict):
    """One fault and its moment. The twin checks what each kind needs; here are the ones that it can't know."""

    kind: str
    at: str = "seconds:0"
    zone: str | None = None
    type: str | None = None
    to: Count | None = None
    cluster: str | None = None
    node: Count | None = None
    job_node: Count | None = None
    job: str | None = None
    code: int | None = None
    factor: float | None = None
    seconds: float | None = None

    @field_validator("at")
    @classmethod
    def _is_moment(cls, value: str) -> str:
        if not any(value == moment or (moment[-1] == ":" and value.startswith(moment)) for moment in MOMENTS):
            raise ValueError(f"not a moment: {value!r}")
        if value.startswith("seconds:") and not re.fullmatch(r"\d+(\.\d+)?", value.removeprefix("seconds:")):
            raise ValueError(f"not a number of seconds: {value!r}")
        if value.startswith("step:") and not re.fullmatch(r"step:\w+\.\w+", value):
            raise ValueError(f"not `step:WORKFLOW.STEP`: {value!r}")
        return value

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self.kind != KILL_WORKER:
            FaultSpec.model_validate(self.for_twin(at=self.at))
        elif extra := self.model_dump(exclude_none=True).keys() - {"kind", "at"}:
            raise ValueError(f"kill_worker takes no {', '.join(sorted(extra))}")
        return self

    def for_twin(self, *, at: str) -> dict[str, JsonValue]:
        """What the twin is given. A step is nothing that it can see: such a fault is given to it when it is due."""
        given: dict[str, JsonValue] = self.model_dump(exclude_none=True, exclude={"at"})
        moment = "" if at.startswith("step:") else at
        is_named = self.kind in _OF_JOBS and at.startswith("job_running:")
        named: dict[str, JsonValue] = {"job": at.removeprefix("job_running:")} if is_named else {}
        return named | given | ({"at": moment} if moment else {})


class Turn(_Strict):
    user: Annotated[str, Field(min_length=1)]


class ExpectedRun(_Strict):
    workflow: str
    status: Literal["done", "failed", "cancelled", "waiting", "refused"]


class ExpectedGroup(_Strict):
    type: str | None = None
    running: Count | None = None
    target: Count | None = None


class ExpectedJob(_Strict):
    state: Literal["Pending", "Running", "Suspended", "Succeeded", "Failed", "Stopped"] | None = None
    nodes: Count | None = None
    resumed_from_step: Count | None = None


class ExpectedTeam(_Strict):
    accelerators: Count | None = None
    borrow_percent: Count | None = None


class ExpectedCluster(_Strict):
    orchestrator: Literal["eks", "slurm"] | None = None
    zone: str | None = None
    recovery: Literal["Automatic", "None"] | None = None
    status: str | None = None
    nodes_running: Count | None = None
    nodes_replaced: Count | None = None
    nodes_rebooted: Count | None = None
    mounts: tuple[str, ...] | None = None
    groups: dict[str, ExpectedGroup | Literal["absent"]] | None = None
    jobs: dict[str, ExpectedJob | Literal["absent"]] | None = None
    teams: dict[str, ExpectedTeam | Literal["absent"]] | None = None


class ExpectedLive(_Strict):
    clusters: dict[str, ExpectedCluster | Literal["absent"]] | None = None
    file_systems: Count | None = None


class Expect(_Strict):
    runs: tuple[ExpectedRun, ...] = ()
    no_runs: bool = False
    live: ExpectedLive = ExpectedLive()
    asked: tuple[QuestionKind, ...] = ()
    not_asked: tuple[QuestionKind, ...] = ()
    max_questions: Count | None = None
    forbidden: tuple[Call, ...] = ()
    effects: dict[Call, Count] = {}
    says: tuple[str, ...] = ()

    @field_validator("says")
    @classmethod
    def _are_patterns(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"not a regular expression: {pattern!r}: {error}") from None
        return value


class Scenario(_Strict):
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$")]
    lang: Language
    tags: tuple[str, ...] = ()
    actor: Actor
    world: WorldSpec
    faults: tuple[FaultEntry, ...] = ()
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    answers: dict[QuestionKind, JsonValue] = {}
    """By question kind; a list is used in order, anything else answers every question of the kind."""
    expect: Expect

    @field_validator("world")
    @classmethod
    def _has_known_boundary(cls, value: WorldSpec) -> WorldSpec:
        Boundary.model_validate(value.governance)
        return value
