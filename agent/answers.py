"""A person's words as the answer to the open question: "az2", "the second", 第二个, "yes".

Only a message that holds nothing but an answer is one. Anything more ("az2, and make it 6 nodes") is a
correction and goes to the model, whose citation of a said choice then closes the question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.provenance.counts import all_numbers
from agent.provenance.extract import extract_candidates
from agent.provenance.mentions import Candidate
from agent.provenance.text import normalise
from agent.words import phrases, words
from core.choices import ELISION, ChoiceKind
from core.json_value import JsonObject, JsonValue
from core.messages.message import Language
from core.questions import APPROVE, REJECT, Option, QuestionKind
from state.records import Question

_YES = phrases(
    """yes | y | yep | yeah | ok | okay | sure | approve | approved | i approve | go | go ahead | go for it | do it
    | confirm | confirmed | sounds good | looks good | lgtm | yes please | please do | proceed | agreed | accept | fine
    | alright | all right | fine by me | works for me | ship it | yes go ahead | ok go ahead | yes do it
    | yes approve | 批准 | 同意 | 可以 | 可以的 | 好 | 好的 | 好吧 | 行 | 是 | 是的 | 对 | 对的 | 没错
    | 看起来没问题 | 看着没问题 | 建吧 | 创建吧 | 删吧 | 删除吧 | 跑吧 | 提交吧 | 确认 | 没问题 | 来吧 | 去做吧
    | 就这么办 | 执行 | 执行吧 | 开始 | 开始吧 | 就这样 | 通过 | 我同意 | 我批准 | 嗯"""
)
_NO = phrases(
    """no | n | nope | reject | rejected | deny | denied | decline | stop | cancel | cancel it | never mind | nevermind
    | forget it | don't | do not | no thanks | no thank you | abort | drop it | i reject | 拒绝
    | 不 | 不要 | 不行 | 不可以
    | 取消 | 不同意 | 算了 | 否 | 别 | 不用了 | 停 | 放弃 | 不批准"""
)
_POLITE = phrases("please | thanks | thank you | thx | ty | 谢谢 | 谢了 | 多谢 | 麻烦了 | 辛苦了")
_ORDINALS = {
    word: place
    for place, spellings in enumerate(
        (
            ("first", "1st", "一"),
            ("second", "2nd", "二", "两"),
            ("third", "3rd", "三"),
            ("fourth", "4th", "四"),
            ("fifth", "5th", "五"),
        )
    )
    for word in spellings
}
_ORDINAL = re.compile(
    r"\b(first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th)\b|第\s*([一二两三四五]|\d{1,2})\s*(?:个|项|种|条)?"
)
_NUMBER = re.compile(r"(?:option|number|choice|no\.?|#|选项?|编号)?\s*(\d{1,2})\s*(?:号|\.|\))?")
_LAST = re.compile(r"\blast\b|最后")
_RECOMMENDED = re.compile(r"\brecommended\b|\byour\s+(?:recommendation|pick|suggestion)\b|推荐")
_NAMED = re.compile(
    r"(?:call(?:ed)?\s+it|name\s+it|named?|call(?:ed)?|it'?s|use|叫做?|名字?(?:是|叫|为)|名为|就叫|用)\s*[:：]?\s*[\"'“`]?([^\s\"'”`，。,]+)[\"'”`]?"
)
_TOKEN = re.compile(r"[\"'“`]?([\w][\w./:@-]*)[\"'”`]?[.。!！吧]?", re.ASCII)
_FILLER = words(
    """use using in into on the zone availability az please pls go with take pick choose select put it let lets let's us
    one ok okay yes i want we i'd would like prefer for and at type instance instances option that this to a an then is
    be will have make cluster mine my thanks thank you of deploy nodes node machines capacity just"""
)
_FILLER_ZH = frozenset("用在放到选择就请吧的个那这了要我们想可区好行是里把它给型实例类台节点机器集群使")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenAnswer:
    """One of both: an option of the list, or a value as written."""

    option_id: str | None = None
    value: JsonValue = None


def answer_in_words(question: Question, text: str, *, region: str) -> SpokenAnswer | None:
    """`None`: the message is not (only) an answer to this question."""
    plain = normalise(text).strip().strip(" .!。！,，")
    if not plain or len(plain) > 200:
        return None
    if question.kind is QuestionKind.APPROVAL:
        return _decision(question, plain)
    for found in (_by_place(question, plain), _by_words(question, text, plain, region)):
        if found is not None:
            return found
    if plain in _YES and len(question.options) == 1:
        return SpokenAnswer(option_id=question.options[0].id)
    return None


def verdict(text: str) -> str | None:
    """`APPROVE` or `REJECT` for a message of nothing but yes or no (`looks good, go`, 好的，批准); else `None`."""
    compact = " ".join(re.sub(r"[,，.。!！;；]", " ", normalise(text)).split())
    pieces = [piece.strip() for piece in re.split(r"[,，.。!！;；]+", normalise(text)) if piece.strip()]
    meant = [piece for piece in pieces if piece not in _POLITE]
    for wanted, spellings in ((APPROVE, _YES), (REJECT, _NO)):
        if compact in spellings or (meant and all(piece in spellings for piece in meant)):
            return wanted
    return None


def _decision(question: Question, plain: str) -> SpokenAnswer | None:
    wanted = verdict(plain)
    if wanted is not None:
        return next((SpokenAnswer(option_id=option.id) for option in question.options if option.value == wanted), None)
    return _by_place(question, plain)


def _by_place(question: Question, plain: str) -> SpokenAnswer | None:
    """`2`, `the second one`, 第二个, `the last`, `the recommended one`."""
    options = question.options
    if not options:
        return None
    if match := _NUMBER.fullmatch(plain):
        return _at(options, int(match[1]) - 1) if not _takes_number(question) else None
    if (match := _ORDINAL.search(plain)) and _is_filler(plain[: match.start()] + " " + plain[match.end() :]):
        word = match[1] or match[2]
        return _at(options, int(word) - 1 if word.isdigit() else _ORDINALS[word])
    if (match := _LAST.search(plain)) and _is_filler(plain[: match.start()] + " " + plain[match.end() :]):
        return _at(options, len(options) - 1)
    if (match := _RECOMMENDED.search(plain)) and _is_filler(plain[: match.start()] + " " + plain[match.end() :]):
        return next((SpokenAnswer(option_id=option.id) for option in options if option.is_recommended), None)
    return None


def _takes_number(question: Question) -> bool:
    """A missing number: `2` is the value, not a place in the list."""
    return question.kind is QuestionKind.MISSING and any(isinstance(option.value, int) for option in question.options)


def _by_words(question: Question, text: str, plain: str, region: str) -> SpokenAnswer | None:
    if question.kind in {QuestionKind.AVAILABILITY_ZONE, QuestionKind.INSTANCE_TYPE, QuestionKind.CAPACITY}:
        return _by_candidate(question, text, plain, ChoiceKind(question.kind.value), region)
    if (named := _by_name(question, plain)) is not None:
        return named
    if question.kind is QuestionKind.MISSING and question.takes_other:
        return _as_written(question, text)
    return None


def _by_candidate(question: Question, text: str, plain: str, kind: ChoiceKind, region: str) -> SpokenAnswer | None:
    found = extract_candidates(text, sequence=0, region=region)
    usable = [candidate for candidate in found if candidate.is_usable and candidate.choice.kind is kind]
    if len(usable) != 1 or any(not candidate.is_usable for candidate in found):
        return None
    others = [candidate for candidate in found if candidate.choice.kind is not kind]
    if not _is_only(plain, [*usable, *others]) or (others and kind is not ChoiceKind.CAPACITY):
        return None
    value = usable[0].choice.value
    if kind is ChoiceKind.CAPACITY and isinstance(value, Mapping):
        return _capacity(question, value, others)
    if (option := _agreeing(question.options, value)) is not None:
        return SpokenAnswer(option_id=option.id)
    return SpokenAnswer(value=value)


def _capacity(question: Question, said: JsonObject, others: Sequence[Candidate]) -> SpokenAnswer | None:
    """The first option that agrees with all that was said; otherwise the value as written, where that is taken."""
    wanted: dict[str, JsonValue] = {key: value for key, value in said.items() if value is not None}
    for other in others:
        wanted["zone" if other.choice.kind is ChoiceKind.AVAILABILITY_ZONE else "type"] = other.choice.value
    if not wanted:
        return None
    if (option := _agreeing(question.options, wanted)) is not None:
        return SpokenAnswer(option_id=option.id)
    return SpokenAnswer(value=wanted)


def _agreeing(options: Sequence[Option], wanted: JsonValue) -> Option | None:
    for option in options:
        if isinstance(wanted, Mapping) and isinstance(option.value, Mapping):
            if all(option.value.get(key) == value for key, value in wanted.items()):
                return option
        elif option.value == wanted:
            return option
    return None


def _by_name(question: Question, plain: str) -> SpokenAnswer | None:
    """The one option whose value or label stands in the text, with nothing else but filler beside it."""
    hits = [option for option in question.options for name in _names(option) if _stands_in(plain, name)]
    if len({option.id for option in hits}) != 1:
        return None
    return SpokenAnswer(option_id=hits[0].id)


def _names(option: Option) -> list[str]:
    value = option.value
    values = [item for item in value.values() if isinstance(item, str)] if isinstance(value, Mapping) else [value]
    names = [normalise(str(item)) for item in values if item is not None]
    return [*names, *(normalise(option.label.render(language)) for language in Language)]


def _stands_in(plain: str, name: str) -> bool:
    match = re.search(rf"(?<![a-z0-9_-]){re.escape(name)}(?![a-z0-9_-])", plain)
    return match is not None and _is_filler(plain[: match.start()] + " " + plain[match.end() :])


def _as_written(question: Question, text: str) -> SpokenAnswer | None:
    """A name, a number or a path: alone, or after `call it` and the like."""
    stripped = text.strip()
    numbers = all_numbers(normalise(stripped))
    if any(isinstance(option.value, int) for option in question.options) and len(numbers) == 1:
        return SpokenAnswer(value=int(next(iter(numbers))))
    if match := _TOKEN.fullmatch(stripped):
        return SpokenAnswer(value=int(match[1]) if match[1].isdigit() else match[1])
    if (match := _NAMED.search(stripped)) and _is_filler(
        normalise(stripped[: match.start()] + " " + stripped[match.end() :])
    ):
        return SpokenAnswer(value=match[1])
    return None


def _is_only(plain: str, candidates: Sequence[Candidate]) -> bool:
    rest = plain
    for candidate in candidates:
        for piece in normalise(candidate.choice.quote).split(ELISION):
            rest = rest.replace(piece.strip(), " ", 1)
    return _is_filler(rest)


def _is_filler(rest: str) -> bool:
    latin = re.findall(r"[a-z0-9'_-]+", rest)
    chinese = re.findall(r"[\u4e00-\u9fff]", rest)
    return all(word in _FILLER for word in latin) and all(character in _FILLER_ZH for character in chinese)


def _at(options: Sequence[Option], place: int) -> SpokenAnswer | None:
    return SpokenAnswer(option_id=options[place].id) if 0 <= place < len(options) else None
