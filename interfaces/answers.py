"""What a person typed under a question, read as one of its answers: by number, by value, by the words of a label.

The same reading serves the chat and `muster questions answer`. It never guesses: two options that fit are none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from agent.answers import verdict
from core.json_value import JsonValue
from core.messages.message import Language, message
from core.questions import Option, QuestionKind
from core.reasons import InputRefused, RefusalReason
from state.records import Question

_LONGEST_VALUE = 64
_MOST_WORDS = 3
_MOST_DIGITS = 9
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_SENTENCE = re.compile(r"[?？,，;；。]|[\u4e00-\u9fff]{4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Exactly one of the two: an option's id, or a value as written where the question takes one."""

    option_id: str | None = None
    value: JsonValue = None


def read_reply(question: Question, text: str) -> Reply | None:
    """The answer that `text` gives, `None` when it is something else (a new wish, a remark).

    Raises `InputRefused` for a number that is not on the list: that was meant as an answer.
    """
    wanted = _plain(text)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(question.options):
        return Reply(option_id=question.options[int(wanted) - 1].id)
    if (option := _meant(question, wanted)) is not None:
        return Reply(option_id=option.id)
    if question.takes_other and _looks_like_value(text):
        return Reply(value=text.strip())
    refuse_number_off_list(question, text)
    return None


def refuse_number_off_list(question: Question, text: str) -> None:
    """A bare number under a closed list is an answer to it; one that is not on the list hits nothing else either."""
    wanted = _plain(text)
    if not _NUMBER.fullmatch(wanted) or not question.options or question.takes_other:
        return
    if not wanted.isdecimal() or not 1 <= int(wanted[:_MOST_DIGITS]) <= len(question.options):
        raise not_an_option(question, text)


def not_an_option(question: Question, text: str) -> InputRefused:
    shown = message("cli.not_an_option", answer=text.strip()[:80], count=len(question.options), question=question.id)
    return InputRefused(RefusalReason.ANSWER_NOT_AN_OPTION, shown)


def option_texts(option: Option) -> frozenset[str]:
    """Every text that names this option by itself: its id, its value, its label in each language."""
    labels = {_plain(option.label.render(language)) for language in Language}
    return frozenset({_plain(option.id), *(_plain(text) for text in _value_texts(option.value)), *labels})


def _meant(question: Question, wanted: str) -> Option | None:
    if not wanted:
        return None
    if question.kind is QuestionKind.APPROVAL:
        meant = verdict(wanted)
        return next((option for option in question.options if meant is not None and option.value == meant), None)
    exact = [option for option in question.options if wanted in option_texts(option)]
    if len(exact) == 1:
        return exact[0]
    partial = [option for option in question.options if _is_named(option, wanted)]
    return partial[0] if len(partial) == 1 else None


def _is_named(option: Option, wanted: str) -> bool:
    """Every word of the answer stands in the option's label or value: "us-west-2b", "the plan"."""
    words = set(re.findall(r"[\w.-]+", wanted))
    return bool(words) and any(words <= set(re.findall(r"[\w.-]+", text)) for text in option_texts(option))


def _value_texts(value: JsonValue) -> list[str]:
    if isinstance(value, str | int):
        return [str(value)]
    if isinstance(value, Mapping):
        return [str(item) for key, item in value.items() if key in {"id", "plan", "zone"} and item]
    return []


def _looks_like_value(text: str) -> bool:
    """Names, numbers and paths. Chinese puts no space between words: a sentence of it must not pass for one word."""
    is_short = len(text.strip()) <= _LONGEST_VALUE and 1 <= len(text.split()) <= _MOST_WORDS
    return is_short and not _SENTENCE.search(text)


def _plain(text: str) -> str:
    """Full-width digits as digits, case and a closing full stop without meaning."""
    return unicodedata.normalize("NFKC", text).strip().strip("。.!！").casefold()
