"""People who ask, answer and approve."""

from __future__ import annotations

from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId


def person(name: str = "mei", *, role: Role = Role.PLATFORM_ADMIN, channel: Channel = Channel.TERMINAL) -> Principal:
    return Principal(id=ActorId(name), role=role, channel=channel)
