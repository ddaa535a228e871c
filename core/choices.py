"""Human choices and where they came from.

Availability zone, instance type and capacity are chosen by people. A choice without an origin does not
exist: code that builds a plan asks for it instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.json_value import JsonValue

ELISION = " … "
"""Between pieces of one message in a quote, where other words stood between them."""
LATER = " → "
"""Between what was said first and what a later message completed, in a quote."""


class ChoiceKind(StrEnum):
    """What only a human may choose; the values are also the kinds of the questions that ask for it."""

    AVAILABILITY_ZONE = "availability_zone"
    INSTANCE_TYPE = "instance_type"
    CAPACITY = "capacity"


class Origin(StrEnum):
    """How the human's choice reached us."""

    SAID = "said"
    """In the requester's own unquoted words of the present goal, extracted by code."""
    ANSWERED = "answered"
    """By an answer to a question that named this choice."""
    EXISTING = "existing"
    """Fixed by the group or cluster that the human targeted."""
    RUNBOOK_PARAMETER = "runbook_parameter"
    """From an authenticated principal whose scope allows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One human choice with its evidence.

    `value` by kind: `availability_zone` a zone id (or a zone name such as `us-west-2b`, as it was said:
    whoever prepares the operation looks its id up); `instance_type` a HyperPod type name; `capacity` an
    object `{"mode": CapacityMode | None, "count": int | None, "plan": str | None}`. Null is the part
    that nobody has chosen yet: the capacity question keeps what was said and asks for the rest.
    """

    kind: ChoiceKind
    value: JsonValue
    origin: Origin
    quote: str
    """The words, the option's text or the resource that carries it: shown on the approval card."""
    reference: str
    """Id of the transcript entry, question, cluster or runbook request that `quote` is from."""

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "kind": self.kind.value,
            "value": self.value,
            "origin": self.origin.value,
            "quote": self.quote,
            "reference": self.reference,
        }
