"""Numbers and what they count: nodes, GPUs, or something that is no capacity at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.provenance.mentions import Unit
from agent.provenance.text import is_cjk, stands_alone

_WORDS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "a dozen": 12,
    "two dozen": 24,
    "a single": 1,
    "a pair of": 2,
}
_ZH_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "俩": 2}
_ZH_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}

_NUMBER = re.compile(
    r"(?P<power>10\s?\^\s?\d{1,2})"
    r"|(?P<digits>-?\d{1,3}(?:,\d{3})+|-?\d+(?:\.\d+)?(?:e\d{1,2})?)(?P<zh_scale>[万亿])?"
    r"|(?P<words>\b(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + r")\b)"
    r"|(?P<zh>[零〇一二两三四五六七八九十百千万亿]+)"
)
_NODE_NOUN = (
    r"(?:(?:nodes?|instances?|machines?|hosts?|servers?|workers?|boxes)\b"
    r"|台|个?(?:计算|工作|训练)?(?:节点|实例|机器|服务器|主机)|机(?![器型会房制架]))"
)
_GPU_NOUN = r"(?:(?:gpus?|accelerators?|cards?)\b|[张块]?(?:加速)?(?:gpu|显?卡)|[张块](?=\s*[a-z]{1,2}\d{2,3}))"
_GPU_MODEL = r"(?:nvidia\s+)?(?:[abh]\d{2,3}s?|gb\d{3}|l40s|l4|t4|a10g|trainium2?)\b(?![-.])"
_TYPE = (
    r"(?:ml\.)?(?:[a-z]{1,8}\d[a-z0-9]{0,8}(?:-[a-z0-9]{1,8})?\.[a-z0-9]{4,12}"
    r"|p\d[a-z]{0,2}(?:-b\d+)?|trn\d\w?|g\d\w{0,2})\b"
)
_FILLER = (
    r"(?:[x×*]\s*|on[- ]?demand\s+|spot\s+|reserved\s+|new\s+|more\s+|additional\s+|extra\s+|other\s+|identical\s+"
    r"|of\s+(?:the\s+|those\s+|its\s+|our\s+|these\s+)?|the\s+|full\s+|compute\s+|training\s+|worker\s+|gpu\s+(?=node|inst|mach|work|host|serv)"
    r"|个?(?:按需|竞价)的?\s*|[个的]\s*|新的?\s*|型号?为?\s*|-\s?)"
)
_AFTER_NODES = re.compile(rf"\s*(?:{_FILLER}|{_TYPE}\s*|{_GPU_MODEL}\s+)*?{_NODE_NOUN}")
_AFTER_GPUS_PER_NODE = re.compile(
    rf"(?:\s?-\s?(?:gpu|card|accelerator)s?\s+|\s*[张块]?(?:gpu|显?卡)\s*的?\s*)(?:{_FILLER}|{_TYPE}\s*)*{_NODE_NOUN}"
)
_AFTER_GPUS = re.compile(rf"\s*(?:{_FILLER})*(?:{_GPU_MODEL}\s*的?\s*)?{_GPU_NOUN}")
_AFTER_GPU_MODEL = re.compile(rf"\s*(?:{_FILLER})*{_GPU_MODEL}")
_AFTER_TYPE = re.compile(rf"\s*(?:{_FILLER})*{_TYPE}")
_BEFORE_NODES = re.compile(
    r"(?:\b(?:nodes?|instances?|machines?|(?:node|instance|machine)\s+count|count|size)\s*(?:[:=]|of|is|to|=>)\s*"
    r"|(?:节点|实例|机器)(?:数量?|个数)?\s*(?:[:：=]|是|为|改成|改为|设为|到)?\s*|数量\s*(?:[:：=]|是|为)?\s*"
    rf"|{_TYPE}\s*[x×*]\s*)$"
)
_BARE_REQUEST_BEFORE = re.compile(
    r"(?:\bmake\s+(?:it|that|them|this)\s+|\b(?:change|set|reduce|increase|raise|lower|cut|bump|scale|shrink|grow|drop|resize)"
    r"(?:\s+\w+){0,4}?\s+to\s+|\b(?:i\s+meant|should\s+be|use|go\s+with|only|just)\s+"
    r"|(?:改成|改为|换成|变成|减到|加到|增加到|减少到|调到|调成|扩到|缩到|要|只要)\s*)$"
)
_BARE_REQUEST_AFTER = re.compile(r"\s*(?:instead\b|个?就(?:好|行|够)|个?吧|个\s*[。！.!]?\s*$)")
_BARE_WHOLE = re.compile(r"\s*(?:no|nope|sorry|actually|不|不对|不是)?[\s,，.]*$")
_ORDINAL_OR_NAME = re.compile(
    r"(?:第\s*|\b(?:version|step|epoch|rank|port|node|job|line|layer|seed|option|number|no\.|#|cuda|python|kubernetes|k8s)\s*)$"
)


_WINDOW = 80
"""Characters around a number that may say what it counts: keeps reading linear in the length of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """`start` and `end` span the number with its unit; `value` is absent when it is no whole number."""

    start: int
    end: int
    number_start: int
    number_end: int
    value: int | None
    unit: Unit


def numbers(text: str) -> Iterator[Number]:
    """The counts of a normalised text: those with a unit of capacity, and bare ones where a correction names them."""
    for match in _NUMBER.finditer(text):
        if not _is_free(text, match):
            continue
        found = _with_unit(text, match)
        if found is not None:
            yield found


def all_numbers(text: str) -> frozenset[float]:
    """Every amount that a normalised text names, whatever it counts; `1.2t` also names its 1200 GiB."""
    found = set()
    for match in _NUMBER.finditer(text):
        if match["zh"] is None and _is_inside_a_name(text, match.start()):
            continue
        value = float(match["digits"].replace(",", "")) if match["digits"] and not match["zh_scale"] else _value(match)
        if value is None:
            continue
        found.add(float(value))
        if re.match(r"\s*t(?:i?b)?\b", text[match.end() : match.end() + 8]):
            found |= {float(round(value * 1000)), float(round(value * 1024))}
    return frozenset(found)


def _is_inside_a_name(text: str, start: int) -> bool:
    """The `2` of `usw2` and the `48` of `p5.48xlarge` are no amounts; that of `x2` is."""
    before = text[start - 1] if start else " "
    if before == "x" and not text[max(0, start - 2) : start - 1].isalnum():
        return False
    return before.isascii() and (before.isalnum() or before in "-_.")


def _is_free(text: str, match: re.Match[str]) -> bool:
    """Not a part of a name, a version, an ordinal or a longer number."""
    start, end = match.span()
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    if _ORDINAL_OR_NAME.search(text[max(0, start - 12) : start]) or before in "._/@#$":
        return False
    if match["zh"] is not None:
        return after != "点"
    if before.isascii() and (before.isalnum() or before == "-"):
        return before == "x" and not text[max(0, start - 2) : start - 1].isalnum()
    if not before.isascii() and before.isalnum() and not is_cjk(before):
        return False
    return after not in "._%" or (after == "." and not text[end + 1 : end + 2].isalnum())


def _with_unit(text: str, match: re.Match[str]) -> Number | None:
    start, end = match.span()
    tail = text[end : end + _WINDOW]
    if _AFTER_GPUS_PER_NODE.match(tail):
        return None
    value = _value(match)
    for pattern, unit in (
        (_AFTER_NODES, Unit.NODES),
        (_AFTER_GPUS, Unit.ACCELERATORS),
        (_AFTER_GPU_MODEL, Unit.ACCELERATORS),
        (_AFTER_TYPE, Unit.NODES),
    ):
        if after := pattern.match(tail):
            return _number(start, end + after.end(), match, value, unit)
    is_times = start > 0 and text[start - 1] == "x"
    if not stands_alone(text, start - is_times, end):
        return None
    window = max(0, start - _WINDOW)
    if before := _BEFORE_NODES.search(text[window:start]):
        return _number(window + before.start(), end, match, value, Unit.NODES)
    if _is_bare_request(text, start, end):
        return _number(start, end, match, value, Unit.BARE)
    return None


def _is_bare_request(text: str, start: int, end: int) -> bool:
    head, tail = text[max(0, start - _WINDOW) : start], text[end : end + _WINDOW]
    if re.match(r"\s*[a-z0-9%个小天分]", tail) and not _BARE_REQUEST_AFTER.match(text, end):
        return re.match(r"\s+(?:please|and|then|in|with|,)\b", tail) is not None and bool(
            _BARE_REQUEST_BEFORE.search(head)
        )
    if _BARE_REQUEST_BEFORE.search(head) or _BARE_REQUEST_AFTER.match(text, end):
        return True
    return bool(start < _WINDOW and _BARE_WHOLE.fullmatch(head)) and not text[end:].strip(" .!吧。！")


def _number(start: int, end: int, match: re.Match[str], value: int | None, unit: Unit) -> Number:
    return Number(start=start, end=end, number_start=match.start(), number_end=match.end(), value=value, unit=unit)


def _value(match: re.Match[str]) -> int | None:
    if power := match["power"]:
        return int(10 ** int(power.split("^")[1]))
    if digits := match["digits"]:
        plain = float(digits.replace(",", "")) * _ZH_UNITS.get(match["zh_scale"] or "", 1)
        return int(plain) if plain.is_integer() else None
    if words := match["words"]:
        return _WORDS[words]
    return _chinese(match["zh"])


def _chinese(text: str) -> int:
    """`一百二十八` -> 128, `两` -> 2, `十六` -> 16."""
    total = section = digit = 0
    for character in text:
        if character in _ZH_DIGITS:
            digit = digit * 10 + _ZH_DIGITS[character] if len(text) > 1 and text.isdigit() else _ZH_DIGITS[character]
            continue
        unit = _ZH_UNITS[character]
        if unit >= 10_000:
            total += (section + digit) * unit
            section = 0
        else:
            section += (digit or 1) * unit
        digit = 0
    return total + section + digit
