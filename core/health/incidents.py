"""Incident: one open problem with a life, from the first signal to the job that runs again.

A pure state machine: `advance` checks the transition and returns a new incident with its history. Time lost is
the time from the first signal to the moment that the job was verified, or that the incident closed without one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from core.health.faults import Fault, Remediation
from core.health.signals import NodeIdentity
from core.ids import ActorId, IncidentId
from core.messages.message import Message, message
from core.reasons import OpsError, WhoActs


class IncidentState(StrEnum):
    OPEN = "open"
    CONFIRMED = "confirmed"
    FOLLOWING = "following"
    """HyperPod's own recovery is at work."""
    AWAITING_APPROVAL = "awaiting_approval"
    DRAINING = "draining"
    """Cordoned; the job was asked for a checkpoint."""
    REPAIRING = "repairing"
    CHECKING = "checking"
    """Deep health check of what came back."""
    RESUMING = "resuming"
    """Uncordoned; the job restarts from a model checkpoint."""
    ESCALATED = "escalated"
    """Waits for a person."""
    OVERRIDDEN = "overridden"
    """A person decided otherwise: nothing acts on it any more."""
    MERGED = "merged"
    """Turned out to follow from another incident."""
    CLOSED = "closed"

    @property
    def is_final(self) -> bool:
        return not _NEXT[self]


_S = IncidentState
_ANYTIME: Final = frozenset({_S.ESCALATED, _S.OVERRIDDEN, _S.MERGED})

_NEXT: Final[dict[IncidentState, frozenset[IncidentState]]] = {
    _S.OPEN: _ANYTIME | {_S.CONFIRMED, _S.CLOSED},
    _S.CONFIRMED: _ANYTIME | {_S.FOLLOWING, _S.AWAITING_APPROVAL, _S.DRAINING, _S.RESUMING, _S.CLOSED},
    _S.FOLLOWING: _ANYTIME | {_S.AWAITING_APPROVAL, _S.CHECKING, _S.RESUMING, _S.CLOSED},
    _S.AWAITING_APPROVAL: _ANYTIME | {_S.DRAINING, _S.RESUMING, _S.FOLLOWING, _S.CLOSED},
    _S.DRAINING: _ANYTIME | {_S.REPAIRING},
    _S.REPAIRING: _ANYTIME | {_S.CHECKING},
    _S.CHECKING: _ANYTIME | {_S.RESUMING, _S.REPAIRING, _S.CLOSED},
    _S.RESUMING: _ANYTIME | {_S.CLOSED, _S.CONFIRMED},
    _S.ESCALATED: frozenset({_S.CONFIRMED, _S.OVERRIDDEN, _S.MERGED, _S.CLOSED}),
    _S.OVERRIDDEN: frozenset({_S.CLOSED}),
    _S.MERGED: frozenset(),
    _S.CLOSED: frozenset(),
}
"""From `checking` back to `repairing`: a node that fails its check goes up the ladder."""


class IncidentTransitionRefused(OpsError):
    """The incident is not in a state from which that may happen; nothing was changed."""

    who_acts = WhoActs.PLATFORM


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentStep:
    """One entry of an incident's history."""

    state: IncidentState
    at: datetime
    actor: ActorId
    why: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    id: IncidentId
    fault: Fault
    state: IncidentState
    first_seen_at: datetime
    last_seen_at: datetime
    node: NodeIdentity | None
    jobs: tuple[str, ...] = ()
    remediation: Remediation | None = None
    """What is being done, once it was decided."""
    merged_into: IncidentId | None = None
    history: tuple[IncidentStep, ...] = ()

    @property
    def ended_at(self) -> datetime | None:
        return self.history[-1].at if self.history and self.state.is_final else None

    @property
    def time_lost(self) -> timedelta:
        """From the first signal to the end; so far, while it is open. Never negative, whatever the clocks say."""
        until = self.ended_at or max((step.at for step in self.history), default=self.last_seen_at)
        return max(timedelta(0), until - self.first_seen_at)


def open_incident(
    *, incident: IncidentId, fault: Fault, at: datetime, actor: ActorId, jobs: tuple[str, ...] = ()
) -> Incident:
    """A new incident about `fault`, first seen when its leading signal began, if that is known."""
    onset = fault.leading.onset if fault.leading is not None else None
    first_seen = min(onset, at) if onset is not None else at
    opened = IncidentStep(state=_S.OPEN, at=at, actor=actor, why=message("health.incident_opened", rule=fault.rule))
    return Incident(
        id=incident,
        fault=fault,
        state=_S.OPEN,
        first_seen_at=first_seen,
        last_seen_at=at,
        node=fault.node,
        jobs=jobs,
        history=(opened,),
    )


def seen_again(incident: Incident, at: datetime) -> Incident:
    """The same fault once more: the incident lasts, no second one is opened. Clocks going backwards change nothing."""
    return replace(incident, last_seen_at=max(incident.last_seen_at, at))


def advance(
    incident: Incident,
    to: IncidentState,
    *,
    at: datetime,
    actor: ActorId,
    why: Message,
    remediation: Remediation | None = None,
) -> Incident:
    """The incident in its next state. Raises `IncidentTransitionRefused`; a repeat of the present state is no change,
    so that a step that runs twice after a crash is harmless."""
    if to is incident.state:
        return incident
    if to not in _NEXT[incident.state]:
        raise IncidentTransitionRefused(
            message("health.incident_cannot", incident=incident.id, state=incident.state.value, to=to.value)
        )
    step = IncidentStep(state=to, at=at, actor=actor, why=why)
    return replace(
        incident,
        state=to,
        remediation=remediation or incident.remediation,
        history=(*incident.history, step),
    )


def merge(incident: Incident, into: Incident, *, at: datetime, actor: ActorId) -> Incident:
    """The incident turned out to be a follower of `into`."""
    why = message("health.incident_merged", incident=into.id)
    return replace(advance(incident, _S.MERGED, at=at, actor=actor, why=why), merged_into=into.id)


def is_same_problem(incident: Incident, fault: Fault) -> bool:
    """Whether a fault diagnosed now belongs to an incident that is still open."""
    if incident.state.is_final or incident.fault.code != fault.code:
        return False
    if incident.node is None or fault.node is None:
        return incident.node is fault.node
    return incident.node.is_same_machine(fault.node)
