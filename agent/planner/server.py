"""Chat Completions over the planner: streaming and not, bearer token, one model."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from agent.planner.decide import decide
from agent.planner.wire import Answer, parse_object, parse_request
from core.json_value import JsonObject, JsonValue, canonical_json

MODEL = "muster-planner"
_MAX_BODY_BYTES = 2_000_000
_PIECE = 24
"""Characters of text per streamed chunk."""


def make_app(token: str) -> FastAPI:
    """The application. Every request needs `Authorization: Bearer <token>`."""
    app = FastAPI(title="Muster offline planner", docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/v1/models")
    def models(request: Request) -> JsonObject:
        _check(request, token)
        return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "muster"}]}

    @app.post("/v1/chat/completions")
    async def completions(request: Request) -> Response:
        _check(request, token)
        raw = await request.body()
        if len(raw) > _MAX_BODY_BYTES:
            raise HTTPException(413, "the request is too large")
        body = parse_object(raw.decode(errors="replace"))
        try:
            answer = decide(parse_request(body))
        except ValueError as error:
            raise HTTPException(400, str(error)) from None
        if body.get("stream") is True:
            return StreamingResponse(_events(body, answer), media_type="text/event-stream")
        return JSONResponse(_completion(body, answer))

    return app


def _check(request: Request, token: str) -> None:
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not secrets.compare_digest(given.encode(), token.encode()):
        raise HTTPException(401, "wrong or missing bearer token")


def _completion(body: JsonObject, answer: Answer) -> dict[str, JsonValue]:
    reply: dict[str, JsonValue] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        reply["tool_calls"] = _tool_calls(body, answer)
    choice: JsonObject = {"index": 0, "message": reply, "finish_reason": _finish(answer), "logprobs": None}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(body, answer)}


def _events(body: JsonObject, answer: Answer) -> Iterator[str]:
    deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": answer.text[at : at + _PIECE]} for at in range(0, len(answer.text), _PIECE)]
    deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(_tool_calls(body, answer))]
    head = _head(body, "chat.completion.chunk")
    for delta in deltas:
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]})
    options = body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield _event({**head, "choices": [], "usage": _usage(body, answer)})
    yield "data: [DONE]\n\n"


def _event(value: JsonValue) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _tool_calls(body: JsonObject, answer: Answer) -> list[JsonObject]:
    """Ids follow from the conversation so far, so that the same request is answered in the same way."""
    seed = _seed(body)
    return [
        {
            "id": f"call_{hashlib.sha256(f'{seed}{index}'.encode()).hexdigest()[:16]}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for index, (name, arguments) in enumerate(answer.calls)
    ]


def _head(body: JsonObject, kind: str) -> JsonObject:
    return {"id": f"chatcmpl-{_seed(body)[:16]}", "object": kind, "created": 0, "model": MODEL}


def _seed(body: JsonObject) -> str:
    return hashlib.sha256(canonical_json(body.get("messages")).encode()).hexdigest()


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(body: JsonObject, answer: Answer) -> JsonObject:
    """Four characters a token, as an estimate: nothing is counted here that costs anything."""
    sent = len(canonical_json(body.get("messages"))) // 4
    written = (len(answer.text) + sum(len(json.dumps(arguments)) for _, arguments in answer.calls)) // 4
    return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
