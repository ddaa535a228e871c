"""The planner behind its wire: what the openai SDK sends is understood, and only with the token."""

from __future__ import annotations

import json
import subprocess
import sys

import httpx
import pytest
from fastapi import FastAPI

from agent.planner.server import make_app
from core.json_value import JsonObject
from tests.agent.planner.serving import served

TOKEN = "t0ken"
CREATE: JsonObject = {
    "type": "function",
    "function": {
        "name": "propose_create_cluster",
        "parameters": {"type": "object", "properties": {"name": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
    },
}


@pytest.fixture
def app() -> FastAPI:
    return make_app(TOKEN)


def post(endpoint: str, body: object, token: str = TOKEN) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}"}
    return httpx.post(f"{endpoint}/v1/chat/completions", json=body, headers=headers)


def request(text: str, **more: object) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": text}], "tools": [CREATE], **more}


def test_a_wish_is_answered_with_a_call(app: FastAPI) -> None:
    with served(app) as endpoint:
        answer = post(endpoint, request("create a cluster called llama")).json()

    [choice] = answer["choices"]
    [call] = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert call["function"]["name"] == "propose_create_cluster"
    assert json.loads(call["function"]["arguments"])["name"] == "llama"


def test_a_stream_carries_the_same_and_ends_properly(app: FastAPI) -> None:
    body = request("hello", stream=True, stream_options={"include_usage": True})
    with served(app) as endpoint:
        lines = [line for line in post(endpoint, body).text.splitlines() if line]

    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks if chunk["choices"])
    assert lines[-1] == "data: [DONE]"
    assert chunks[-1]["usage"]["total_tokens"] > 0
    assert "create a cluster" in text


def test_the_same_request_gets_the_same_answer(app: FastAPI) -> None:
    with served(app) as endpoint:
        answers = [post(endpoint, request("create a cluster called llama")).text for _ in range(3)]

    assert len(set(answers)) == 1


@pytest.mark.parametrize("token", ["none", "wrong"])
def test_without_its_token_nothing_is_answered(app: FastAPI, token: str) -> None:
    with served(app) as endpoint:
        assert post(endpoint, request("hello"), token).status_code == 401


@pytest.mark.parametrize("body", [{}, {"messages": []}, [], "x", {"messages": "no list"}])
def test_a_request_without_messages_is_refused(app: FastAPI, body: object) -> None:
    with served(app) as endpoint:
        assert post(endpoint, body).status_code == 400


def test_the_planner_imports_neither_langgraph_nor_openai() -> None:
    program = (
        "import sys, agent.planner.server, agent.provenance.extract;"
        "print([name for name in ('langgraph', 'langchain_core', 'openai') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
