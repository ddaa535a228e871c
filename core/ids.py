"""Identifiers: one `NewType` per thing, and the source that makes fresh ones."""

from __future__ import annotations

from random import Random
from typing import NewType, Protocol

ActorId = NewType("ActorId", str)
ClusterName = NewType("ClusterName", str)
ConversationId = NewType("ConversationId", str)
EffectKey = NewType("EffectKey", str)
EvidenceId = NewType("EvidenceId", str)
IncidentId = NewType("IncidentId", str)
InstanceId = NewType("InstanceId", str)
"""`i-` and 8 or 17 hex digits: changes when the node is replaced."""
InstanceTypeName = NewType("InstanceTypeName", str)
"""HyperPod's spelling, `ml.p5.48xlarge`."""
NodeLogicalId = NewType("NodeLogicalId", str)
"""Stable across replacement, and present before an instance id is."""
PlanId = NewType("PlanId", str)
QuestionId = NewType("QuestionId", str)
RunId = NewType("RunId", str)
StepName = NewType("StepName", str)
TeamName = NewType("TeamName", str)
WorkerId = NewType("WorkerId", str)
ZoneId = NewType("ZoneId", str)
"""A physical zone, `usw2-az2`: the same in every account, unlike the zone name `us-west-2b`."""

_ALPHABET = "abcdefghjkmnpqrstvwxyz0123456789"
_LENGTH = 12


class Ids(Protocol):
    """Makes ids of the form `<prefix>-<12 characters>`."""

    def new(self, prefix: str) -> str: ...


class RandomIds:
    """Ids drawn from the given generator: seeded in tests and evals, `SystemRandom` in production."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def new(self, prefix: str) -> str:
        return f"{prefix}-{''.join(self._random.choices(_ALPHABET, k=_LENGTH))}"
