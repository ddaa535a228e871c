"""What a cycle decided, workload by workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from core.scheduling.refusals import Refusal
from core.scheduling.victims import PreemptionReason
from core.scheduling.world import AdmittedWorkload


class Outcome(StrEnum):
    """How one nomination ended."""

    ADMITTED = "admitted"
    PREEMPTING = "preempting"
    """Victims were told to go; it holds their place and is tried again."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction:
    """One workload told to go."""

    uid: str
    queue: str
    reason: PreemptionReason
    preemptor: str
    preemptor_queue: str
    is_repeated: bool = False
    """It had been told before and still holds its quota."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    uid: str
    queue: str
    outcome: Outcome
    admitted: AdmittedWorkload | None = None
    evictions: tuple[Eviction, ...] = ()
    refusal: Refusal | None = None
    """Set unless admitted: why it waits. Rendered only when asked for."""
    replaces: tuple[str, ...] = ()
    """Slices of an elastic job that this one took the place of."""


@dataclass(slots=True)
class Recomputations:
    """How nominations that lost their victims to others were decided again, per queue."""

    new_targets: int = 0
    deferred_fit: int = 0
    skipped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleResult:
    """Decisions in the order in which they were taken."""

    cycle: int
    decisions: tuple[Decision, ...]
    skipped_preemptions: Mapping[str, int] = field(default_factory=dict)
    """Queue -> preemptions put off because others took their victims or their room."""
    recomputations: Mapping[str, Recomputations] = field(default_factory=dict)

    @property
    def admitted(self) -> tuple[AdmittedWorkload, ...]:
        return tuple(d.admitted for d in self.decisions if d.admitted is not None)

    @property
    def evictions(self) -> tuple[Eviction, ...]:
        return tuple(eviction for d in self.decisions for eviction in d.evictions)
