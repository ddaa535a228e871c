"""What the operations' preparations share: trouble with the platform as a refusal, choices as lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.choices import Choice
from core.json_value import JsonValue
from core.messages.message import Message, message
from core.reasons import RefusalReason
from tools.errors import RetryableToolError, ToolError
from workflows.operations import Preparation, Refused


def reading(prepare: Callable[[], Preparation]) -> Preparation:
    """Preparation only looks: when looking fails, nothing was changed and the request is refused with the reason."""
    try:
        return prepare()
    except RetryableToolError as error:
        remedy = message("market.try_again_later")
        return Refused(reason=RefusalReason.PLATFORM_UNREACHABLE, message=error.message, remedies=(remedy,))
    except ToolError as error:
        return Refused(reason=RefusalReason.PREFLIGHT_FAILED, message=error.message)


def choice_lines(choices: Sequence[Choice]) -> tuple[Message, ...]:
    """Each choice with its origin and words, for the card."""
    return tuple(
        message(
            "market.choice_line",
            kind=message(f"market.kind_{choice.kind.value}"),
            origin=message(f"market.origin_{choice.origin.value}"),
            quote=choice.quote,
        )
        for choice in choices
    )


def choices_json(choices: Sequence[Choice]) -> dict[str, JsonValue]:
    return {choice.kind.value: choice.to_json() for choice in choices}
