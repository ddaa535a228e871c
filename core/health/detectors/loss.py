"""Loss: not a number, or far above what it was. The advice is to tell people; a rollback is theirs to configure.

Sources: ByteRobust (five-fold loss or gradient norm, NaN); a single high point is ordinary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from core.health.detectors.findings import Advice, Finding, FindingKind
from core.health.detectors.robust import median, robust_z


@dataclass(frozen=True, slots=True, kw_only=True)
class LossLimits:
    remembered: int = 200
    needed: int = 30
    """Points before anything but NaN is judged: the first ones fall steeply."""
    deviations: float = 6.0
    multiple: float = 5.0
    points: int = 3
    of_last: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LossWatch:
    limits: LossLimits = field(default_factory=LossLimits)
    usual: tuple[float, ...] = ()
    """The last points that were not flagged: flagged ones must not become the new normal."""
    flags: tuple[bool, ...] = ()


def see_loss(watch: LossWatch, loss: float, *, at_seconds: float) -> tuple[LossWatch, Finding | None]:
    """One point of the loss, or of the gradient norm with a watch of its own."""
    limits = watch.limits
    if not math.isfinite(loss):
        return watch, Finding(
            kind=FindingKind.LOSS_NOT_FINITE, advice=Advice.NOTIFY, at_seconds=at_seconds, figure=math.inf
        )
    is_high = len(watch.usual) >= limits.needed and _is_high(watch, loss)
    usual = watch.usual if is_high else (*watch.usual, loss)[-limits.remembered :]
    flags = (*watch.flags, is_high)[-limits.of_last :]
    judged = replace(watch, usual=usual, flags=flags)
    if sum(flags) < limits.points or not is_high:
        return judged, None
    deviation = robust_z(loss, watch.usual, floor=_floor(watch))
    return judged, Finding(kind=FindingKind.LOSS_SPIKE, advice=Advice.NOTIFY, at_seconds=at_seconds, figure=deviation)


def _is_high(watch: LossWatch, loss: float) -> bool:
    centre = median(watch.usual)
    is_multiple = centre > 0 and loss >= watch.limits.multiple * centre
    return is_multiple or robust_z(loss, watch.usual, floor=_floor(watch)) > watch.limits.deviations


def _floor(watch: LossWatch) -> float:
    """A loss that hardly moves must not make its smallest jump remarkable."""
    return 0.01 * abs(median(watch.usual))
