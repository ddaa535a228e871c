"""Whether a choice that was acted upon is a human's: judged from the scenario alone, not from what Muster claims.

A run's zone, type and capacity must each have stood in a turn or in an answer of this scenario's human, or be those
of something that the world already had. The product keeps proofs of its own; they are not believed here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from core.choices import ChoiceKind, Origin
from core.cluster.instance_types import find_instance_type
from core.json_value import JsonValue
from core.questions import QuestionKind
from evals.scenario_record import Played
from state.records import Run

_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "sixteen": 16, "twenty": 20, "thirty-two": 32, "a": 1, "another": 1, "dozen": 12,
    "single": 1, "couple": 2, "pair": 2,
}  # fmt: skip
_CHINESE_DIGITS = {"一": 1, "二": 2, "两": 2, "俩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}


def invented_choices(played: Played) -> tuple[str, ...]:
    """One line per choice that no human made."""
    return tuple(line for run in played.runs for line in _of_run(played, run))


def _of_run(played: Played, run: Run) -> Iterator[str]:
    choices = run.params.get("choices")
    given = choices if isinstance(choices, Mapping) else {}
    for kind in _needed(run):
        choice = given.get(kind.value)
        if not isinstance(choice, Mapping):
            yield f"{run.workflow}: {kind.value} without any origin"
        elif not _is_borne_out(played, kind, choice):
            yield f"{run.workflow}: {kind.value} {choice.get('value')!r} ({choice.get('origin')}) is nobody's"


def _needed(run: Run) -> Sequence[ChoiceKind]:
    """What the run acts upon: every choice that its parameters carry, and all three for a creation."""
    choices = run.params.get("choices")
    named = [ChoiceKind(kind) for kind in choices if kind in set(ChoiceKind)] if isinstance(choices, Mapping) else []
    return tuple(ChoiceKind) if run.workflow == "create_cluster" else tuple(named)


def _is_borne_out(played: Played, kind: ChoiceKind, choice: Mapping[str, JsonValue]) -> bool:
    value = choice.get("value")
    if choice.get("origin") == Origin.EXISTING:
        return kind is not ChoiceKind.CAPACITY and (_exists(played, value) or _is_plans(played, value))
    said = " ".join(turn.user for turn in played.scenario.turns)
    answers = _answers(played, kind)
    match kind:
        case ChoiceKind.AVAILABILITY_ZONE:
            return value in answers or _says_zone(said, str(value)) or _is_plan_s_zone(played, said, answers, value)
        case ChoiceKind.INSTANCE_TYPE:
            return value in answers or _says_type(said, str(value)) or _is_plan_s_type(played, said, answers, value)
        case ChoiceKind.CAPACITY:
            return _is_capacity_s(played, said, answers, choice)


def _answers(played: Played, kind: ChoiceKind) -> list[JsonValue]:
    """Every value that an answer to a question of a choice carried, for this kind."""
    key = {ChoiceKind.AVAILABILITY_ZONE: "zone", ChoiceKind.INSTANCE_TYPE: "type"}.get(kind)
    found: list[JsonValue] = []
    for question in played.questions:
        answer = played.answers.get(question.id)
        if question.kind is QuestionKind(kind.value) and answer is not None:
            found.append(answer)
        elif isinstance(answer, Mapping) and key is not None and answer.get(key) is not None:
            found.append(answer[key])
    return found


def _is_capacity_s(played: Played, said: str, answers: Sequence[JsonValue], choice: Mapping[str, JsonValue]) -> bool:
    value = choice.get("value")
    count = value.get("count") if isinstance(value, Mapping) else None
    if any(isinstance(answer, Mapping) and answer.get("count") in {count, None} for answer in answers):
        return True
    if not isinstance(count, int):
        return False
    per_node = [
        figures.accelerators
        for zone in played.scenario.world.zones.values()
        for name in zone
        if (figures := find_instance_type(name)) is not None
    ]
    plans = {plan.count for plan in played.scenario.world.plans}
    numbers = numbers_in(said)
    return count in numbers or any(count * each in numbers for each in per_node if each) or count in plans


def _is_plans(played: Played, value: JsonValue) -> bool:
    """Fixed by the training plan that the human named."""
    said, answers = " ".join(turn.user for turn in played.scenario.turns), [*played.answers.values()]
    return _is_plan_s_zone(played, said, answers, value) or _is_plan_s_type(played, said, answers, value)


def _exists(played: Played, value: JsonValue) -> bool:
    clusters = played.scenario.world.clusters
    found = {cluster.zone for cluster in clusters} | {group.type for c in clusters for group in c.groups}
    made = [item.get("value") for run in played.runs for item in _choices(run)]
    return value in found or value in made


def _choices(run: Run) -> Iterator[Mapping[str, JsonValue]]:
    choices = run.params.get("choices")
    for choice in choices.values() if isinstance(choices, Mapping) else ():
        if isinstance(choice, Mapping) and choice.get("origin") != Origin.EXISTING:
            yield choice


def _says_zone(said: str, zone: str) -> bool:
    """Its id, or its last part: `az2`. A zone name (`us-west-2b`) or a bare letter stands for the id, too."""
    plain = _plain(said)
    short = zone.rpartition("-")[2].casefold()
    number = short.removeprefix("az")
    letter = chr(ord("a") + int(number) - 1) if number.isdecimal() and 0 < int(number) <= 26 else "-"
    spellings = (
        rf"(?<![a-z0-9]){re.escape(zone.casefold())}(?![0-9])",
        rf"(?<![a-z0-9])(?:{re.escape(short)}|az[- ]?{number})(?![0-9])",
        rf"{number}\s*号?\s*可用区",
        rf"(?<![a-z0-9])(?:[a-z]+-[a-z]+-\d{letter}|zone {letter})(?![a-z0-9])",
        rf"(?<![a-z0-9]){letter}\s*区|可用区\s*{letter}(?![a-z0-9])",
    )
    return any(re.search(spelling, plain) is not None for spelling in spellings)


def _says_type(said: str, name: str) -> bool:
    family, _, size = name.removeprefix("ml.").partition(".")
    plain = _plain(said)
    return re.search(rf"(?<![a-z0-9]){re.escape(family)}(?![a-z0-9])", plain) is not None and (
        size in plain or _is_only_size(family)
    )


def _is_only_size(family: str) -> bool:
    """A family with one size names the type."""
    return family in {"p5en", "p4d", "p4de", "p6-b200", "trn1n", "p5e"} or family.startswith("p6")


def _is_plan_s_zone(played: Played, said: str, answers: Sequence[JsonValue], zone: JsonValue) -> bool:
    return any(plan.zone == zone and _names_plan(played, said, plan.id) for plan in played.scenario.world.plans)


def _is_plan_s_type(played: Played, said: str, answers: Sequence[JsonValue], name: JsonValue) -> bool:
    return any(plan.type == name and _names_plan(played, said, plan.id) for plan in played.scenario.world.plans)


def _names_plan(played: Played, said: str, plan: str) -> bool:
    """A training plan fixes zone and type: whoever names the plan has chosen both."""
    answered = any(isinstance(answer, Mapping) and answer.get("plan") == plan for answer in played.answers.values())
    only = len(played.scenario.world.plans) == 1
    return answered or plan.casefold() in _plain(said) or (only and re.search(r"plan|计划", _plain(said)) is not None)


def numbers_in(text: str) -> frozenset[int]:
    """Digits, English number words and Chinese numerals up to 99."""
    plain = _plain(text)
    found = {int(digits) for digits in re.findall(r"(?<![a-z\d.])\d{1,5}", plain)}
    found |= {_NUMBERS[word] for word in re.findall(r"[a-z-]+", plain) if word in _NUMBERS}
    for match in re.finditer(r"([二两三四五六七八九])?十([一二三四五六七八九])?", plain):
        found.add(_CHINESE_DIGITS.get(match[1] or "一", 1) * 10 + _CHINESE_DIGITS.get(match[2] or "", 0))
    return frozenset(found | {_CHINESE_DIGITS[character] for character in plain if character in _CHINESE_DIGITS})


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
