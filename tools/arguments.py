"""Arguments that several tools share: frozen, and unknown members are an error."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ToolArgs(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NoArgs(ToolArgs):
    """The whole account and region."""


class ByName(ToolArgs):
    name: str
