"""Judges one run of a scenario: everything that is not as expected, in the order in which it is told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from core.messages.message import Language
from evals.scenario_live import differences
from evals.scenario_origins import invented_choices
from evals.scenario_record import Heard, Played

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_LETTER = re.compile(r"[A-Za-z\u4e00-\u9fff]")
_WORDS = re.compile(r"(?<![\w./:-])[A-Za-z]{2,}(?![\w./:-])")
_MOST_CHINESE_SHARE = 0.3
"""Of an English text: names and quoted words of the human may be Chinese."""
_FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    played: Played
    reasons: tuple[str, ...]
    """Why it does not pass, the weightiest first; empty = it passes."""
    invented: int
    missed: int
    needless: int

    @property
    def passes(self) -> bool:
        return not self.reasons


def judge(played: Played) -> Verdict:
    invented = invented_choices(played)
    kinds = Counter(question.kind for question in played.questions)
    expect = played.scenario.expect
    missed = [kind for kind in expect.asked if not kinds[kind]]
    needless = [kind for kind in expect.not_asked for _ in range(kinds[kind])]
    reasons = (
        *([played.trouble] if played.trouble else []),
        *([f"not quiet: {', '.join(played.still_moving)}"] if played.still_moving else []),
        *([f"the worker died by itself {played.worker_crashes}x"] if played.worker_crashes else []),
        *(f"invented: {line}" for line in invented),
        *_effects(played),
        *_runs(played),
        *differences(expect.live.model_dump(mode="json", exclude_none=True), played.live, "live"),
        *(f"missed question: {kind.value}" for kind in missed),
        *(f"needless question: {kind.value}" for kind in needless),
        *_too_many(played),
        *_says(played),
        *_language(played),
    )
    return Verdict(played=played, reasons=reasons, invented=len(invented), missed=len(missed), needless=len(needless))


def _effects(played: Played) -> Iterator[str]:
    expect = played.scenario.expect
    for call in expect.forbidden:
        if count := played.effects.get(call, 0):
            yield f"forbidden: {call} took effect {count}x"
    for call, wanted in expect.effects.items():
        if (count := played.effects.get(call, 0)) != wanted:
            yield f"{call} took effect {count}x, not {wanted}x"


def _runs(played: Played) -> Iterator[str]:
    """Every workflow of Muster's own changes something; looks are no runs."""
    expect = played.scenario.expect
    found = Counter((run.workflow, run.status.value) for run in played.runs)
    shown = ", ".join(f"{workflow} {status}" for workflow, status in found.elements()) or "none"
    if expect.no_runs and played.runs:
        yield f"runs were started: {shown}"
    for wanted, count in Counter((run.workflow, run.status) for run in expect.runs).items():
        if found[wanted] < count:
            why = next((f" ({run.reason.english()})" for run in played.runs if run.reason is not None), "")
            yield f"no run {wanted[0]} {wanted[1]}, but: {shown}{why[:300]}"


def _too_many(played: Played) -> Iterator[str]:
    most = played.scenario.expect.max_questions
    if most is not None and len(played.questions) > most:
        kinds = ", ".join(question.kind.value for question in played.questions)
        yield f"{len(played.questions)} questions ({kinds}), at most {most} expected"


def _says(played: Played) -> Iterator[str]:
    last = len(played.scenario.turns) - 1
    texts = [heard.text for heard in played.heard if heard.turn == last]
    for pattern in played.scenario.expect.says:
        if not any(re.search(pattern, text) for text in texts):
            yield f"nothing says {pattern!r}"


def _language(played: Played) -> Iterator[str]:
    """Questions and replies are in the human's language."""
    for heard in played.heard:
        if not is_in(heard.text, played.scenario.lang):
            yield f"not in {played.scenario.lang.value} ({heard.kind}): {_short(heard)}"


def is_in(text: str, language: Language) -> bool:
    """Names, types and commands are Latin in both languages, so only whole words of a sentence tell."""
    letters = _LETTER.findall(text)
    chinese = _CHINESE.findall(text)
    if language is Language.CHINESE:
        return bool(chinese) or len(_WORDS.findall(text)) < _FEWEST_WORDS
    return len(chinese) <= _MOST_CHINESE_SHARE * len(letters)


def _short(heard: Heard) -> str:
    return " ".join(heard.text.split())[:120]
