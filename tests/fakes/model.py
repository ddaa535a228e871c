"""A model that follows a script, in process. For the wire itself there is `tests.fakes.model_server`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from agent.models.wire import ModelUnreachable, Reply, TextSink, ToolCall
from core.json_value import JsonObject, JsonValue

Turn: TypeAlias = "Callable[[Sequence[JsonObject], Sequence[JsonObject]], Reply]"

_numbers = count(1)


@dataclass
class ScriptedModel:
    """Each call uses up one entry of `script`; beyond its end the model is unreachable."""

    script: list[Turn] = field(default_factory=list)
    seen: list[Sequence[JsonObject]] = field(default_factory=list)

    def reply(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], sink: TextSink, *, seconds: float
    ) -> Reply:
        self.seen.append(list(messages))
        if not self.script:
            raise ModelUnreachable("script at its end")
        reply = self.script.pop(0)(messages, tools)
        if reply.text:
            sink.piece(reply.text)
        return reply


def text(words: str) -> Turn:
    return lambda messages, tools: Reply(text=words, tokens=100)


def torso() -> Turn:
    return lambda messages, tools: Reply(text="I will", is_cut_short=True, tokens=100)


def calls(*wanted: tuple[str, JsonObject | str]) -> Turn:
    """Tool calls with the given arguments; those that a proposal tool has and that are not given are null."""

    def turn(messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        made = [
            ToolCall(id=f"call-{next(_numbers)}", name=name, arguments=_arguments(name, given, tools))
            for name, given in wanted
        ]
        return Reply(text="", tool_calls=tuple(made), tokens=100)

    return turn


def cite_all(tool: str, /, **params: JsonValue) -> Turn:
    """Calls a proposal with every choice that its tool offers: the first id of each enum."""

    def turn(messages: Sequence[JsonObject], tools: Sequence[JsonObject]) -> Reply:
        given = {
            kind: ids[0] for kind, ids in offered(tool, tools).items() if kind != "replaces" or "replaces" in params
        }
        return calls((tool, {**given, **{k: v for k, v in params.items() if k != "replaces"}}))(messages, tools)

    return turn


def offered(name: str, tools: Sequence[JsonObject]) -> dict[str, list[str]]:
    """Parameter -> the ids in its enum, for human choices and `replaces`."""
    found: dict[str, list[str]] = {}
    for parameter, schema in _properties(name, tools).items():
        enum = [value for branch in schema.get("anyOf", []) for value in branch.get("enum", [])]
        if enum and parameter in {"availability_zone", "instance_type", "capacity", "replaces"}:
            found[parameter] = enum
    return found


def _arguments(name: str, given: JsonObject | str, tools: Sequence[JsonObject]) -> str:
    if isinstance(given, str):
        return given
    return json.dumps({**dict.fromkeys(_properties(name, tools)), **given})


def _properties(name: str, tools: Sequence[JsonObject]) -> dict[str, dict[str, list[dict[str, list[str]]]]]:
    for tool in json.loads(json.dumps(tools)):
        if tool["function"]["name"] == name:
            properties: dict[str, dict[str, list[dict[str, list[str]]]]] = tool["function"]["parameters"]["properties"]
            return properties
    return {}
