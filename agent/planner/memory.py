"""What "it", "there" and "the cluster" mean: the last thing of that kind that the conversation named."""

from __future__ import annotations

from collections.abc import Iterator

from agent.planner.wire import Request
from core.json_value import JsonObject

_CLUSTER_PARAMETERS = ("cluster", "cluster_name")
_JOB_PARAMETERS = ("job", "job_name")


def last_cluster(request: Request) -> str | None:
    for operation, params in _remembered(request):
        names = (*_CLUSTER_PARAMETERS, "name") if operation.endswith("_cluster") else _CLUSTER_PARAMETERS
        if (found := _first(params, names)) is not None:
            return found
    return None


def last_job(request: Request) -> str | None:
    for operation, params in _remembered(request):
        names = (*_JOB_PARAMETERS, "name") if operation.endswith("_job") else _JOB_PARAMETERS
        if (found := _first(params, names)) is not None:
            return found
    return None


def _remembered(request: Request) -> Iterator[tuple[str, JsonObject]]:
    """Operations and looks with their parameters, the newest first: the open plan, earlier plans, the history."""
    for step in reversed(request.open_steps):
        yield step.operation, step.params
    for said in reversed(request.history):
        for name, arguments in reversed(said.calls):
            yield name.removeprefix("propose_"), arguments
    for step in request.recent_steps:
        yield step.operation, step.params


def _first(params: JsonObject, names: tuple[str, ...]) -> str | None:
    return next((str(params[name]) for name in names if params.get(name)), None)
