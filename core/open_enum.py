"""Enums for values that another system owns and may extend at any time."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class OpenStrEnum(StrEnum):
    """A `StrEnum` whose subclasses define `UNKNOWN`: a value not listed becomes that member.

    AWS adds enum values without notice (its own pages already show some that botocore lacks): such a value
    is data about the world, never a reason to stop watching it. Keep the raw text beside it where it matters.
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls.__members__.get("UNKNOWN")  # `None` (a ValueError) when a subclass forgot it
