"""What each built-in role may ask for: the first gate, decided before anything is asked or read.

Denied unless granted: an operation that is not named here takes the widest role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from core.governance.principals import Principal, Role
from core.json_value import JsonObject
from core.messages.message import Message, message

_JOB_OPERATIONS: Final = frozenset({"submit_job", "stop_job", "resize_job", "resume_job"})
_TEAM_OPERATIONS: Final = frozenset({"set_quota", "set_priority"})
_NEEDED: Final[Mapping[str, Role]] = {
    **dict.fromkeys(_JOB_OPERATIONS, Role.ENGINEER),
    **dict.fromkeys(_TEAM_OPERATIONS, Role.PROJECT_LEAD),
    "mount_storage": Role.PROJECT_LEAD,
}
_WIDTH: Final = (Role.ENGINEER, Role.PROJECT_LEAD, Role.PLATFORM_ADMIN)
_NAMESPACE_PREFIX: Final = "hyperpod-ns-"
"""Of a team's namespace; the rest is the team's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """`remedy` says who could ask instead."""

    message: Message
    remedy: Message


def deny(principal: Principal, operation: str, params: JsonObject) -> Denial | None:
    """`None` = the role may. `params` tell the team, by name or by its namespace; without one it is the principal's.

    Who is not a platform admin acts within their own project only.
    """
    needed = _NEEDED.get(operation, Role.PLATFORM_ADMIN)
    if _WIDTH.index(principal.role) < _WIDTH.index(needed):
        text = message(
            "governance.role_missing",
            operation=operation,
            needed=needed.value,
            who=principal.id,
            role=principal.role.value,
        )
        return Denial(message=text, remedy=message("governance.ask_a_role", needed=needed.value))
    if principal.role is Role.PLATFORM_ADMIN or operation not in _JOB_OPERATIONS | _TEAM_OPERATIONS:
        return None
    if (team := _team(params)) is None or team == (principal.project or ""):
        return None
    own = principal.project or "-"
    text = message("governance.other_project", project=team or "default", who=principal.id, own=own)
    return Denial(message=text, remedy=message("governance.ask_a_role", needed=Role.PLATFORM_ADMIN.value))


def _team(params: JsonObject) -> str | None:
    """`None` where nothing names one yet."""
    team, namespace = params.get("team"), params.get("namespace")
    if isinstance(team, str):
        return team
    return namespace.removeprefix(_NAMESPACE_PREFIX) if isinstance(namespace, str) and namespace else None
