"""Zones, instance types and capacity modes by name. A GPU's name is none of them: several types carry it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from agent.provenance.mentions import Mention, MentionKind
from agent.provenance.text import stands_alone
from agent.words import words
from core.cluster.clusters import CapacityMode
from core.cluster.instance_types import INSTANCE_TYPES

_ZONE_ID = re.compile(r"(?<![a-z0-9])[a-z]{2,4}\d-az\d{1,2}")
_REGION = (
    r"(?<![a-z0-9-])(?:us|eu|ap|sa|ca|mx|af|me|il|cn)(?:-(?:gov|iso[a-z]?))?"
    r"-(?:north|south|northeast|northwest|southeast|southwest|east|west|central)-\d"
)
"""By the words that AWS has for places: a cluster may well be called `my-model-1b`."""
_ZONE_NAME = re.compile(rf"{_REGION}[a-z]")
_REGION_NAME = re.compile(rf"{_REGION}(?![a-z0-9-])")
_SHORT_ZONE = re.compile(r"az[- ]?(\d{1,2})")
_ZONE_LETTER = re.compile(r"(?:\bzone\s+|可用区\s*)([a-f])|([a-f])\s*(?:可用区|区)")
_FULL_TYPE = re.compile(
    r"(?<![a-z0-9])(?:ml\.)?([a-z]{1,8}\d[a-z0-9]{0,8}(?:-[a-z0-9]{1,8})?)\.(\d*)(nano|micro|small|medium|large|xlarge|xl|metal)"
)
_FAMILY = re.compile(r"(?<![a-z0-9])(?:ml\.)?[a-z]{1,3}\d[a-z]{0,2}(?:-[a-z]+\d+)?")
_ON_DEMAND = re.compile(r"on[- ]?demand|按需")
_SPOT = re.compile(r"spot|竞价")
_SPOT_OTHERWISE = re.compile(r"\s*(?:on\b|check|an?\b|the\b|it\b|any\b|where)")
_PLAN_WORD = re.compile(r"training[- ]plans?|capacity plan|训练计划")
_PLAN_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PLAN_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:\d{12}:training-plan/[a-z0-9-]+")
_PLAN_AFTER = re.compile(rf"\s*(?:named|called|id|名为|叫做?|[:：])?\s*[\"“'`]?({_PLAN_NAME})(?![A-Za-z0-9-])")
_PLAN_BEFORE = re.compile(rf"({_PLAN_NAME})[\"”'`]?\s*(?:这个|的|这份)?\s*$")
_PLAN_ALONE = re.compile(rf"\bplan\s+({_PLAN_NAME})(?![A-Za-z0-9-])")
_NOT_A_PLAN_NAME = words(
    """in with for to and that which is of named called or we i if as at on by from has have will can it its please then
    so but not using use instance instances nodes node capacity"""
)


def families_with_one_size() -> dict[str, str]:
    """`p5en` -> `ml.p5en.48xlarge`: a family that has just one size names the type."""
    sizes: defaultdict[str, list[str]] = defaultdict(list)
    for instance_type in INSTANCE_TYPES.values():
        sizes[instance_type.family].append(instance_type.name)
    return {family: names[0] for family, names in sizes.items() if len(names) == 1}


_ONE_SIZE = families_with_one_size()


def zones(text: str, region: str) -> Iterator[Mention]:
    """Zone ids and zone names as they stand; `az2` and `zone b` are completed with the region.

    Another region than the account's stands for a zone there, where nobody named one: silence would build elsewhere.
    """
    others = [match for match in _REGION_NAME.finditer(text) if match[0] != region]
    meant = others[0][0] if others else region
    found = list(_zones(text, meant))
    yield from found
    if others and not found:
        yield from _alone(text, others[0], MentionKind.ZONE, meant)


def _zones(text: str, region: str) -> Iterator[Mention]:
    for match in _ZONE_ID.finditer(text):
        yield from _alone(text, match, MentionKind.ZONE, match[0])
    for match in _ZONE_NAME.finditer(text):
        yield from _alone(text, match, MentionKind.ZONE, match[0])
    for match in _SHORT_ZONE.finditer(text):
        yield from _alone(text, match, MentionKind.ZONE, f"{zone_prefix(region)}-az{match[1]}")
    for match in _ZONE_LETTER.finditer(text):
        yield from _alone(text, match, MentionKind.ZONE, f"{region}{match[1] or match[2]}")


def zone_prefix(region: str) -> str:
    """`us-west-2` -> `usw2`, `ap-northeast-1` -> `apne1`, `us-gov-west-1` -> `usgw1`: how zone ids begin."""
    area, *directions, number = region.split("-")
    short = "".join(_direction(word) for word in directions)
    return f"{area}{short}{number}"


def instance_types(text: str) -> Iterator[Mention]:
    """Types by their full name (`ml.` may be missing, `xl` may stand for `xlarge`), and one-size families."""
    taken: list[tuple[int, int]] = []
    for match in _FULL_TYPE.finditer(text):
        size = "xlarge" if match[3] == "xl" else match[3]
        for mention in _alone(text, match, MentionKind.INSTANCE_TYPE, f"ml.{match[1]}.{match[2]}{size}"):
            taken.append((mention.start, mention.end))
            yield mention
    for match in _FAMILY.finditer(text):
        name = _ONE_SIZE.get(match[0].removeprefix("ml."))
        if name is None or any(start <= match.start() < end for start, end in taken):
            continue
        yield from _alone(text, match, MentionKind.INSTANCE_TYPE, name)


def modes(text: str, original: str) -> Iterator[Mention]:
    """Capacity modes; a training plan with its name in the case it was written in."""
    for match in _ON_DEMAND.finditer(text):
        yield from _alone(text, match, MentionKind.MODE, CapacityMode.ON_DEMAND.value)
    for match in _SPOT.finditer(text):
        if match[0] != "spot" or not _SPOT_OTHERWISE.match(text, match.end()):
            yield from _alone(text, match, MentionKind.MODE, CapacityMode.SPOT.value)
    yield from _plans(text, original)


def _plans(text: str, original: str) -> Iterator[Mention]:
    seen: list[tuple[int, int]] = []
    for match in _PLAN_ARN.finditer(text):
        seen.append(match.span())
        yield _plan(match.start(), match.end(), original[match.start() : match.end()])
    for match in _PLAN_WORD.finditer(text):
        if any(start <= match.start() < end for start, end in seen):
            continue
        start, end, name = _plan_name(text, original, match)
        seen.append((start, end))
        yield _plan(start, end, name)
    for match in _PLAN_ALONE.finditer(text):
        name = original[match.start(1) : match.end(1)]
        if not any(start <= match.start() < end for start, end in seen) and _looks_like_an_id(name):
            yield _plan(match.start(), match.end(), name)


def _plan_name(text: str, original: str, word: re.Match[str]) -> tuple[int, int, str | None]:
    after = _PLAN_AFTER.match(original, word.end())
    if after and after[1].lower() not in _NOT_A_PLAN_NAME:
        return word.start(), after.end(1), after[1]
    before = _PLAN_BEFORE.search(original, 0, word.start())
    if before and _looks_like_an_id(before[1]):
        return before.start(1), word.end(), before[1]
    return word.start(), word.end(), None


def _looks_like_an_id(name: str) -> bool:
    return "-" in name or any(character.isdigit() for character in name)


def _plan(start: int, end: int, name: str | None) -> Mention:
    return Mention(kind=MentionKind.MODE, start=start, end=end, value=CapacityMode.TRAINING_PLAN.value, plan=name)


def _alone(text: str, match: re.Match[str], kind: MentionKind, value: str) -> Iterator[Mention]:
    if stands_alone(text, match.start(), match.end()):
        yield Mention(kind=kind, start=match.start(), end=match.end(), value=value)


def _direction(word: str) -> str:
    """`northeast` -> `ne`, `west` -> `w`, `gov` -> `g`."""
    parts = re.findall(r"north|south|east|west|central|gov|iso[a-z]?", word)
    return "".join(part[0] for part in parts) or word[:1]
