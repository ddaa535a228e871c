"""What a training script's own output says about how far it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_STEP: Final = re.compile(
    r"\b(?:step|iter(?:ation)?)\b[\s:=\[]*(\d+)(?:\s*(?:/|of)\s*(\d+))?.*?\bloss\b[\s:=]*([-+]?[\d.]+(?:e[-+]?\d+)?|nan|inf)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """`loss` as written. `of` is the last step, where the script tells it."""

    step: int
    loss: str
    of: int | None = None


def newest_progress(log: str) -> TrainingProgress | None:
    """From the last line that tells a step and a loss."""
    for line in reversed(log.splitlines()):
        found = _STEP.search(line)
        if found is not None:
            return TrainingProgress(int(found[1]), found[3], int(found[2]) if found[2] else None)
    return None
