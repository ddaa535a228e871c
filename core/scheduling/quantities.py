"""Quantities are whole numbers; one of them means "without end".

cpu counts in millicores, memory in bytes, everything else in pieces. Kueue keeps quantities in 64 bits and
saturates: what is unlimited stays unlimited however much of it is used.
"""

from __future__ import annotations

from typing import Final, NamedTuple, NewType, TypeAlias

UNLIMITED: Final = 2**63 - 1
"""The largest quantity that Kueue can write down; as a quota it means "no end"."""

PODS: Final = "pods"
"""The resource that counts pods: requested implicitly wherever a queue or a node limits it."""

Slot = NewType("Slot", int)
"""Position of one (flavor, resource) pair in the lists of every node of a quota tree."""

Usage: TypeAlias = "tuple[tuple[Slot, int], ...]"
"""Amounts by slot, each slot once, in ascending order."""


class FlavorResource(NamedTuple):
    """One resource of one flavor: what quotas are counted in."""

    flavor: str
    resource: str


def saturating_sum(*amounts: int) -> int:
    """The sum; `UNLIMITED` as soon as one part, or the sum, reaches it."""
    return UNLIMITED if any(a >= UNLIMITED for a in amounts) else min(sum(amounts), UNLIMITED)


def saturating_difference(amount: int, taken: int) -> int:
    """`amount - taken`, may be negative; unlimited stays unlimited."""
    return UNLIMITED if amount >= UNLIMITED else amount - taken
