"""Why a workload waits: the reason and the figures behind it. (What would admit it: `remedies`.)

A refusal keeps raw figures; sentences are made only when somebody reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.messages.message import Message, message
from core.scheduling.assignment import FlavorAttempt
from core.scheduling.quantities import UNLIMITED


class RefusalReason(StrEnum):
    """Why a nominated workload was not admitted; also the end of the catalogue key."""

    NEVER_FITS = "never_fits"
    """No flavor could hold it even if everything else were gone."""
    WAITS_FOR_OTHERS = "waits_for_others"
    """It would fit, but nobody who stands in its way may be taken."""
    WAITS_FOR_VICTIMS = "waits_for_victims"
    """Its victims have been told to go."""
    WAITS_FOR_VICTIMS_OF_OTHERS = "waits_for_victims_of_others"
    """What others' victims leave is enough for it too."""
    VICTIMS_TAKEN = "victims_taken"
    """Another workload of the cycle takes the same victims."""
    NO_LONGER_FITS = "no_longer_fits"
    """Another workload of the cycle took the room."""
    NOT_ELIGIBLE = "not_eligible"
    QUEUE_INACTIVE = "queue_inactive"
    BACKOFF = "backoff"
    BEHIND_OTHERS = "behind_others"
    """Nothing is in its way but those before it in its queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    reason: RefusalReason
    uid: str
    queue: str
    attempts: tuple[FlavorAttempt, ...] = ()
    """What was tried, flavor by flavor."""
    victims: tuple[str, ...] = ()
    until_s: float | None = None

    def message(self) -> Message:
        """The sentence for people."""
        return message(
            f"scheduling.refused_{self.reason.value}",
            workload=self.uid,
            queue=self.queue,
            victims=", ".join(self.victims),
            until_s="" if self.until_s is None else f"{self.until_s:g}",
        )

    def details(self) -> list[Message]:
        """One sentence per flavor that was tried, with the figures."""
        return [_attempt_message(attempt) for attempt in self.attempts]


def _attempt_message(attempt: FlavorAttempt) -> Message:
    return message(
        f"scheduling.attempt_{attempt.outcome.value}",
        podset=attempt.podset,
        flavor=attempt.flavor,
        resource=attempt.resource,
        wanted=attempt.wanted,
        limit=_shown(attempt.limit),
        detail=attempt.detail,
    )


def _shown(amount: int) -> int | str:
    return "∞" if amount >= UNLIMITED else amount
