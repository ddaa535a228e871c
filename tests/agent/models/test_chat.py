"""The wire holds its budget and never takes a torso for an answer, whatever the server does."""

from __future__ import annotations

import time

import pytest

from agent.models.chat import ChatModel, ChatSettings
from agent.models.wire import ModelRejected, ModelTimedOut, ModelUnreachable, Reply, ToolCall
from core.json_value import JsonObject
from tests.fakes import model_server as server
from tests.fakes.model_server import ScriptedServer, scripted_server

TOOLS: tuple[JsonObject, ...] = (
    {"type": "function", "function": {"name": "list_clusters", "parameters": {"type": "object", "properties": {}}}},
)


class Screen:
    """A sink that remembers what a person would have seen."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.restarts = 0

    def piece(self, text: str) -> None:
        self.shown.append(text)

    def restart(self) -> None:
        self.shown.clear()
        self.restarts += 1


def ask(scripted: ScriptedServer, *, seconds: float = 5.0, screen: Screen | None = None, strict: bool = False) -> Reply:
    settings = ChatSettings(
        base_url=scripted.base_url,
        api_key="secret",
        model="m",
        read_seconds=0.3,
        first_wait_seconds=0.001,
        strict_tools=strict,
    )
    return ChatModel(settings).reply([{"role": "user", "content": "hi"}], TOOLS, screen or Screen(), seconds=seconds)


def test_text_is_shown_while_it_comes_in() -> None:
    screen = Screen()
    with scripted_server(server.say("Hello, what can I do?")) as scripted:
        reply = ask(scripted, screen=screen)

    assert reply == Reply(text="Hello, what can I do?", tokens=100)
    assert len(screen.shown) > 1 and "".join(screen.shown) == reply.text


def test_a_call_in_fragments_is_put_together() -> None:
    with scripted_server(server.call("list_clusters", {"name": "llama", "深": "度"})) as scripted:
        reply = ask(scripted)

    [found] = reply.tool_calls
    assert (found.id, found.name) == ("call-1", "list_clusters")
    assert '"llama"' in found.arguments


def test_two_calls_under_one_id_get_ids_of_their_own() -> None:
    with scripted_server(server.calls(("a", {}, "same"), ("b", {}, "same"))) as scripted:
        reply = ask(scripted)

    assert len({found.id for found in reply.tool_calls}) == 2


@pytest.mark.parametrize(
    "trouble",
    [
        server.status(429),
        server.status(503),
        server.status(500),
        server.garbage,
        server.cut_text("I will"),
        server.cut_call("list_clusters", {"name": "llama"}),
        server.stall,
        server.hang,
    ],
    ids=["429", "503", "500", "garbage", "cut text", "cut call", "stall", "hang"],
)
def test_one_troubled_attempt_is_repeated(trouble: server.Behaviour) -> None:
    screen = Screen()
    with scripted_server(trouble, server.say("done")) as scripted:
        reply = ask(scripted, screen=screen)

    assert reply.text == "done"
    assert screen.restarts == 1 and "".join(screen.shown) == "done"


def test_attempts_end_at_the_budget() -> None:
    with scripted_server(*[server.status(503)] * 5) as scripted, pytest.raises(ModelUnreachable, match="HTTP 503"):
        ask(scripted)

    assert len(scripted.requests) == 3


@pytest.mark.parametrize("trouble", [server.drip, server.hang, server.stall], ids=["drip", "hang", "stall"])
def test_the_deadline_cuts_whatever_the_server_does(trouble: server.Behaviour) -> None:
    with scripted_server(*[trouble] * 5) as scripted:
        began = time.monotonic()
        with pytest.raises((ModelTimedOut, ModelUnreachable)):
            ask(scripted, seconds=0.5)

    assert time.monotonic() - began < 1.5


def test_a_wait_that_the_server_asks_for_beyond_the_deadline_is_not_begun() -> None:
    with scripted_server(server.status(429, retry_after="60")) as scripted, pytest.raises(ModelUnreachable):
        ask(scripted, seconds=2.0)


@pytest.mark.parametrize("code", [400, 401, 404])
def test_a_refused_request_is_not_repeated(code: int) -> None:
    with scripted_server(server.status(code)) as scripted, pytest.raises(ModelRejected, match=str(code)):
        ask(scripted)

    assert len(scripted.requests) == 1


def test_an_unreachable_server_is_said_to_be_so() -> None:
    with scripted_server() as scripted:
        pass

    with pytest.raises(ModelUnreachable):
        ask(scripted)


def test_an_answer_cut_at_its_length_carries_no_calls() -> None:
    with scripted_server(server.call_too_long("list_clusters", {"name": "llama"})) as scripted:
        reply = ask(scripted)

    assert reply.is_cut_short
    assert reply.tool_calls == ()


def test_strict_is_sent_only_to_servers_that_honour_it() -> None:
    with scripted_server(server.say("a"), server.say("b")) as scripted:
        ask(scripted, strict=True)
        ask(scripted)

    sent = [str(request["tools"]) for request in scripted.requests]
    assert ["strict" in tools for tools in sent] == [True, False]


def test_a_call_is_spelt_for_the_wire_as_it_came() -> None:
    spelt = ToolCall(id="c", name="n", arguments="{broken").to_wire()

    assert spelt == {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{broken"}}
