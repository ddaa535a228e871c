"""Whoever acts: an authenticated principal in every channel."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.ids import ActorId
from core.json_value import JsonValue


class Role(StrEnum):
    """The built-in roles, narrow to wide."""

    ENGINEER = "engineer"
    """Reads; submits, stops, resizes and resumes jobs of its project."""
    PROJECT_LEAD = "project_lead"
    """Also its project's quotas and priorities, and storage on clusters it uses."""
    PLATFORM_ADMIN = "platform_admin"
    """Everything inside the organisation boundary."""


class Channel(StrEnum):
    """Through what a principal came."""

    TERMINAL = "terminal"
    API = "api"
    WEB = "web"
    SLACK = "slack"
    RUNBOOK = "runbook"
    SYSTEM = "system"
    """Muster itself: a worker that goes on with an approved run, an expiry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """`project` is the team namespace whose jobs an engineer may touch; absent for none."""

    id: ActorId
    role: Role
    channel: Channel
    project: str | None = None
    is_scripted: bool = False
    """A scripted stand-in for a human (demo, scenarios): shown as such wherever it answers."""

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "id": self.id,
            "role": self.role.value,
            "channel": self.channel.value,
            "project": self.project,
            "is_scripted": self.is_scripted,
        }


SYSTEM = Principal(id=ActorId("muster"), role=Role.PLATFORM_ADMIN, channel=Channel.SYSTEM)
"""The actor of status changes that no person caused. It never answers a question."""
