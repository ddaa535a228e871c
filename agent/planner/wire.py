"""The planner's side of the wire: a request parsed into typed values, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.choices import ChoiceKind
from core.json_value import JsonObject, JsonValue
from core.messages.message import Language

_FACTS_HEAD = "FACTS "


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function on offer; `properties` are the parameters' schemas."""

    name: str
    properties: Mapping[str, JsonObject]

    def allows(self, parameter: str) -> list[str]:
        """The words that an enumerated parameter accepts; empty for a free one."""
        branches = as_list(self.properties.get(parameter, {}).get("anyOf"))
        return [str(word) for branch in branches for word in as_list(as_object(branch).get("enum"))]

    def takes(self, parameter: str, kind: str) -> bool:
        """Whether a parameter accepts JSON values of this type."""
        schema = self.properties.get(parameter, {})
        types = [schema.get("type"), *(as_object(branch).get("type") for branch in as_list(schema.get("anyOf")))]
        return kind in types


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A choice of the person that may be cited, as the facts list it."""

    id: str
    kind: str
    value: JsonValue
    position: int
    is_bare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    id: str
    operation: str
    params: JsonObject
    choices: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of the history."""

    role: str
    text: str
    calls: tuple[tuple[str, JsonObject], ...] = ()
    """Name and arguments of each call of an assistant message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    tools: Mapping[str, Tool]
    history: tuple[Said, ...]
    language: Language
    citations: tuple[Citation, ...] = ()
    open_steps: tuple[PlanStep, ...] = ()
    has_open_plan: bool = False
    recent_steps: tuple[PlanStep, ...] = ()
    """Steps of this conversation's earlier plans, the newest first."""

    @property
    def user_text(self) -> str:
        """The person's last message."""
        return next((said.text for said in reversed(self.history) if said.role == "user"), "")

    @property
    def results(self) -> list[JsonObject]:
        """What the tools answered since that message."""
        found: list[JsonObject] = []
        for said in reversed(self.history):
            if said.role == "user":
                break
            if said.role == "tool":
                found.append(parse_object(said.text))
        return found[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Either text or calls (name and arguments)."""

    text: str = ""
    calls: tuple[tuple[str, JsonObject], ...] = ()


def parse_request(body: JsonObject) -> Request:
    """From a Chat Completions body. Raises `ValueError` when it has no messages."""
    messages = [as_object(message) for message in as_list(body.get("messages"))]
    if not messages:
        raise ValueError("messages: at least one is needed")
    facts: JsonObject = {}
    for message in messages:
        text = str(message.get("content") or "")
        if message.get("role") == "system" and text.startswith(_FACTS_HEAD):
            facts = parse_object(text.removeprefix(_FACTS_HEAD))
    plan = as_object(facts.get("open_plan"))
    return Request(
        tools={tool.name: tool for tool in map(_tool, as_list(body.get("tools")))},
        history=tuple(_said(message) for message in messages if message.get("role") != "system"),
        language=Language.CHINESE if facts.get("language") == "zh" else Language.ENGLISH,
        citations=tuple(_citation(as_object(item)) for item in as_list(facts.get("choices_said"))),
        open_steps=tuple(_step(as_object(item)) for item in as_list(plan.get("steps"))),
        has_open_plan=bool(plan),
        recent_steps=tuple(_step(as_object(item)) for item in as_list(facts.get("recent_steps"))),
    )


def as_object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def as_list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def parse_object(text: str) -> JsonObject:
    """The JSON object that `text` is, empty for anything else."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return {}
    return as_object(value)


def _tool(value: JsonValue) -> Tool:
    function = as_object(as_object(value).get("function"))
    properties = as_object(as_object(function.get("parameters")).get("properties"))
    return Tool(
        name=str(function.get("name", "")), properties={name: as_object(schema) for name, schema in properties.items()}
    )


def _said(message: JsonObject) -> Said:
    calls = []
    for item in as_list(message.get("tool_calls")):
        function = as_object(as_object(item).get("function"))
        calls.append((str(function.get("name", "")), parse_object(str(function.get("arguments") or ""))))
    return Said(role=str(message.get("role", "")), text=str(message.get("content") or ""), calls=tuple(calls))


def _citation(item: JsonObject) -> Citation:
    position = item.get("position")
    return Citation(
        id=str(item.get("id", "")),
        kind=str(item.get("kind", "")),
        value=item.get("value"),
        position=position if isinstance(position, int) else 0,
        is_bare=bool(item.get("is_bare")),
    )


def _step(item: JsonObject) -> PlanStep:
    return PlanStep(
        id=str(item.get("id", "")),
        operation=str(item.get("operation", "")),
        params=as_object(item.get("params")),
        choices=as_object(item.get("choices")),
    )


CHOICE_KINDS = frozenset(kind.value for kind in ChoiceKind)
