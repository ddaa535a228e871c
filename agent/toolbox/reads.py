"""Tools that look and change nothing: what a person's questions about the state are answered from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from agent.toolbox.proposals import read_arguments, validated
from agent.toolbox.schemas import function_tool, properties_of
from core.json_value import JsonObject, JsonValue
from workflows.operations import Reads

ParamsT = TypeVar("ParamsT", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class LookTool(Generic[ParamsT]):
    """`look` gets validated parameters and returns JSON for the model. It raises `OpsError` on trouble."""

    name: str
    description: str
    params: type[ParamsT]
    look: Callable[[Reads, ParamsT], JsonValue]


def look_tool_schema(tool: LookTool[ParamsT]) -> JsonObject:
    return function_tool(tool.name, tool.description, properties_of(tool.params))


def use_look_tool(tool: LookTool[ParamsT], reads: Reads, arguments: str) -> JsonValue:
    """Raises `BadCall` for wrong arguments and `OpsError` for trouble with the platform."""
    given = {name: value for name, value in read_arguments(arguments).items() if value is not None}
    return tool.look(reads, tool.params.model_validate(validated(tool.params, given)))
