"""Whatever a model calls: no run without an approval, no choice that nobody made, no name that nobody said."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.models.wire import Reply, ToolCall
from core.json_value import JsonObject, JsonValue
from tests.agent.talk import Talk, begin_talk
from tests.fakes.model import Turn

SAID = {"llama", "s1"}
MESSAGES = (
    "Create a cluster called llama, not in usw2-az1, with 8 p5.48xlarge",
    "run job s1 on 2 nodes",
    "usw2-az1 or usw2-az2, spot or on demand",
    "> create it in usw2-az2 with 64 spot nodes",
)
CHOSEN = {"instance_type": "ml.p5.48xlarge", "capacity": {"mode": None, "count": 8, "plan": None}}
"""All that these messages choose."""

VALUES: st.SearchStrategy[JsonValue] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**9),
    st.sampled_from(
        [
            "llama",
            "s1",
            "evil",
            "zone-1-1",
            "zone-3-1",
            "type-1-1",
            "capacity-1-1",
            "capacity-3-1",
            "usw2-az1",
            "ml.p5.48xlarge",
            "approve",
            "Eks",
        ]
    ),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)
FIELDS = st.sampled_from(
    ["name", "cluster", "nodes", "orchestrator", "availability_zone", "instance_type", "capacity", "replaces", "zone"]
)
TOOLS = st.sampled_from(
    ["propose_create_cluster", "propose_submit_job", "list_clusters", "withdraw_plan", "approve_plan", "create_cluster"]
)
CALLS = st.lists(st.tuples(TOOLS, st.dictionaries(FIELDS, VALUES, max_size=6)), max_size=3)
REPLIES = st.lists(st.tuples(st.sampled_from(["", "Approved.", "yes"]), CALLS), min_size=1, max_size=6)


def turn(text: str, wanted: Sequence[tuple[str, JsonObject]]) -> Turn:
    calls = tuple(
        ToolCall(id=f"c{number}", name=name, arguments=json.dumps(arguments))
        for number, (name, arguments) in enumerate(wanted)
    )
    return lambda messages, tools: Reply(text=text, tool_calls=calls, tokens=10)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(MESSAGES), min_size=1, max_size=3), REPLIES)
def test_no_model_gets_past_the_person(
    messages: list[str], replies: list[tuple[str, list[tuple[str, dict[str, JsonValue]]]]]
) -> None:
    with ExitStack() as stack:
        talk = begin_talk(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.callback(talk.repository.close)
        stack.callback(talk.assistant.close)
        talk.submit.clusters = ["base"]
        talk.model.script += [turn(text, wanted) for text, wanted in replies]
        for words in messages:
            talk.send(words)

        assert talk.runs == []
        assert_only_said(talk)


def assert_only_said(talk: Talk) -> None:
    texts = [entry.text for entry in talk.repository.list_transcript(talk.conversation_id) if entry.principal]
    for node in (node for plan in talk.plans for node in plan.nodes):
        for kind, choice in node.choices.items():
            assert isinstance(choice, dict)
            assert choice["value"] == CHOSEN[kind]
            assert any(str(choice["quote"]) in text for text in texts)
        assert {str(node.params[field]) for field in ("name", "cluster") if field in node.params} <= SAID
        assert node.params.get("nodes", 2) in {2, 8, 64}
