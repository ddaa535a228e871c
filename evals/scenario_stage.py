"""What all scenarios share: one twin, one planner, one forge of workers. Nothing is started twice.

A scenario gets a fresh home, so a fresh database, and the twin anew from its world and seed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.assistant import Assistant
from agent.models.chat import ChatModel, ChatSettings
from agent.models.wire import Model, Reply, TextSink
from core.ids import ConversationId
from core.json_value import JsonObject
from evals.scenario_format import Scenario
from evals.scenario_time import SharedClock
from evals.scenario_twin import ScenarioTwin
from interfaces.bootstrap.chat import build_assistant
from interfaces.bootstrap.children import Child, Recipe, is_alive
from interfaces.bootstrap.environment import bare_environment, twin_environment
from interfaces.bootstrap.home import Home
from interfaces.bootstrap.rows import open_rows
from interfaces.bootstrap.servers import ServerRecord, read_server_record
from interfaces.bootstrap.world import connect
from interfaces.settings import Settings, adopt_environment, inherited_environment, read_settings
from state.repository import Repository

TIME_FACTOR = 60.0
"""While somebody works. What is only waited for is skipped (scenario_player)."""
_READY_WITHIN_SECONDS = 90.0
_LEASE_SECONDS = "3600"
"""Of twin time. A worker that dies here is on the same machine: its runs are taken over at once."""
_PLANNER_MODEL = "muster-planner"


class StageBroken(RuntimeError):
    """A process that all scenarios need does not come up."""


class CountingModel:
    """A `Model` that adds up the tokens which the wire reports."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.tokens = 0

    def reply(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], sink: TextSink, *, seconds: float
    ) -> Reply:
        reply = self._model.reply(messages, tools, sink, seconds=seconds)
        self.tokens += reply.tokens
        return reply


class Forge:
    """`evals.scenario_forge` from outside."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "evals.scenario_forge"],
                env=environment,
                cwd=log.parent,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def make(self, environment: dict[str, str], clock: Path, log: Path) -> int:
        """The process id of a new worker."""
        if self._process.stdin is None or self._process.stdout is None:
            raise StageBroken("the forge has no pipes")
        self._process.stdin.write(json.dumps({"environment": environment, "clock": str(clock), "log": str(log)}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer.isdecimal():
            raise StageBroken("the forge of workers has ended")
        return int(answer)

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


class WorkerHandle:
    """The one worker of a scenario: alive, killed, made anew."""

    def __init__(self, forge: Forge, environment: dict[str, str], clock: Path, log: Path) -> None:
        self._forge, self._environment, self._clock, self._log = forge, environment, clock, log
        self.kills = 0
        self.crashes = 0
        self._pid = self._make()

    def kill(self) -> None:
        """SIGKILL, and a new one."""
        self._end(signal.SIGKILL)
        self.kills += 1
        self._pid = self._make()

    def look_after(self) -> None:
        """One that died by itself is replaced, as in earnest, and counted: that should not happen."""
        if not is_alive(self._pid):
            self.crashes += 1
            self._pid = self._make()

    def close(self) -> None:
        self._end(signal.SIGTERM)

    def _make(self) -> int:
        return self._forge.make(self._environment, self._clock, self._log)

    def _end(self, number: signal.Signals) -> None:
        deadline = time.monotonic() + 5
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, number)
        while is_alive(self._pid):
            if time.monotonic() > deadline:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.005)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that one run of one scenario plays with."""

    scenario: Scenario
    seed: int
    twin: ScenarioTwin
    clock: SharedClock
    rows: Repository
    assistant: Assistant
    model: CountingModel
    worker: WorkerHandle
    conversation_id: ConversationId

    def turn_clock_on(self, seconds: float) -> None:
        time_now = self.twin.advance(seconds)
        self.clock.set(now=time_now.now, factor=time_now.factor)


class Stage:
    """Use as `with open_stage(...) as stage`."""

    def __init__(self, folder: Path, settings: Settings, twin: ServerRecord, model: ChatSettings, forge: Forge) -> None:
        self._folder, self._settings, self._server, self._model, self._forge = folder, settings, twin, model, forge
        self._twin = ScenarioTwin(twin)
        self._number = 0

    @contextmanager
    def scene(self, scenario: Scenario, seed: int) -> Iterator[Scene]:
        """Raises `TwinRefused` for a world that the twin does not take."""
        self._number += 1
        root = self._folder / f"{self._number:03}-{scenario.id[:40]}-{seed}"
        settings = _settings_of(scenario, root)
        Home(root).create()
        clock_path = root / "clock.json"
        clock = SharedClock(clock_path)
        began = self._twin.reset(scenario.world.model_dump(mode="json"), seed=seed, factor=TIME_FACTOR)
        clock.set(now=began.now, factor=began.factor)
        environment = dict(twin_environment(settings, self._server))
        adopt_environment(environment)
        with ExitStack() as stack:
            rows = open_rows(settings, clock=clock)
            stack.callback(rows.close)
            worker = WorkerHandle(self._forge, environment, clock_path, Home(root).logs / "worker.log")
            stack.callback(worker.close)
            model = CountingModel(ChatModel(self._model))
            assistant = build_assistant(settings, rows, connect(read_settings()), model, clock=clock)
            stack.callback(assistant.close)
            conversation = rows.create_conversation(
                title=scenario.id, language=scenario.lang, started_by=scenario.actor.principal
            )
            yield Scene(
                scenario=scenario,
                seed=seed,
                twin=self._twin,
                clock=clock,
                rows=rows,
                assistant=assistant,
                model=model,
                worker=worker,
                conversation_id=conversation.id,
            )

    def close(self) -> None:
        self._twin.close()


@contextmanager
def open_stage(settings: Settings, folder: Path) -> Iterator[Stage]:
    """Starts what all share, below `folder`, and ends it. Raises `StageBroken`."""
    home = Home(folder)
    home.create()
    own = settings.model_copy(update={"home": folder})
    children = [Child(recipe=_recipe(own, home, "twin"))]
    if settings.model_url is None:
        children.append(Child(recipe=_recipe(own, home, "planner")))
    with ExitStack() as stack:
        for child in children:
            stack.callback(child.end)
            child.keep_alive()
        forge = Forge(bare_environment(own), home.logs / "forge.log")
        stack.callback(forge.close)
        twin = _await(children[0], home.twin / "twin.json")
        model = _model(settings, _await(children[1], home.planner / "planner.json") if children[1:] else None)
        stage = Stage(folder, own, twin, model, forge)
        stack.callback(stage.close)
        yield stage


def _recipe(settings: Settings, home: Home, name: str) -> Recipe:
    return Recipe(
        name=name,
        module=f"interfaces.bootstrap.{name}",
        arguments=["--folder", str(home.root / name), "--port", "0"],
        environment=lambda: bare_environment(settings),
        log=home.logs / f"{name}.log",
    )


def _await(child: Child, record: Path) -> ServerRecord:
    deadline = time.monotonic() + _READY_WITHIN_SECONDS
    while time.monotonic() < deadline and child.pid is not None:
        if (found := read_server_record(record, pid=child.pid)) is not None:
            return found
        time.sleep(0.05)
    tail = child.recipe.log.read_text(errors="replace").strip()[-500:] if child.recipe.log.exists() else ""
    raise StageBroken(f"the {child.recipe.name} does not come up: {tail or '-'}")


def _model(settings: Settings, planner: ServerRecord | None) -> ChatSettings:
    if planner is not None:
        return ChatSettings(base_url=f"{planner.endpoint}/v1", api_key=planner.token, model=_PLANNER_MODEL)
    if settings.model_url is None or settings.model_name is None:
        raise StageBroken("MUSTER_MODEL_URL names a server, but no model is named")
    key = settings.model_api_key.get_secret_value()
    return ChatSettings(base_url=settings.model_url, api_key=key or "none", model=settings.model_name)


def _settings_of(scenario: Scenario, root: Path) -> Settings:
    actor = scenario.actor
    return read_settings(
        inherited_environment()
        | {
            "MUSTER_PROFILE": "embedded",
            "MUSTER_HOME": str(root),
            "MUSTER_LANG": scenario.lang.value,
            "MUSTER_USER": actor.user,
            "MUSTER_ROLE": actor.role.value,
            "MUSTER_REGION": scenario.world.region,
            "MUSTER_LEASE_SECONDS": _LEASE_SECONDS,
        }
        | ({"MUSTER_PROJECT": actor.project} if actor.project else {})
    )
