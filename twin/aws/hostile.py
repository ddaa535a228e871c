"""Answers as a newer service may give them: members, enum values and orders that no client has seen."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from botocore.model import ListShape, MapShape, Shape, StringShape, StructureShape

ENUM_SHARE = 0.08
"""Of enum values that become one nobody knows: few enough that a client that asks again gets on."""
NEW_VALUE = "ValueOfALaterRelease"
NEW_MEMBER = "MemberOfALaterRelease"


@dataclass(frozen=True, slots=True)
class Disturbance:
    random: Random

    def __call__(self, shape: Shape, value: object) -> object:
        """The JSON `value` of `shape`, disturbed. Unions keep their one member: botocore breaks on two."""
        match shape, value:
            case StructureShape(), dict():
                wire = {member.serialization.get("name", name): member for name, member in shape.members.items()}
                disturbed = {key: self(wire[key], item) if key in wire else item for key, item in value.items()}
                return disturbed if shape.metadata.get("union") else disturbed | {NEW_MEMBER: {"Since": "later"}}
            case ListShape(), list():
                items = [self(shape.member, item) for item in value]
                self.random.shuffle(items)
                return items
            case MapShape(), dict():
                return {key: self(shape.value, item) for key, item in value.items()}
            case StringShape(), str() if shape.enum and self.random.random() < ENUM_SHARE:
                return NEW_VALUE
            case _:
                return value
