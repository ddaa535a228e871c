"""The tools of one moment: every operation, every look, and what the open plan allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.provenance.mentions import Candidate
from agent.toolbox.proposals import proposal_tool
from agent.toolbox.reads import LookTool, look_tool_schema
from agent.toolbox.schemas import function_tool
from core.json_value import JsonObject
from state.records import Plan
from workflows.operations import Operation

WITHDRAW = "withdraw_plan"
_WITHDRAW_TEXT = (
    "Drop the open plan, which has not been approved: the person no longer wants it, or wants something else."
)


def tools_of_the_moment(
    operations: Mapping[str, Operation],
    look_tools: Mapping[str, LookTool],
    candidates: Sequence[Candidate],
    plan: Plan | None,
) -> list[JsonObject]:
    """Tool output never adds to it: only the person's words and the plan's own rows do."""
    nodes = plan.nodes if plan is not None else ()
    tools = [proposal_tool(operation, candidates, nodes) for operation in operations.values()]
    tools += [look_tool_schema(tool) for tool in look_tools.values()]
    if plan is not None:
        tools.append(function_tool(WITHDRAW, _WITHDRAW_TEXT, {}))
    return tools
