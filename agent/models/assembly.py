"""Puts the pieces of a streamed answer together."""

from __future__ import annotations

from dataclasses import dataclass, field

from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

from agent.models.wire import Reply, ToolCall

_CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class _OpenCall:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Assembly:
    """Takes chunks in their order. `reply` is allowed once `is_complete`: a finish reason has come."""

    text: str = ""
    finish_reason: str | None = None
    tokens: int = 0
    _calls: dict[int, _OpenCall] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return self.finish_reason is not None

    def add(self, chunk: ChatCompletionChunk) -> str:
        """Returns the chunk's text, empty where it has none."""
        if chunk.usage is not None:
            self.tokens = chunk.usage.total_tokens
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        if choice.finish_reason is not None:
            self.finish_reason = choice.finish_reason
        # Some servers send no delta at all in the closing chunk, against the SDK's own types.
        delta = choice.delta
        for part in delta.tool_calls or ():
            self._add_call(part)
        piece = delta.content or ""
        self.text += piece
        return piece

    def reply(self, sent_characters: int) -> Reply:
        """The whole answer. A call counts only under `tool_calls` or `stop`; anything else may be a torso."""
        is_whole = self.finish_reason in {"tool_calls", "stop"}
        calls = tuple(
            ToolCall(id=call.id or f"call-{index}", name=call.name, arguments=call.arguments)
            for index, call in sorted(self._calls.items())
        )
        written = len(self.text) + sum(len(call.arguments) for call in calls)
        return Reply(
            text=self.text,
            tool_calls=calls if is_whole else (),
            is_cut_short=not is_whole,
            tokens=self.tokens or (sent_characters + written) // _CHARACTERS_PER_TOKEN,
        )

    def _add_call(self, part: ChoiceDeltaToolCall) -> None:
        call = self._calls.setdefault(self._index(part), _OpenCall())
        call.id = part.id or call.id
        if part.function is not None:
            call.name += part.function.name or ""
            call.arguments += part.function.arguments or ""

    def _index(self, part: ChoiceDeltaToolCall) -> int:
        """Servers that send whole calls without an index, or all under index 0, tell them apart by their id."""
        index: int | None = part.index
        if index is None:
            index = max(self._calls, default=0)
        known = self._calls.get(index)
        if known is not None and part.id and known.id and part.id != known.id:
            return max(self._calls) + 1
        return index
