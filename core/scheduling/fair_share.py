"""Dominant resource share: how far beyond its own quota a queue or cohort lives.

Source: Kueue v0.20 `pkg/cache/scheduler/fair_sharing.go`. The share of a node is the largest, over resources,
of 1000 x (borrowed amount) / (what its parent could lend), divided by the node's weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from core.scheduling.quantities import Slot
from core.scheduling.quota_tree import DominantShare, QuotaNode

PER_MILLE: Final = 1000


NO_SHARE: Final = DominantShare(0.0, 0.0, False, "", (0.0, 0.0))


def dominant_share(node: QuotaNode, slots_by_resource: Mapping[str, Sequence[Slot]]) -> DominantShare:
    """The share of `node` as it stands; a root borrows from nobody."""
    share = node.share
    if share is None:
        share = node.share = _measure(node, slots_by_resource)
    return share


def _measure(node: QuotaNode, slots_by_resource: Mapping[str, Sequence[Slot]]) -> DominantShare:
    parent = node.parent
    if parent is None:
        return NO_SHARE
    usage, subtree = node.usage, node.subtree
    best_ratio, best_resource, is_borrowing = 0.0, "", False
    for resource, slots in slots_by_resource.items():
        borrowed = 0
        for slot in slots:
            if usage[slot] > subtree[slot]:
                borrowed += usage[slot] - subtree[slot]
        if borrowed == 0:
            continue
        is_borrowing = True
        lendable = parent.potential
        lent = sum([lendable[slot] for slot in slots])
        if lent > 0:
            ratio = PER_MILLE * borrowed / lent
            if ratio > best_ratio or (ratio == best_ratio and resource < best_resource):
                best_ratio, best_resource = ratio, resource
    if best_ratio == 0.0:
        return DominantShare(0.0, 0.0, is_borrowing, best_resource, (0.0, 0.0))
    if node.weight > 0:
        weighted = best_ratio / node.weight
        return DominantShare(weighted, best_ratio, is_borrowing, best_resource, (weighted, 0.0))
    return DominantShare(math.inf, best_ratio, is_borrowing, best_resource, (math.inf, best_ratio))
