"""What a detector found, and which of several findings explains the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from core.messages.message import Message, message


class FindingKind(StrEnum):
    """In the order of explanation: an earlier one explains a later one that is seen at the same time."""

    HANG = "hang"
    STRAGGLER = "straggler"
    LOSS_NOT_FINITE = "loss_not_finite"
    LOSS_SPIKE = "loss_spike"
    SLOW = "slow"
    LATE_START = "late_start"


class Advice(StrEnum):
    """`act` means that a remediation may be decided; the guards still stand before it. Never a kill by itself."""

    NOTIFY = "notify"
    ACT = "act"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    kind: FindingKind
    advice: Advice
    at_seconds: float
    """On the job's clock."""
    rank: int | None = None
    figure: float = 0.0
    """What was measured: seconds without a step, score, ratio or deviation."""

    def explain(self) -> Message:
        return message(
            f"health.found_{self.kind}",
            rank=self.rank if self.rank is not None else "-",
            figure=f"{self.figure:.2f}",
        )


_ORDER = {kind: position for position, kind in enumerate(FindingKind)}


def leading_finding(findings: Iterable[Finding]) -> Finding | None:
    """Of findings of one moment the one that explains the rest: a slow rank slows the whole job."""
    return min(findings, key=lambda finding: (_ORDER[finding.kind], finding.at_seconds), default=None)
