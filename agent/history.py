"""From the transcript to the messages of the wire: recent, trimmed, and never with a call left unanswered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.json_value import JsonObject, JsonValue
from core.messages.message import Language
from state.records import Speaker, TranscriptEntry

_TEXT_LIMIT = 20_000


def wire_messages(entries: Sequence[TranscriptEntry], *, language: Language, limit: int) -> list[JsonObject]:
    """The last `limit` entries, beginning with a person's words.

    A server refuses a call without its result and a result without its call, so those that a crash left
    alone are dropped.
    """
    recent = list(entries[-limit:])
    while recent and recent[0].speaker is not Speaker.USER:
        recent.pop(0)
    answered = {entry.tool_call_id for entry in recent if entry.speaker is Speaker.TOOL}
    offered: set[str] = set()
    messages: list[JsonObject] = []
    for entry in recent:
        if entry.speaker is Speaker.TOOL and entry.tool_call_id not in offered:
            continue
        message = _message(entry, answered, language)
        if message is None:
            continue
        offered |= set(call_ids(message.get("tool_calls")))
        messages.append(message)
    return messages


def call_ids(tool_calls: JsonValue) -> list[str]:
    if not isinstance(tool_calls, Sequence) or isinstance(tool_calls, str):
        return []
    return [str(call["id"]) for call in tool_calls if isinstance(call, Mapping) and "id" in call]


def _message(entry: TranscriptEntry, answered: set[str | None], language: Language) -> JsonObject | None:
    text = entry.message.render(language) if entry.message is not None else entry.text
    if entry.speaker is Speaker.USER:
        return {"role": "user", "content": text[:_TEXT_LIMIT]}
    if entry.speaker is Speaker.TOOL:
        return {"role": "tool", "tool_call_id": entry.tool_call_id, "content": text}
    calls = entry.tool_calls
    kept = (
        [call for call in calls if isinstance(call, Mapping) and str(call.get("id")) in answered]
        if isinstance(calls, Sequence) and not isinstance(calls, str)
        else []
    )
    if kept:
        return {"role": "assistant", "content": text or None, "tool_calls": kept}
    return {"role": "assistant", "content": text} if text else None
