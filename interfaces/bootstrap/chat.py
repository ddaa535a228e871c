"""Wires the assistant: the graph, the model behind its wire, the operations and what they may look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from agent.assistant import Assistant
from agent.conversation import Budgets
from agent.conversation import Profile as AgentProfile
from agent.looks.catalogue import LOOK_TOOLS
from agent.models.chat import ChatModel, ChatSettings
from agent.models.wire import Model
from core.clock import Clock, SystemClock
from core.messages.message import message
from core.reasons import OpsError, WhoActs
from interfaces.bootstrap.embedded import Processes, embedded_processes
from interfaces.bootstrap.home import Home
from interfaces.bootstrap.world import World, connect
from interfaces.settings import Profile, Settings, adopt_environment, read_settings
from state.repository import Repository
from workflows.catalogue import OPERATIONS, WORKFLOWS

_PLANNER_MODEL = "muster-planner"
_SYSTEM_CLOCK = SystemClock()


class ModelUnset(OpsError):
    """Production has no planner of its own: a model server must be named."""

    who_acts = WhoActs.OPERATOR


@contextmanager
def open_assistant(settings: Settings, rows: Repository) -> Iterator[Assistant]:
    """The assistant of this installation. Embedded, its processes are started and this one is cut off from the rest.

    Raises `ModelUnset`, `EmbeddedUnavailable`, `EndpointRefused`.
    """
    if settings.profile is Profile.PRODUCTION:
        yield build_assistant(settings, rows, connect(settings), ChatModel(model_settings(settings, None)))
        return
    with embedded_processes(settings) as processes:
        adopt_environment(processes.environment())
        world = connect(read_settings())
        yield build_assistant(settings, rows, world, ChatModel(model_settings(settings, processes)))


def build_assistant(
    settings: Settings, rows: Repository, world: World, model: Model, *, clock: Clock = _SYSTEM_CLOCK
) -> Assistant:
    aws = world.clients.aws
    return Assistant(
        repository=rows,
        operations=OPERATIONS,
        workflow_versions={workflow.name: workflow.version for workflow in WORKFLOWS},
        reads=world,
        look_tools=LOOK_TOOLS,
        model=model,
        clock=clock,
        profile=AgentProfile(region=world.region, account=aws.account, is_twin=aws.is_local),
        checkpoints_path=Home(settings.home).checkpoints,
        budgets=Budgets(seconds_per_call=settings.model_seconds),
    )


def model_settings(settings: Settings, processes: Processes | None) -> ChatSettings:
    """The model server that is set, else the planner. Raises `ModelUnset` where there is neither."""
    if settings.model_url is not None and settings.model_name is not None:
        key = settings.model_api_key.get_secret_value()
        return ChatSettings(base_url=settings.model_url, api_key=key or "none", model=settings.model_name)
    if processes is None or settings.model_url is not None:
        raise ModelUnset(message("cli.model_unset"))
    planner = processes.planner
    return ChatSettings(base_url=f"{planner.endpoint}/v1", api_key=planner.token, model=_PLANNER_MODEL)
