"""What a human is asked: one shape for choices, missing values, targets and approvals."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.json_value import JsonValue
from core.messages.message import Message


class QuestionKind(StrEnum):
    AVAILABILITY_ZONE = "availability_zone"
    INSTANCE_TYPE = "instance_type"
    CAPACITY = "capacity"
    APPROVAL = "approval"
    TARGET = "target"
    """Which cluster, group, node or job is meant."""
    STORAGE = "storage"
    MISSING = "missing"
    """Any other required value; `field` names it."""
    OUTCOME = "outcome"
    """Whether a change happened whose answer was lost and which can't be told by looking."""


APPROVE, REJECT = "approve", "reject"
"""The values of the two options of an approval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer on offer.

    `value` by question kind: zone id; type name; `{"mode", "count", "plan"?, "zone"?, "type"?}`;
    `approve` or `reject`; a name; `{"kind", "id"? , "size_gib"?, "mount"}`; the field's value.
    """

    id: str
    """Opaque, unique within the question's options version."""
    value: JsonValue
    label: Message
    evidence: tuple[Message, ...] = ()
    """Why it is on the list and where it stands in it: offered there, quota left, price, expected wait."""
    is_recommended: bool = False

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "id": self.id,
            "value": self.value,
            "label": self.label.to_json(),
            "evidence": [item.to_json() for item in self.evidence],
            "is_recommended": self.is_recommended,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionDraft:
    """A question before it is asked. `name` identifies it within its asker, so asking twice is asking once."""

    name: str
    kind: QuestionKind
    prompt: Message
    options: tuple[Option, ...]
    takes_other: bool = False
    """True: an answer that is no option is taken as written and validated (capacity, storage, missing)."""
    field: str | None = None
    """For `missing`: which parameter."""
    details: tuple[Message, ...] = ()
    """Lines under the prompt: the card of an approval."""
