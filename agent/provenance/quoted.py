"""Which parts of a message are not the requester's own words: quotations, pasted blocks, other people's notes."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from agent.provenance.mentions import Standing

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]*`")
_QUOTATION = re.compile(
    r'"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|‘[^’\n]*’'
    r"|(?<![\w'])'[^'\n]+'(?!\w)"
)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_LOG_LINE = re.compile(
    r"""^[ \t]*(?:
        \[?\d{4}-\d\d-\d\d[t ]\d\d:\d\d            # a time stamp
      | \[?\d\d:\d\d:\d\d
      | (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\s+\d+\s+\d\d:\d\d
      | \[?(?:debug|info|warn|warning|error|fatal|critical|trace)\b[\]:\s]
      | (?:traceback\b|file\s"|at\s[\w.$]+\(|exception\b|caused\sby)
      | [{}\[\]]\s*["\w{}\[\]]*\s*[:,{}\[\]]       # JSON
      | "[\w.-]+"\s*:
      | [\w.-]+=\S+(?:\s+[\w.-]+=\S+)+             # key=value pairs
      | (?:\$|\#|%|>>>|\(\w+\))\s+\w               # a shell or interpreter prompt
      | \|.*\|\s*$                                 # a table's row
      | (?:user|human|assistant|system|tool|developer)\s*[:>\]]
    ).*$""",
    re.MULTILINE | re.VERBOSE,
)
_REPORTED = re.compile(
    r"""
      (?:^|(?<=[\s,.;]))[\w.@' -]{0,40}?\b(?:said|says|wrote|writes|suggested|suggests|recommended|recommends
          |proposed|proposes|thinks|told\sme|mentioned|mentions)\b
    | \b(?:according\sto|quoting|forward(?:ed|ing)?(?:\sfrom|\smessage|:)|fwd:|fw:|(?:note|message|e?mail)\sfrom)
    | (?:同事|老板|领导|客户|别人|他|她|他们|有人|[\u4e00-\u9fff]{1,3}(?:总|哥|姐|工|老师))[\u4e00-\u9fff]{0,3}?
      (?:说|写道|建议|提到|认为|推荐)
    | (?:^|(?<=[\s,，。;；]))(?!我|就是|比如|例如|换句话|听)[\u4e00-\u9fff]{2,3}(?:说|写道)
      (?=\s*[:：用放选建要在让最应可])
    | 听说|据说
    | (?:同事|老板|领导|客户|经理)(?:们)?(?:让|叫|要求|希望|想)
    | \b(?:my|our|the)\s+(?:manager|boss|colleague|lead|teammate|coworker|customer|client|cto|director|vendor)s?\s+
      (?:\w+\s+)?(?:wants?|prefers?|likes?|asked|insists?|needs?|requested)\b
    | \b(?!(?:i|we|you|they|it|this|that|which|who|team)\b)[a-z]+\s+(?:prefers|insists\s+on)\b
    | \b[a-z]+'s\s+(?:note|message|e?mail|suggestion|advice|words|comment|opinion|idea)s?\b
    | \b(?:as\s+)?(?:in|per|from)\s+(?:the|this|our)\s+
      (?:docs?|wiki|runbook|ticket|notes?|e?mail|message|example|template|logs?|readme)\b
    | 转发|以下是.{0,12}(?:的话|留言|消息|邮件|笔记)
    """,
    re.VERBOSE,
)
_SELF = re.compile(r"(?:^|\W)(?:i|we)\s+(?:just\s+|also\s+|already\s+)?$")
_SELF_ZH = re.compile(r"我们?\s*$")
_LETTER_HEAD = re.compile(
    r"^[ \t]*(?:-{2,}\s*(?:original|forwarded).*|from:\s.*|on\s.{4,60}\swrote:|begin forwarded message.*|发件人[:：].*"
    r"|-{2,}\s*(?:转发|原始).*)$",
    re.MULTILINE,
)
_REPORT_END = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(r"[;!?\n。；！？]|\.(?=\s|$)")
_TURN_BACK = re.compile(
    r"\b(?:but|however|so)\b|\b(?:i|we)\s+(?:prefer|want|need|would|choose|take)\b|但是|但|不过|所以|我(?:们)?(?:想|要|选|用|觉得|还是)"
)


_QUOTED_SPEECH = re.compile(rf"\s*(?:that\s*)?[:：,，]?\s*(?:{_QUOTATION.pattern})")
_COLON = re.compile(r"\s*(?:that\s*)?[:：]")
_WINDOW = 40
LONGEST_SENTENCE = 600
"""Characters: a longer stretch without an end is no sentence of a person, and its words cannot be told apart safely."""


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    standing: Standing


class Quoted:
    """Spans of a normalised text that carry no choice of the requester."""

    def __init__(self, text: str) -> None:
        self._spans = sorted(_spans(text), key=lambda span: span.start)
        self._starts = [span.start for span in self._spans]

    def standing_at(self, position: int) -> Standing | None:
        """Why the character at `position` is not the requester's own; `None` when it is."""
        for span in self._spans[: bisect_right(self._starts, position)]:
            if position < span.end:
                return span.standing
        return None


def _spans(text: str) -> list[Span]:
    found = [
        Span(match.start(), match.end(), Standing.QUOTED)
        for pattern in (_FENCE, _INLINE, _QUOTATION, _QUOTED_LINE, _LOG_LINE)
        for match in pattern.finditer(text)
    ]
    found += [Span(match.start(), len(text), Standing.OTHER_PERSON) for match in _LETTER_HEAD.finditer(text)]
    found += [span for match in _REPORTED.finditer(text) if (span := _reported_span(text, match)) is not None]
    return found


def _reported_span(text: str, match: re.Match[str]) -> Span | None:
    """Reported speech: a quotation, after a colon all of the paragraph, otherwise to the end of the sentence."""
    told = text[max(0, match.start() - _WINDOW) : match.end()]
    verb = re.search(r"\b\w+$", told)
    before_match = text[max(0, match.start() - _WINDOW) : match.start()]
    if _SELF.search(told[: verb.start()] if verb else before_match) or _SELF_ZH.search(before_match):
        return None
    return Span(match.start(), _report_end(text, match), Standing.OTHER_PERSON)


def _report_end(text: str, match: re.Match[str]) -> int:
    start = match.end()
    if quotation := _QUOTED_SPEECH.match(text, start):
        return quotation.end()
    if _COLON.match(text, start) or any(word in match[0] for word in ("forward", "转发", "以下")):
        paragraph = _REPORT_END.search(text, start)
        return paragraph.start() if paragraph else len(text)
    # A sentence without an end within this window counts as pasted anyway.
    rest = text[start : start + LONGEST_SENTENCE]
    ends = [found.start() for found in (_SENTENCE.search(rest), _TURN_BACK.search(rest, 1)) if found is not None]
    return start + min(ends, default=len(rest))
