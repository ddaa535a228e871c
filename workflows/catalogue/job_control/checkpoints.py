"""What a training script's own output says about checkpoints: saved at which step, resumed from which."""

from __future__ import annotations

import re
from typing import Final

_SAVED: Final = re.compile(
    r"checkpoint[^\n]{0,60}?\bstep\D{0,3}(\d+)|\bsav\w+[^\n]{0,60}?checkpoint\D{1,8}(\d+)", re.IGNORECASE
)
_RESUMED: Final = re.compile(r"\b(?:resum|restor|load)\w*[^\n]{0,60}?\bstep\D{0,3}(\d+)", re.IGNORECASE)


def newest_checkpoint(log: str) -> int | None:
    """The step of the last checkpoint that the log tells to be saved; `None` where it tells of none."""
    found = [int(match[1] or match[2]) for line in log.splitlines() if (match := _SAVED.search(line))]
    return found[-1] if found else None


def resumed_from(log: str) -> int | None:
    """The step from which the script says that it went on."""
    found = [int(match[1]) for line in log.splitlines() if (match := _RESUMED.search(line))]
    return found[-1] if found else None
