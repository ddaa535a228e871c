"""Polarity and company of a mention: negated, one of several, a maybe, a condition, a question, corrected later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from agent.provenance.mentions import Mention, MentionKind, Standing
from agent.provenance.quoted import LONGEST_SENTENCE
from agent.provenance.text import sentence_around

_NEGATION = re.compile(
    r"\b(?:not|never|avoid(?:ing)?|except(?:\s+for)?|excluding|exclude|without|other\s+than|instead\s+of|rather\s+than"
    r"|anything\s+but|anywhere\s+but|but\s+not|nor|neither|no(?=\s)|cannot|forget\s+about|stay\s+away\s+from|hate"
    r"|(?:don|doesn|do|does|won|can|isn|aren|shouldn|mustn|wouldn|couldn|wasn)['’]?n?['’]?t)\b"
    r"|不要|别|不用|不在|不能|不许|不想|不是|不选|不放|不希望|除了|除开|而不是|避开|避免|排除|禁止|请勿|勿|千万别|不考虑|不得|(?<![删清解排免移])除(?![了开非])"
)
_NOT_A_NEGATION = re.compile(
    r"\b(?:do\s*n['’]?o?t|don['’]?t)\s+(?:forget|worry|mind)|\bnot\s+only|\b(?:no|not)\s+(?:more|less|fewer|later)\s+than|\bno\s+(?:problem|worries|need\s+to\s+ask)|\bwhy\s+(?:don['’]?t|not)"
    r"|能不能|可不可以|是不是|要不要|别忘|不要忘|不用担心|别担心|特别|分别|级别|类别|别的|区别"
)
_SCOPE_END = re.compile(
    r"[,，:：;；()（）]|\b(?:but|use|put|go\s+with|choose|take|however|instead(?!\s+of)|and\s+(?:use|put|then|do|make|in))\b|而是|改用|请用|要用|用(?!的)|放在|选(?!择)"
)
_LIST_JOIN = re.compile(r"\s*(?:[,，、/]|\bor\b|\band\b|\bnor\b|和|或者?|及|以及|还是|跟|与|\s|\bin\b|在)*\s*")
_NEGATED_AFTER = re.compile(
    r"\s*(?:(?:is|are|was)\s+(?:not|out|full|no\s+good|bad|unavailable|excluded|forbidden)|(?:won|doesn|isn|can)['’]?t\b|not\s+(?:ok|allowed|good)"
    r"|(?:就|可)?(?:不行|不要|不可以|不能用|不好|除外|以外|之外|外(?=都|均|的|任|,|，|\s|$)|满了|没有容量|不可用|排除))"
)
_OR = re.compile(
    r"\bor\b|\beither\b|\botherwise\b|\bfailing\s+that\b|\belse\b|\bversus\b|\bvs\b|或者?|还是|要么|否则|不然|/|\bto\b|-|~|～|至|到|–|—"
)
_EITHER_OR_WORD = re.compile(
    r"\bor\b|\botherwise\b|\bfailing\s+that\b|\belse\b|\bversus\b|\bvs\b|或者?|还是|要么|否则|不然|/"
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|might|could\s+be|for\s+example|e\.g\.|such\s+as|say|something\s+like|like)\s*(?:in\s+|on\s+)?$"
    r"|(?:可能|也许|大概|或许|比如|例如|譬如|诸如)(?:在|是|用)?\s*$"
)
_BOUND_BEFORE = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|at\s+least|at\s+most|up\s+to|no\s+more\s+than|not\s+more\s+than|more\s+than"
    r"|less\s+than|fewer\s+than|over|under|between|minimum\s+of|maximum\s+of|max|min|no\s+fewer\s+than|maybe|perhaps|probably|say)\s+"
    r"|[~≈<>≤≥]=?\s*|大约|大概|约|差不多|至少|最少|最多|至多|不超过|不少于|不低于|超过|少于|多于|左右的?|上限|下限|可能)(?:要|用|有|得|需要|是)?\s*$"
)
_BOUND_AFTER = re.compile(r"\s*(?:\+|左右|上下|以上|以下|以内|or\s+(?:so|more|less|fewer)|at\s+(?:least|most)|或更多)")
_RANGE_BEFORE = re.compile(r"\d\s*(?:-|–|—|~|～|to|or|至|到|或者?)\s*$")
_RANGE_AFTER = re.compile(r"\s*(?:-|–|—|~|～|to|or|至|到|或者?)\s*-?\d")
_FROM_TO = re.compile(r"(?:\bfrom\s+|从\s*)\d+\s*\S{0,12}?\s*(?:to|到|至)\s*$")
_CONDITION = re.compile(r"\b(?:if|unless|in\s+case|when(?:ever)?\s+(?:there|it|that))\b|如果|要是|万一|除非|假如|若")
_COURTESY = re.compile(
    r"\bif\s+(?:possible|you\s+(?:can|could|don['’]?t\s+mind)|that['’]?s?\s+(?:is\s+)?(?:ok|okay|fine|possible|works?)|need\s+be)"
    r"|如果(?:可以|可能|方便|行)(?:的话)?"
)
_PAST = re.compile(
    r"\b(?:previously|last\s+(?:time|week|month|year)|earlier|formerly|used\s+to|in\s+the\s+past|back\s+then|originally|until\s+now)\b"
    r"|上次|之前|以前|原来|原先|曾经|过去|上回|此前"
)
_PAST_END = re.compile(r"\bnow\b|\bbut\b|\bthis\s+time\b|\binstead\b|[,，;；]|这次|现在|但|改")
_QUESTION_END = re.compile(r"[?？]\s*$|[吗呢么]\s*[。.]?\s*$")
_REQUEST_QUESTION = re.compile(
    r"\b(?:can|could|would|will)\s+(?:you|we|i)\b|\bplease\b|\bmind\b|\bhow\s+about\s+(?:creating|making|adding)|能不能|能否|可不可以|可否|(?:可以|能).{0,40}(?:建|搭|开|启动|部署|跑|提交|加).{0,40}吗|可以吗|帮|麻烦|请|好吗|行吗"
)
_WISH_QUESTION = re.compile(
    r"\b(?:can|could)\s+(?:you|we|i)\s+(?:tell|show|see|explain|check|list|know|describe)\b|看看|查|告诉"
)
_CORRECTION = re.compile(
    r"(?:^|[\s,.;!，。；！-])(?:no|nope|wait|sorry|actually|i\s+mean|i\s+meant|make\s+that|scratch\s+that|correction|oops|on\s+second\s+thought)\b"
    r"|不对|不，|不,|改成|改为|换成|减到|减少到|缩到|加到|增加到|扩到|调到|变成|应该是|更正|哦不|说错|等等|抱歉|算了"
)
_DESCRIPTION = re.compile(
    r"\b(?:cluster|group|file\s*system|fsx|lustre|bucket|data|dataset|volume|job|quota|limit|price|region|one|it|that|which)s?\b[^,.;，。]{0,40}?"
    r"\b(?:is|are|was|were|runs?|ran|lives?|sits?|has|had|exists?)\s+(?:already\s+|now\s+|currently\s+)?(?:running\s+|located\s+|placed\s+)?(?:in|on|at|with)?\s*$"
    r"|(?:集群|文件系统|存储|数据|任务|配额|额度|上限|它)[^,.;，。]{0,12}(?:已经|现在|目前|原来|之前)(?:在|是|有|用)\s*$"
)
_WISH_BEFORE = re.compile(
    r"\b(?:want|need|like|create|make|build|should|must|set\s+up|spin\s+up|launch)\b|想|要|需要|创建|建|搭"
)


_OF_THE_SENTENCE = {Standing.DESCRIPTION, Standing.QUESTION, Standing.CONDITIONAL}


def judge(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Each mention with the first reason against it, in the order of the text."""
    ordered = sorted(mentions, key=lambda mention: mention.start)
    judged: list[Mention] = []
    for mention in ordered:
        before = [earlier for earlier in judged if earlier.end <= mention.start]
        judged.append(_judge_alone(text, mention, before))
    judged = _mark_alternatives(text, judged)
    judged = _mark_superseded(text, judged)
    return [_share_standing(mention, judged) for mention in judged]


def _judge_alone(text: str, mention: Mention, before: Sequence[Mention]) -> Mention:
    start, end = sentence_around(text, mention.start)
    if end - start > LONGEST_SENTENCE:
        return mention.with_standing(Standing.QUOTED)
    head, tail = text[start : mention.start], text[mention.end : end]
    if _is_negated(head, tail) or _continues_negated_list(text, mention, before):
        return mention.with_standing(Standing.NEGATED)
    if _is_question(text[start:end]):
        return mention.with_standing(Standing.QUESTION)
    if _CONDITION.search(_COURTESY.sub("", text[start:end])):
        return mention.with_standing(Standing.CONDITIONAL)
    if _HEDGE.search(head) or (mention.kind is MentionKind.COUNT and _is_bound(head, tail)):
        return mention.with_standing(Standing.ALTERNATIVE)
    if _is_past(head) or (_DESCRIPTION.search(head) and not _WISH_BEFORE.search(head)):
        return mention.with_standing(Standing.DESCRIPTION)
    return mention


def _is_negated(head: str, tail: str) -> bool:
    if _NEGATED_AFTER.match(tail):
        return True
    exempt = [match.span() for match in _NOT_A_NEGATION.finditer(head)]
    cues = [
        match for match in _NEGATION.finditer(head) if not any(start <= match.start() < end for start, end in exempt)
    ]
    if not cues:
        return False
    scope = head[cues[-1].end() :]
    if cues[-1][0] in {"除了", "除开"} and re.search(r"以外|之外|，|,", scope):
        return False
    return _SCOPE_END.search(_without_verb_of_the_negation(scope)) is None


def _without_verb_of_the_negation(scope: str) -> str:
    """`don't use X`, `不要用 X`: the verb right behind the negation belongs to it."""
    return re.sub(
        r"^\s*(?:to\s+|want\s+(?:it\s+|them\s+)?(?:to\s+)?)?(?:use|put|choose|take|go\s+with)\b|^\s*(?:再|要|能)?(?:用|放在|选择?|要用)",
        "",
        scope,
    )


def _continues_negated_list(text: str, mention: Mention, before: Sequence[Mention]) -> bool:
    """`not az1, az2 or az3`: the negation holds for the whole list."""
    if not before:
        return False
    last = before[-1]
    same = last.kind is mention.kind and last.standing is Standing.NEGATED
    return same and _LIST_JOIN.fullmatch(text[last.end : mention.start]) is not None


def _is_bound(head: str, tail: str) -> bool:
    if _FROM_TO.search(head) and not _BOUND_AFTER.match(tail):
        return False
    return bool(
        _BOUND_BEFORE.search(head) or _BOUND_AFTER.match(tail) or _RANGE_BEFORE.search(head) or _RANGE_AFTER.match(tail)
    )


def _is_past(head: str) -> bool:
    """`last time we used usw2-az1`: how it was, until the sentence turns to the present."""
    cues = list(_PAST.finditer(head))
    return bool(cues) and _PAST_END.search(head[cues[-1].end() :]) is None


def _is_question(sentence: str) -> bool:
    if not _QUESTION_END.search(sentence):
        return False
    return not _REQUEST_QUESTION.search(sentence) or bool(_WISH_QUESTION.search(sentence))


def _mark_alternatives(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Two mentions of a kind in one sentence with "or" between them: neither is a choice."""
    marked = list(mentions)
    for kind in MentionKind:
        places = [place for place, mention in enumerate(mentions) if mention.kind is kind]
        for left, right in pairwise(places):
            if _are_alternatives(text, mentions[left], mentions[right]):
                marked[left] = marked[left].with_standing(Standing.ALTERNATIVE)
                marked[right] = marked[right].with_standing(Standing.ALTERNATIVE)
    return marked


def _are_alternatives(text: str, left: Mention, right: Mention) -> bool:
    if left.value == right.value and left.plan == right.plan:
        return False
    between = text[left.end : right.start]
    if re.search(r"[.;!?。；！？\n]", between) and not re.search(
        r"\botherwise\b|\bfailing\s+that\b|否则|不然", between
    ):
        return False
    if _EITHER_OR_WORD.search(between):
        return True
    return bool(_OR.fullmatch(between.strip())) or re.fullmatch(r"\s*[,，、]\s*", between) is not None


def _share_standing(mention: Mention, others: Sequence[Mention]) -> Mention:
    """`the quota is 16 p5.48xlarge`: the type inside a count that is no wish is none either."""
    for other in others:
        is_inside = other is not mention and other.start <= mention.start and mention.end <= other.end
        if is_inside and other.standing in _OF_THE_SENTENCE:
            return mention.with_standing(other.standing)
    return mention


def _mark_superseded(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """`8 nodes, no, 4 nodes`: what stands before the correction is taken back by the same kind behind it."""
    marked = list(mentions)
    for kind in MentionKind:
        places = [place for place, mention in enumerate(mentions) if mention.kind is kind]
        for left, right in pairwise(places):
            between = text[mentions[left].end : mentions[right].start]
            if mentions[right].is_positive and _CORRECTION.search(between):
                marked[left] = marked[left].with_standing(Standing.SUPERSEDED)
    return marked
