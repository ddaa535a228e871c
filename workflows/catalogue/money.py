"""Money as people read it. Everything else counts in whole US cents."""

from __future__ import annotations


def dollars(cents: int) -> str:
    """`506.40` for 50640."""
    return f"{cents // 100:,}.{cents % 100:02d}"
