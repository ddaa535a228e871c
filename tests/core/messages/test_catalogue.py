"""Both languages hold the same texts with the same placeholders."""

from __future__ import annotations

from string import Formatter

import pytest

from core.messages.catalogue import TEXTS
from core.messages.message import Language, Message, message, message_from_json


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_hold_the_same_keys() -> None:
    assert TEXTS["en"].keys() == TEXTS["zh"].keys()


@pytest.mark.parametrize("key", sorted(TEXTS["en"]))
def test_both_languages_fill_the_same_placeholders(key: str) -> None:
    assert placeholders(TEXTS["en"][key]) == placeholders(TEXTS["zh"][key])


def test_a_message_survives_the_way_through_json() -> None:
    original = message("general.text", text=message("general.yes"))

    assert message_from_json(original.to_json()) == original


def test_a_message_inside_a_message_is_rendered_in_the_same_language() -> None:
    assert message("general.text", text=Message("general.yes")).render(Language.CHINESE) == "是"
