"""From a message to candidates: the only way in which words of a person become a human choice.

The model never reads a choice out of the text. It is given ids of the usable candidates found here, and may
cite one or leave the choice open, so that code asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from agent.provenance.counts import Number, numbers
from agent.provenance.entities import instance_types, modes, zones
from agent.provenance.mentions import Candidate, Mention, MentionKind, Role, Standing, Unit
from agent.provenance.quoted import Quoted
from agent.provenance.roles import role_at
from agent.provenance.standing import judge
from agent.provenance.text import normalise
from core.choices import ELISION, Choice, ChoiceKind, Origin
from core.json_value import JsonValue

MOST_MENTIONS = 60
"""A message that names more than this is pasted material, whatever it looks like: nothing in it is a choice."""
_SHORT = {ChoiceKind.AVAILABILITY_ZONE: "zone", ChoiceKind.INSTANCE_TYPE: "type", ChoiceKind.CAPACITY: "capacity"}


def extract_candidates(text: str, *, sequence: int, region: str) -> tuple[Candidate, ...]:
    """All choices mentioned in one message of the requester, usable or not, in the order of the text.

    `sequence` is the transcript entry; a candidate's id (`capacity-12-1`) is unique in the conversation.
    """
    mentions = find_mentions(text, region)
    singles = [mention for mention in mentions if mention.kind in {MentionKind.ZONE, MentionKind.INSTANCE_TYPE}]
    found = [(mention.start, _single(text, mention, sequence)) for mention in singles]
    found += _capacities(text, mentions, sequence)
    numbering = {kind: count(1) for kind in ChoiceKind}
    return tuple(
        replace(candidate, position=start, id=f"{_SHORT[kind]}-{sequence}-{next(numbering[kind])}")
        for start, candidate in sorted(found, key=lambda item: item[0])
        for kind in [candidate.choice.kind]
    )


def find_mentions(text: str, region: str) -> list[Mention]:
    """Every mention with its standing: quotation first, then polarity and company among the unquoted ones."""
    plain = normalise(text)
    quoted = Quoted(plain)
    mentions = [*zones(plain, region), *instance_types(plain), *modes(plain, text)]
    counted = list(numbers(plain))
    is_too_much = len(mentions) + len(counted) > MOST_MENTIONS
    mentions += [_count(plain, number, with_role=not is_too_much) for number in counted]
    if len(mentions) > MOST_MENTIONS:
        return sorted(
            (mention.with_standing(Standing.QUOTED) for mention in mentions), key=lambda mention: mention.start
        )
    own: list[Mention] = []
    foreign: list[Mention] = []
    for mention in mentions:
        standing = quoted.standing_at(mention.start)
        (own if standing is None else foreign).append(mention if standing is None else mention.with_standing(standing))
    return sorted([*judge(plain, own), *foreign], key=lambda mention: (mention.start, mention.end))


def _count(plain: str, number: Number, *, with_role: bool) -> Mention:
    role = role_at(plain, number.number_start, number.end) if with_role else Role.CAPACITY
    standing = Standing.USABLE
    if number.value is None:
        standing = Standing.ALTERNATIVE
    elif role is Role.JOB:
        standing = Standing.OTHER_ROLE
    return Mention(
        kind=MentionKind.COUNT,
        start=number.start,
        end=number.end,
        value=number.value if number.value is not None else 0,
        unit=number.unit,
        role=role,
        standing=standing,
    )


def _single(text: str, mention: Mention, sequence: int) -> Candidate:
    kind = ChoiceKind.AVAILABILITY_ZONE if mention.kind is MentionKind.ZONE else ChoiceKind.INSTANCE_TYPE
    return _candidate(kind, mention.value, text[mention.start : mention.end], mention.standing, sequence)


def _capacities(text: str, mentions: Sequence[Mention], sequence: int) -> list[tuple[int, Candidate]]:
    """Counts joined with the mode that was said: several counts share the only mode, several modes go by order."""
    counts = [mention for mention in mentions if mention.kind is MentionKind.COUNT]
    usable_modes = _distinct(
        [mention for mention in mentions if mention.kind is MentionKind.MODE and mention.is_positive]
    )
    usable = [mention for mention in counts if mention.is_positive]
    nodes = [mention for mention in usable if mention.unit is not Unit.ACCELERATORS]
    chosen = nodes or usable
    found = []
    for place, mention in enumerate(chosen):
        mode = _mode_of(place, len(chosen), usable_modes)
        found.append((mention.start, _capacity(text, mention, mode, sequence)))
    if not chosen:
        found += [(mode.start, _capacity(text, None, mode, sequence)) for mode in usable_modes]
    unusable = [mention for mention in mentions if mention.kind in {MentionKind.COUNT, MentionKind.MODE}]
    for mention in unusable:
        if not mention.is_positive:
            is_count = mention.kind is MentionKind.COUNT
            found.append(
                (mention.start, _capacity(text, mention if is_count else None, None if is_count else mention, sequence))
            )
    return found


def _distinct(modes_said: Sequence[Mention]) -> list[Mention]:
    """Said twice is said once; a plan's name outweighs the bare word."""
    kept: dict[tuple[str | int, str | None], Mention] = {}
    named = {mode.value for mode in modes_said if mode.plan}
    for mode in modes_said:
        if mode.plan or mode.value not in named:
            kept.setdefault((mode.value, mode.plan), mode)
    return list(kept.values())


def _mode_of(place: int, counts: int, usable_modes: Sequence[Mention]) -> Mention | None:
    if len(usable_modes) == 1:
        return usable_modes[0]
    return usable_modes[place] if len(usable_modes) == counts else None


def _capacity(text: str, number: Mention | None, mode: Mention | None, sequence: int) -> Candidate:
    parts = sorted((part for part in (number, mode) if part is not None), key=lambda part: part.start)
    is_nodes = number is not None and number.unit is not Unit.ACCELERATORS
    value: dict[str, JsonValue] = {
        "mode": mode.value if mode else None,
        "count": number.value if number and is_nodes else None,
        "plan": mode.plan if mode else None,
    }
    facts: dict[str, JsonValue] = {}
    if number is not None and number.unit is Unit.ACCELERATORS:
        facts["accelerators"] = number.value
    if number is not None and number.unit is Unit.BARE:
        facts["is_bare"] = True
    standing = next((part.standing for part in parts if not part.is_positive), Standing.USABLE)
    candidate = _candidate(ChoiceKind.CAPACITY, value, _quote(text, parts), standing, sequence)
    return replace(candidate, facts=facts)


def _quote(text: str, parts: Sequence[Mention]) -> str:
    """The words themselves: in one piece where they touch or overlap, otherwise joined by an ellipsis."""
    start, end = parts[0].start, parts[0].end
    pieces = []
    for part in parts[1:]:
        if part.start <= end + 1:
            end = max(end, part.end)
        else:
            pieces.append(text[start:end])
            start, end = part.start, part.end
    return ELISION.join([*pieces, text[start:end]])


def _candidate(kind: ChoiceKind, value: JsonValue, quote: str, standing: Standing, sequence: int) -> Candidate:
    choice = Choice(kind=kind, value=value, origin=Origin.SAID, quote=quote.strip(), reference=f"transcript:{sequence}")
    return Candidate(id="", choice=choice, standing=standing, sequence=sequence)
