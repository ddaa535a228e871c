"""What an error means to whoever called: an exit code, and who must act.

| code | meaning |
|---|---|
| 0 | done |
| 1 | the check or demo ran, and what it checks does not hold |
| 2 | the command line is wrong |
| 3 | refused: the request cannot be carried out as it stands; nothing was changed |
| 4 | there is no such thing |
| 5 | the platform (AWS, Kubernetes, model server, twin) could not be reached or does not work |
| 6 | an operator must act: a setting, a permission, the database |
| 70 | a fault of Muster itself |
| 130 | ended with Ctrl-C |
"""

from __future__ import annotations

from enum import IntEnum

from core.json_value import JsonValue
from core.messages.message import Language
from core.reasons import InputRefused, OpsError, WhoActs
from state.errors import RowNotFound
from tools.errors import TargetNotFound, ToolError


class ExitCode(IntEnum):
    DONE = 0
    DOES_NOT_HOLD = 1
    USAGE = 2
    REFUSED = 3
    NOT_FOUND = 4
    PLATFORM = 5
    OPERATOR = 6
    BUG = 70
    INTERRUPTED = 130


def exit_code(error: OpsError) -> ExitCode:
    if isinstance(error, RowNotFound | TargetNotFound):
        return ExitCode.NOT_FOUND
    match error.who_acts:
        case WhoActs.CALLER:
            return ExitCode.REFUSED
        case WhoActs.OPERATOR:
            return ExitCode.OPERATOR
        case WhoActs.MODEL | WhoActs.PLATFORM:
            return ExitCode.PLATFORM


def error_json(error: OpsError, language: Language) -> dict[str, JsonValue]:
    """`{"error": {...}}`, the same shape in every channel."""
    body: dict[str, JsonValue] = {
        "type": type(error).__name__,
        "message": error.message.render(language),
        "key": error.message.key,
        "who_acts": error.who_acts.value,
        "exit_code": int(exit_code(error)),
    }
    if isinstance(error, InputRefused):
        body["reason"] = error.reason.value
    if isinstance(error, ToolError):
        body |= {"call": error.call, "code": error.code, "failure_class": error.failure_class.value}
    return {"error": body}
