"""Starting with fewer pods: the largest size that can start.

Source: Kueue v0.20 `pkg/scheduler/flavorassigner/podset_reducer.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from core.scheduling.world import PodSetRequest

FoundT = TypeVar("FoundT")


def largest_that_starts(
    podsets: Sequence[PodSetRequest], attempt: Callable[[tuple[int, ...]], FoundT | None]
) -> FoundT | None:
    """The first success of a binary search over how many pods are dropped, spread in proportion.

    `attempt` gets the counts by podset and answers `None` when they cannot start. All pods that may be
    dropped together are sum(count - min_count); dropping i of them costs podset k floor(its part * i / all).
    """
    spare = [p.count - (p.count if p.min_count is None else p.min_count) for p in podsets]
    total = sum(spare)
    if total == 0:
        return None

    found: FoundT | None = None
    low, high = 0, total + 1
    while low < high:
        dropped = (low + high) // 2
        counts = tuple(p.count - spare[k] * dropped // total for k, p in enumerate(podsets))
        result = attempt(counts) if dropped <= total else None
        if result is None:
            low = dropped + 1
        else:
            found, high = result, dropped
    return found
