"""A conversation over the real wire with a server that misbehaves: nothing is changed, and the next message works."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.conversation import Budgets
from agent.events import EndReason, TextPiece, TextVoid
from agent.models.chat import ChatModel, ChatSettings
from core.questions import QuestionKind
from tests.agent.talk import Talk, begin_talk
from tests.fakes import model_server as server
from tests.fakes.model_server import ScriptedServer, scripted_server

FULL = "Create a cluster called llama with 8 on-demand p5.48xlarge in usw2-az2"
GOOD = server.call(
    "propose_create_cluster",
    {"name": "llama", "availability_zone": "zone-1-1", "instance_type": "type-1-1", "capacity": "capacity-1-1"},
)
Opened = tuple[Talk, ScriptedServer]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    with ExitStack() as stack:

        def opened(*script: server.Behaviour) -> Opened:
            scripted = stack.enter_context(scripted_server(*script))
            settings = ChatSettings(
                base_url=scripted.base_url, api_key="k", model="m", read_seconds=0.2, first_wait_seconds=0.001
            )
            talk = begin_talk(tmp_path, model=ChatModel(settings), budgets=Budgets(seconds_per_call=1.0))
            stack.callback(talk.repository.close)
            stack.callback(talk.assistant.close)
            return talk, scripted

        yield opened


@pytest.mark.parametrize(
    "script",
    [
        [server.hang] * 9,
        [server.stall] * 9,
        [server.drip] * 9,
        [server.status(503)] * 9,
        [server.status(401)],
        [server.cut_call("propose_create_cluster", {"name": "llama"})] * 9,
        [server.call_too_long("propose_create_cluster", {"name": "llama"})] * 9,
        [server.call("propose_create_cluster", "{broken")] * 9,
        [server.call("format_disk", {})] * 9,
        [server.call("create_cluster", {"name": "llama"})] * 9,
        [server.say("")] * 9,
    ],
    ids=["hang", "stall", "drip", "503", "401", "cut", "length", "bad JSON", "invented", "wrong name", "empty"],
)
def test_a_misbehaving_model_changes_nothing_and_is_said(
    begin: Callable[..., Opened], script: list[server.Behaviour]
) -> None:
    talk, _ = begin(*script)

    talk.send(FULL)

    assert talk.ended is EndReason.STOPPED
    assert "Nothing was changed" in talk.sentences[-1]
    assert (talk.plans, talk.runs) == ([], [])


def test_repairs_end_after_two(begin: Callable[..., Opened]) -> None:
    talk, scripted = begin(*[server.call("format_disk", {})] * 9)

    talk.send(FULL)

    assert len(scripted.requests) == 3


def test_a_cut_call_is_never_carried_out_and_the_whole_one_is(begin: Callable[..., Opened]) -> None:
    talk, _ = begin(server.cut_call("propose_create_cluster", {"name": "wrong"}), GOOD)

    talk.send(FULL)

    assert talk.asked.kind is QuestionKind.APPROVAL
    assert talk.nodes[0].params == {"name": "llama"}


def test_text_of_a_broken_attempt_is_taken_back(begin: Callable[..., Opened]) -> None:
    talk, _ = begin(server.cut_text("I will delete everything"), server.say("Hello."))

    talk.send("hello there")

    events = [event for event in talk.events if isinstance(event, TextPiece | TextVoid)]
    void = events.index(TextVoid())
    assert "".join(event.text for event in events[void:] if isinstance(event, TextPiece)) == "Hello."
    assert talk.sentences == ["Hello."]


def test_after_an_outage_the_conversation_goes_on(begin: Callable[..., Opened]) -> None:
    talk, _ = begin(*[server.status(503)] * 3, server.say("Back again."))

    talk.send("hello there")
    talk.send("are you back?")

    assert talk.sentences == ["Back again."]


def test_what_the_server_gets_is_well_formed(begin: Callable[..., Opened]) -> None:
    """Every call has its result, every result its call: servers refuse anything else."""
    talk, scripted = begin(server.call("format_disk", {}, call_id="c1"), GOOD, server.say("It depends."))

    talk.send(FULL)
    talk.send("what does it cost?")

    for request in scripted.requests:
        messages = request["messages"]
        assert isinstance(messages, list)
        called = [call["id"] for message in messages for call in message.get("tool_calls") or []]
        told = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert called == told
        assert [message["role"] for message in messages[:3]] == ["system", "system", "user"]
