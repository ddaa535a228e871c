"""What is found in a text before it is a choice: a mention with its place, its value and its standing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.choices import Choice
from core.json_value import JsonValue


class MentionKind(StrEnum):
    ZONE = "zone"
    INSTANCE_TYPE = "instance_type"
    COUNT = "count"
    MODE = "mode"


class Unit(StrEnum):
    """What a number counts."""

    NODES = "nodes"
    ACCELERATORS = "accelerators"
    BARE = "bare"
    """Nothing named: a count only where a correction says so (`make it 8`)."""


class Role(StrEnum):
    """What the words around a count are about."""

    CAPACITY = "capacity"
    """Nodes that a cluster gets."""
    JOB = "job"
    """Nodes that a job runs on: a parameter, not a human choice."""


class Standing(StrEnum):
    """Whether a mention is a choice, and why not."""

    USABLE = "usable"
    NEGATED = "negated"
    ALTERNATIVE = "alternative"
    """Named beside another with "or", in a range, as a maybe or an estimate."""
    QUOTED = "quoted"
    """Inside quotation marks, backticks, a pasted block or log lines."""
    OTHER_PERSON = "other_person"
    """Words of somebody else: forwarded, reported."""
    QUESTION = "question"
    """In a question about the world, not in a request."""
    CONDITIONAL = "conditional"
    SUPERSEDED = "superseded"
    """Corrected later, in the same message or the same goal."""
    DESCRIPTION = "description"
    """Says how something is, not how it shall be."""
    OTHER_ROLE = "other_role"
    """A number of something else, such as the nodes of a job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    kind: MentionKind
    start: int
    end: int
    value: str | int
    standing: Standing = Standing.USABLE
    unit: Unit | None = None
    role: Role = Role.CAPACITY
    plan: str | None = None
    """For a mode of `training_plan`: the plan's name, when it was said."""

    @property
    def is_positive(self) -> bool:
        return self.standing is Standing.USABLE

    def with_standing(self, standing: Standing) -> Mention:
        """The first reason against a mention stays."""
        return self if self.standing is not Standing.USABLE else replace(self, standing=standing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A choice found in the requester's own words; the model may cite its id, nothing more.

    `facts` hold what belongs to no choice but helps to build options, such as `accelerators` (a number of
    GPUs instead of nodes).
    """

    id: str
    choice: Choice
    standing: Standing
    sequence: int
    """Which transcript entry it is from."""
    position: int = 0
    facts: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def is_usable(self) -> bool:
        return self.standing is Standing.USABLE
