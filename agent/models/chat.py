"""Chat Completions through the openai SDK, with one budget for time and attempts.

The SDK's own retries are off: tenacity owns them, so attempts are counted in one place. The SDK's timeout
is per read, so a server that drips never trips it; an overall deadline cuts it. A stream that ends without
a finish reason is a broken one, whatever the SDK parsed out of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import Empty, Queue
from threading import Thread

from openai import APIConnectionError, APIError, APIStatusError, OpenAI, Stream
from openai.types.chat import ChatCompletionChunk
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential_jitter

from agent.models.assembly import Assembly
from agent.models.wire import (
    ModelRejected,
    ModelTimedOut,
    ModelUnreachable,
    Reply,
    TextSink,
    ToolCall,
)
from core.json_value import JsonObject

_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
_ENDED = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSettings:
    """How to reach the server, and what it can do."""

    base_url: str
    api_key: str
    model: str
    attempts: int = 3
    read_seconds: float = 30.0
    """Longest silence within one answer."""
    first_wait_seconds: float = 0.5
    strict_tools: bool = False
    """True: the server honours `strict` in tool schemas."""
    include_usage: bool = True
    temperature: float | None = 0.0
    """Absent for models that accept no other than their own."""


class _Broken(Exception):
    """This attempt gave no whole answer; another may. `wait_seconds` is what the server asked for."""

    def __init__(self, why: str, wait_seconds: float | None = None) -> None:
        super().__init__(why)
        self.wait_seconds = wait_seconds


class ChatModel:
    """A `Model` on the wire. Safe for several threads: it keeps no state between calls."""

    def __init__(
        self,
        settings: ChatSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._sleep, self._monotonic = sleep, monotonic
        self._client = OpenAI(base_url=settings.base_url, api_key=settings.api_key, max_retries=0)

    def reply(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], sink: TextSink, *, seconds: float
    ) -> Reply:
        deadline = self._monotonic() + seconds
        backoff = wait_exponential_jitter(
            multiplier=self._settings.first_wait_seconds, max=10.0, jitter=self._settings.first_wait_seconds
        )

        def wait(state: RetryCallState) -> float:
            asked = _broken(state).wait_seconds
            delay = backoff(state) if asked is None else asked
            if self._monotonic() + delay >= deadline:
                raise ModelUnreachable(str(_broken(state)))
            sink.restart()
            return delay

        attempts = Retrying(
            stop=stop_after_attempt(self._settings.attempts),
            wait=wait,
            retry=retry_if_exception_type(_Broken),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return attempts(self._attempt, messages, tools, sink, deadline, seconds)
        except _Broken as broken:
            raise ModelUnreachable(str(broken)) from broken

    def _attempt(
        self,
        messages: Sequence[JsonObject],
        tools: Sequence[JsonObject],
        sink: TextSink,
        deadline: float,
        seconds: float,
    ) -> Reply:
        """One request. A thread of its own reads, so that the deadline holds whatever the server does."""
        request = self._request(messages, tools)
        chunks: Queue[ChatCompletionChunk | Exception | None] = Queue()
        reader = _Reader(self._client, request, self._read_timeout(deadline), chunks)
        reader.start()
        assembly = Assembly()
        try:
            while (item := self._next(chunks, deadline, seconds)) is not _ENDED:
                if isinstance(item, Exception):
                    raise _as_ours(item)
                if piece := assembly.add(item):
                    sink.piece(piece)
        finally:
            reader.stop()
        if not assembly.is_complete:
            raise _Broken("the answer broke off")
        return _with_unique_ids(assembly.reply(len(json.dumps(request, default=str))))

    def _request(self, messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> dict[str, object]:
        request: dict[str, object] = {"model": self._settings.model, "messages": list(messages)}
        if tools:
            request["tools"] = [_strict(tool) for tool in tools] if self._settings.strict_tools else list(tools)
        if self._settings.include_usage:
            request["stream_options"] = {"include_usage": True}
        if self._settings.temperature is not None:
            request["temperature"] = self._settings.temperature
        return request

    def _read_timeout(self, deadline: float) -> float:
        return max(0.05, min(self._settings.read_seconds, deadline - self._monotonic()))

    def _next(
        self, chunks: Queue[ChatCompletionChunk | Exception | None], deadline: float, seconds: float
    ) -> ChatCompletionChunk | Exception | None:
        try:
            return chunks.get(timeout=max(0.0, deadline - self._monotonic()))
        except Empty:
            raise ModelTimedOut(seconds) from None


class _Reader(Thread):
    """Reads one stream into a queue; ends by itself once the connection is closed or its read times out."""

    def __init__(
        self,
        client: OpenAI,
        request: dict[str, object],
        read_seconds: float,
        chunks: Queue[ChatCompletionChunk | Exception | None],
    ) -> None:
        super().__init__(daemon=True, name="model-reader")
        self._client, self._request, self._read_seconds, self._chunks = client, request, read_seconds, chunks
        self._stream: Stream[ChatCompletionChunk] | None = None
        self._is_stopped = False

    def run(self) -> None:
        try:
            # The request is JSON of our own making; the SDK's overloads want each key spelt out.
            stream = self._client.chat.completions.create(  # type: ignore[call-overload]
                **self._request, stream=True, timeout=self._read_seconds
            )
            self._stream = stream
            for chunk in stream:
                self._chunks.put(chunk)
                if self._is_stopped:
                    break
            stream.close()
            self._chunks.put(_ENDED)
        except Exception as error:  # noqa: BLE001 - handed to the caller's thread, which sorts it
            self._chunks.put(error)

    def stop(self) -> None:
        self._is_stopped = True
        if self.is_alive() and self._stream is not None:
            self._stream.close()


def _broken(state: RetryCallState) -> _Broken:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, _Broken) else _Broken("")


def _as_ours(error: Exception) -> Exception:
    """Sorts the SDK's errors into "another attempt may help" and "it will not"."""
    if isinstance(error, APIStatusError):
        why = f"HTTP {error.status_code}"
        if error.status_code in _RETRYABLE_STATUS or error.status_code >= 500:
            return _Broken(why, _retry_after(error))
        return ModelRejected(error.status_code, error.message[:300])
    if isinstance(error, APIConnectionError):
        return _Broken(type(error).__name__)
    if isinstance(error, APIError | OSError | ValueError):
        return _Broken(type(error).__name__)
    # Transport errors inside a stream are not wrapped by the SDK, and their classes are not its public API.
    if type(error).__module__.split(".")[0] in {"httpx2", "httpcore2", "httpx", "httpcore", "h11"}:
        return _Broken(type(error).__name__)
    return error


def _retry_after(error: APIStatusError) -> float | None:
    """Seconds; the form with a date is not used by model servers and is ignored."""
    value = error.response.headers.get("retry-after", "")
    return float(value) if value.replace(".", "", 1).isdigit() else None


def _strict(tool: JsonObject) -> JsonObject:
    function = tool["function"]
    return {**tool, "function": {**function, "strict": True}} if isinstance(function, dict) else tool


def _with_unique_ids(reply: Reply) -> Reply:
    """Two calls under one id could not be answered apart."""
    seen: set[str] = set()
    calls: list[ToolCall] = []
    for number, call in enumerate(reply.tool_calls):
        calls.append(replace(call, id=f"{call.id}-{number}") if call.id in seen else call)
        seen.add(calls[-1].id)
    return replace(reply, tool_calls=tuple(calls))
