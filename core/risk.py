"""How much an operation can break, which decides who must approve it."""

from __future__ import annotations

from enum import StrEnum


class Risk(StrEnum):
    READ = "read"
    REVERSIBLE = "reversible"
    """Can be undone without loss: one approval."""
    SPENDING = "spending"
    """Costs money that a mistake does not bring back."""
    DESTRUCTIVE = "destructive"
    """Nodes, volumes or work may be lost."""
