"""Workflows and the machinery that runs them, with only what a test cares about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from random import Random

from pydantic import BaseModel, ConfigDict

from core.ids import ClusterName, RunId, StepName, WorkerId
from core.json_value import JsonObject
from core.messages.message import Message, message
from state.records import Run
from state.repository import Repository
from tests.builders.people import person
from tests.fakes.clock import FakeClock
from tests.fakes.toy_platform import FakePlatform
from tools.access import ToolAccess
from workflows.definition import AnyWorkflow, Done, Next, Outcome, Step, StepContext, StepKind, Workflow
from workflows.engine import Engine
from workflows.failing import RetryPolicy
from workflows.gates import Gate
from workflows.registry import Registry
from workflows.worker import Worker


class ToyParams(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = "thing"
    choices: dict[str, object] = {}


StepFunction = Callable[[StepContext, ToyParams], Outcome]


def text(words: str) -> Message:
    return message("general.text", text=words)


def next_step(context: StepContext, params: ToyParams) -> Outcome:
    return Next()


def done(context: StepContext, params: ToyParams) -> Outcome:
    return Done()


def step(
    name: str,
    function: StepFunction = next_step,
    *,
    kind: StepKind = StepKind.PREFLIGHT,
    deadline: timedelta | None = None,
) -> Step[ToyParams]:
    return Step(name=StepName(name), kind=kind, title=text(f"Step {name}"), function=function, deadline=deadline)


def workflow(
    *steps: Step[ToyParams] | StepFunction, name: str = "toy", version: int = 1, shares_cluster: bool = False
) -> Workflow[ToyParams]:
    """Bare functions become steps named after them."""
    made = tuple(given if isinstance(given, Step) else step(given.__name__, given) for given in steps)
    return Workflow(
        name=name,
        version=version,
        params=ToyParams,
        steps=made or (step("only"),),
        title=text(name),
        shares_cluster=shares_cluster,
    )


def create_run(
    repository: Repository,
    *,
    workflow: str = "toy",
    version: int = 1,
    cluster: str | None = None,
    params: JsonObject | None = None,
    depends_on: Sequence[RunId] = (),
) -> Run:
    return repository.create_run(
        workflow=workflow,
        workflow_version=version,
        params=params or {},
        requested_by=person(),
        cluster=None if cluster is None else ClusterName(cluster),
        depends_on=depends_on,
    )


def make_worker(
    repository: Repository,
    clock: FakeClock,
    *workflows: AnyWorkflow,
    platform: FakePlatform | None = None,
    gates: Sequence[Gate] = (),
    retries: RetryPolicy | None = None,
    worker_id: str = "worker-a",
    idle: Callable[[float], None] = lambda seconds: None,
) -> Worker:
    engine = Engine(
        repository,
        Registry(workflows),
        ToolAccess((platform or FakePlatform(clock)).clients()),
        clock,
        gates=gates,
        random=Random(7),
        retries=retries,
    )
    return Worker(engine, repository, clock, worker_id=WorkerId(worker_id), lease_seconds=30.0, idle=idle)
