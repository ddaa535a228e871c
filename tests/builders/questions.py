"""Questions as steps and plans ask them."""

from __future__ import annotations

from collections.abc import Sequence

from core.messages.message import message
from core.questions import APPROVE, REJECT, Option, QuestionDraft, QuestionKind


def option(value: str) -> Option:
    return Option(id=f"option-{value}", value=value, label=message("general.text", text=value))


def zone_question(*zones: str, name: str = "availability_zone", takes_other: bool = False) -> QuestionDraft:
    return QuestionDraft(
        name=name,
        kind=QuestionKind.AVAILABILITY_ZONE,
        prompt=message("general.text", text="Which zone?"),
        options=tuple(option(zone) for zone in zones or ("usw2-az1", "usw2-az2")),
        takes_other=takes_other,
    )


def approval_question(*, details: Sequence[str] = ()) -> QuestionDraft:
    return QuestionDraft(
        name="approval",
        kind=QuestionKind.APPROVAL,
        prompt=message("general.text", text="Go ahead?"),
        options=(option(APPROVE), option(REJECT)),
        details=tuple(message("general.text", text=line) for line in details),
    )
