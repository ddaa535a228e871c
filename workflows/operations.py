"""What can be asked of Muster: each operation turns a draft into a refusal, a question or a finished plan node.

Chat, API and runbooks all come through here, so the questions, the refusals and the card are the same
everywhere. `prepare` reads the world and changes nothing; it is called again after every answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pydantic import BaseModel

from core.choices import Choice, ChoiceKind
from core.governance.principals import Principal
from core.ids import ClusterName
from core.json_value import JsonObject
from core.messages.message import Message
from core.questions import QuestionDraft
from core.reasons import RefusalReason
from core.risk import Risk
from tools.contract import ArgsT, ReadTool, ResultT


class Reads(Protocol):
    """The world, for looking only."""

    @property
    def region(self) -> str: ...

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is wanted so far. `params` hold everything that is not a human choice; a missing key is unset."""

    node_id: str
    params: JsonObject
    choices: Mapping[ChoiceKind, Choice]
    requested_by: Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCluster:
    """A cluster that an earlier node of the same plan will create: later nodes may already target it."""

    name: ClusterName
    node_id: str
    details: JsonObject
    """As the creating operation's `Ready.run_params`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """One thing that only a human can give. The name of its question says where the answer belongs:

    a `ChoiceKind` value sets that choice (origin `answered`); `params.<field>` sets that parameter.
    """

    question: QuestionDraft


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """This cannot be done as wished; nothing was changed. `remedies` say what would help."""

    reason: RefusalReason
    message: Message
    remedies: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Everything is known: what the run will be given, and what a human is shown before approving."""

    run_params: JsonObject
    """Validated against the workflow's parameter model; choices included, with their origins under `choices`."""
    cluster: ClusterName | None
    risk: Risk
    card: tuple[Message, ...]
    """Lines for the plan card, each choice quoted with its origin."""
    cost_cents_per_hour: int
    """Most that this adds per hour at the quoted prices; 0 when it adds nothing."""
    blast_radius: tuple[Message, ...] = ()
    """Jobs, nodes and volumes that are lost or disturbed."""
    depends_on: tuple[str, ...] = ()
    """Ids of plan nodes that must be done before."""
    planned_cluster: PlannedCluster | None = None


Preparation: TypeAlias = Missing | Refused | Ready


class Operation(Protocol):
    """One verb of the assistant."""

    @property
    def name(self) -> str:
        """Also the workflow's name and, as `propose_<name>`, the model's tool."""
        ...

    @property
    def description(self) -> str:
        """For the model, in English: what it does and what each parameter means."""
        ...

    @property
    def params(self) -> type[BaseModel]:
        """Parameters that the model may fill in: flat, every field optional, no human choices among them."""
        ...

    @property
    def human_choices(self) -> frozenset[ChoiceKind]:
        """Choices that this operation needs; the model may only cite candidates for them."""
        ...

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation: ...
