"""A feed entry as one line: what happened, how far it is, in which colour."""

from __future__ import annotations

from dataclasses import dataclass

from core.messages.message import Language
from interfaces.cli.screen import bar
from state.records import FeedEntry, FeedKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedLine:
    text: str
    style: str
    redraw_key: str | None
    """Progress of the same run and step replaces itself on a terminal."""


def feed_line(entry: FeedEntry, language: Language) -> FeedLine:
    text = f"{entry.at.astimezone():%H:%M:%S}  {entry.message.render(language)}"
    match entry.kind:
        case FeedKind.PROGRESS:
            done, total = entry.data.get("done"), entry.data.get("total")
            if isinstance(done, int) and isinstance(total, int) and total > 0:
                text = f"{text}  {bar(done, total)}"
            return FeedLine(text=text, style="dim", redraw_key=f"{entry.run_id}/{entry.data.get('step', '')}")
        case FeedKind.STATUS:
            return FeedLine(text=text, style="", redraw_key=None)
        case FeedKind.QUESTION | FeedKind.ANSWER:
            return FeedLine(text=text, style="bold", redraw_key=None)
        case FeedKind.NOTICE:
            return FeedLine(text=text, style="yellow", redraw_key=None)
