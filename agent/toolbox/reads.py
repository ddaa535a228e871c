"""Tools that look and change nothing: what a person's questions about the state are answered from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from agent.toolbox.proposals import read_arguments, validated
from agent.toolbox.schemas import function_tool, properties_of
from core.json_value import JsonObject, JsonValue
from core.messages.message import Language
from state.repository import Repository
from workflows.operations import Reads

ParamsT = TypeVar("ParamsT", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """What a look may use; texts of rows are rendered in `language`."""

    reads: Reads
    repository: Repository
    language: Language


@dataclass(frozen=True, slots=True, kw_only=True)
class LookTool:
    """`look` gets validated parameters and returns JSON for the model. It raises `OpsError` on trouble."""

    name: str
    description: str
    params: type[BaseModel]
    look: Callable[[Looking, BaseModel], JsonValue]


def look_tool(
    name: str, description: str, params: type[ParamsT], look: Callable[[Looking, ParamsT], JsonValue]
) -> LookTool:
    """A tool among others: its parameters are validated against its own model before `look` sees them."""

    def checked(looking: Looking, given: BaseModel) -> JsonValue:
        return look(looking, params.model_validate(given.model_dump()))

    return LookTool(name=name, description=description, params=params, look=checked)


def look_tool_schema(tool: LookTool) -> JsonObject:
    return function_tool(tool.name, tool.description, properties_of(tool.params))


def use_look_tool(tool: LookTool, looking: Looking, arguments: str) -> JsonValue:
    """Raises `BadCall` for wrong arguments and `OpsError` for trouble with the platform."""
    given = {name: value for name, value in read_arguments(arguments).items() if value is not None}
    return tool.look(looking, tool.params.model_validate(validated(tool.params, given)))
