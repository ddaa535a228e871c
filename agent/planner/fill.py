"""From a goal and what its words name to the arguments of a tool, by what the tool's own schema takes.

The planner is bound to no version of the tools: a value goes to the first parameter of a matching name that
accepts it, and a parameter that nothing was said about is null.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from agent.planner.entities import Entities
from agent.planner.wire import CHOICE_KINDS, Citation, Tool
from core.json_value import JsonValue

_NEW_CLUSTER: Final = frozenset({"create_cluster"})
_NEW_JOB: Final = frozenset({"submit_job"})
_SIZED_BY_NODES: Final = frozenset({"submit_job", "resize_job", "remove_capacity"})
_GROWING_OR_SHRINKING: Final = frozenset({"add_capacity", "remove_capacity"})
_PARAMETERS: Final[Mapping[str, Sequence[str]]] = {
    "team": ("team", "namespace", "project"),
    "priority": ("priority", "priority_class"),
    "orchestrator": ("orchestrator",),
    "gpu_model": ("gpu_model", "accelerator", "accelerator_model", "gpu", "wish"),
    "mount": ("mount", "mount_path", "path"),
    "file_system": ("file_system", "file_system_id"),
    "size_gib": ("size_gib", "storage_gib"),
    "node_id": ("node", "node_id", "instance_id"),
    "image": ("image",),
    "command": ("command",),
    "recovery": ("recovery", "node_recovery"),
}


def arguments(
    tool: Tool, operation: str, entities: Entities, *, cluster: str | None, citations: Sequence[Citation]
) -> dict[str, JsonValue]:
    """Every parameter of the tool, null where nothing was said. `cluster` is the target, already resolved."""
    given: dict[str, JsonValue] = dict.fromkeys(tool.properties)
    for names, value in _values(operation, entities, cluster):
        _put(given, tool, names, value)
    for kind in CHOICE_KINDS & tool.properties.keys():
        given[kind] = _cited(tool, kind, citations)
    return given


def _values(operation: str, entities: Entities, cluster: str | None) -> Iterator[tuple[Sequence[str], JsonValue]]:
    if operation in _NEW_CLUSTER:
        yield ("name", "cluster_name", "cluster"), entities.name or entities.cluster
    else:
        yield ("cluster", "cluster_name"), cluster
    if operation in _NEW_JOB:
        own_name = entities.name if entities.name != entities.cluster else None
        yield ("name", "job_name", "job"), own_name or entities.job
    elif operation not in _NEW_CLUSTER:
        yield ("job", "job_name"), entities.job or entities.name
    if operation in _GROWING_OR_SHRINKING and entities.is_total:
        yield ("total",), entities.nodes
    elif operation in _SIZED_BY_NODES:
        yield ("nodes", "node_count", "count"), entities.nodes
    if operation == "delete_cluster":
        yield ("name", "cluster", "cluster_name"), cluster
    for field, names in _PARAMETERS.items():
        value: JsonValue = getattr(entities, field)
        yield names, value
    yield ("is_sample", "sample", "use_sample", "script", "workload"), entities.is_sample or None


def _put(given: dict[str, JsonValue], tool: Tool, names: Sequence[str], value: JsonValue) -> None:
    if value is None:
        return
    for name in names:
        if name not in tool.properties or given.get(name) is not None:
            continue
        accepted = _accepted(tool, name, value)
        if accepted is not None:
            given[name] = accepted
            return


def _accepted(tool: Tool, name: str, value: JsonValue) -> JsonValue:
    """The value in the parameter's own spelling; `None` when it takes no such value."""
    if words := tool.allows(name):
        wanted = "sample" if value is True else str(value)
        return next((word for word in words if word.lower() == wanted.lower()), None)
    if isinstance(value, bool):
        return value if tool.takes(name, "boolean") else None
    if isinstance(value, int):
        return value if tool.takes(name, "integer") or tool.takes(name, "number") else None
    if tool.takes(name, "array") and isinstance(value, str):
        return _words(value)
    return value if tool.takes(name, "string") else None


def _words(command: str) -> list[str]:
    """As a shell would split it; one word where the quotation marks do not close."""
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _cited(tool: Tool, kind: str, citations: Sequence[Citation]) -> str | None:
    """The first choice of this kind among those of this part of the message, if the tool offers it."""
    on_offer = tool.allows(kind)
    return next((found.id for found in citations if found.kind == kind and found.id in on_offer), None)
