"""Cordons and who owns them: a node is opened only by those who closed it, and only when none of them is left.

The state is always worked out anew from the active set, never from a remembered "last" cordon: NVSentinel's
issues 458, 1416, 1424, 1439 and 1872 are all about a cordon that outlived its reason or was lifted by the wrong hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.health.remediation.fleet import MUSTER
from core.ids import IncidentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordon:
    """One reason why a node is closed. Two incidents on one node hold two cordons."""

    host: str
    owner: str
    incident: IncidentId | None = None


class UncordonAnswer(StrEnum):
    OPEN = "open"
    """The last cordon is gone: make the node schedulable, and remove every mark that Muster left."""
    STAYS_FOR_OTHER_INCIDENT = "stays_for_other_incident"
    STAYS_FOR_OTHER_OWNER = "stays_for_other_owner"
    NOT_OURS = "not_ours"
    """Muster holds no cordon for this incident on this node: nothing to lift."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    answer: UncordonAnswer
    remaining: frozenset[Cordon]


def release(cordons: Iterable[Cordon], *, host: str, incident: IncidentId) -> Released:
    """Lift Muster's cordon of one incident. Calling it twice changes nothing the second time."""
    held = frozenset(cordons)
    ours = {cordon for cordon in held if _is_ours(cordon, host) and cordon.incident == incident}
    remaining = held - ours
    here = [cordon for cordon in remaining if cordon.host == host]
    if not ours:
        return Released(answer=UncordonAnswer.NOT_OURS, remaining=remaining)
    if any(cordon.owner != MUSTER for cordon in here):
        return Released(answer=UncordonAnswer.STAYS_FOR_OTHER_OWNER, remaining=remaining)
    if here:
        return Released(answer=UncordonAnswer.STAYS_FOR_OTHER_INCIDENT, remaining=remaining)
    return Released(answer=UncordonAnswer.OPEN, remaining=remaining)


def opened_by_person(cordons: Iterable[Cordon], *, host: str) -> frozenset[Cordon]:
    """A person made the node schedulable: all of Muster's cordons there are void, and nothing re-applies them."""
    return frozenset(cordon for cordon in cordons if not _is_ours(cordon, host))


def _is_ours(cordon: Cordon, host: str) -> bool:
    return cordon.host == host and cordon.owner == MUSTER
