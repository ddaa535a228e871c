"""Plays the demo: one wish, the questions a human must answer, the work, and the worker's death in between."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.models.chat import ChatModel
from core.reasons import OpsError
from interfaces.bootstrap.chat import build_assistant, model_settings
from interfaces.bootstrap.embedded import Processes, embedded_processes
from interfaces.bootstrap.home import Home
from interfaces.bootstrap.rows import open_rows
from interfaces.bootstrap.world import connect
from interfaces.cli.conversation import OpenConversation, Person
from interfaces.cli.demo.human import Human, HumanLeft
from interfaces.cli.demo.kill import CALL, WorkerKiller
from interfaces.cli.demo.memory import MemoryWatch
from interfaces.cli.demo.proof import Proof, prove
from interfaces.cli.demo.script import DEADLINE_SECONDS, the_wish
from interfaces.cli.demo.summary import Played, show_summary
from interfaces.cli.demo.twin_control import TwinControl
from interfaces.cli.failures import sentence_of
from interfaces.cli.screen import Screen
from interfaces.settings import Settings, adopt_environment, read_settings
from state.questions import shown_principal
from state.records import PlanStatus
from state.repository import Repository

_LOOK_SECONDS = 0.1
_UNDECIDED = frozenset({PlanStatus.DRAFT, PlanStatus.PROPOSED})


@dataclass(slots=True)
class Stopwatch:
    """Seconds per phase of the demo, in order."""

    phases: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + time.monotonic() - began


def play(settings: Settings, screen: Screen, human: Human) -> Played:
    """Ends with the summary on the screen."""
    watch, memory = Stopwatch(), MemoryWatch(os.getpid())
    memory.start()
    rows = open_rows(settings)
    try:
        began = time.monotonic()
        with embedded_processes(settings) as processes:
            watch.phases["start"] = time.monotonic() - began
            stage = Stage(settings, rows, processes, screen, human)
            proof = stage.run(watch)
    finally:
        rows.close()
        memory.stop()
    played = Played(proof=proof, phases=watch.phases, peak_mib=memory.peak_mib)
    show_summary(played, screen=screen, language=settings.language)
    return played


class Stage:
    """Everything that plays together, wired."""

    def __init__(
        self, settings: Settings, rows: Repository, processes: Processes, screen: Screen, human: Human
    ) -> None:
        adopt_environment(processes.environment())
        self._world = connect(read_settings())
        self._rows, self._screen, self._human, self._language = rows, screen, human, settings.language
        self._twin = TwinControl(processes.twin)
        self._killer = WorkerKiller(rows, processes, self._twin)
        model = ChatModel(model_settings(settings, processes))
        title = the_wish().render(settings.language)[:40]
        self._talk = OpenConversation(
            rows=rows,
            assistant=build_assistant(settings, rows, self._world, model),
            home=Home(settings.home),
            conversation=rows.create_conversation(title=title, language=settings.language, started_by=human.principal),
            person=Person(principal=human.principal, language=settings.language, is_language_fixed=True),
            screen=screen,
        )

    def run(self, watch: Stopwatch) -> Proof:
        self._talk.say("demo.opening", style="bold")
        try:
            with watch.phase("plan"):
                self._type(the_wish().render(self._language))
                self._until(self._is_decided)
            with watch.phase("work"):
                self._until(self._is_over)
        except HumanLeft as left:
            self._screen.line(sentence_of(left, self._language))
        with watch.phase("proof"):
            proof = prove(self._rows, self._world, self._talk.id, self._twin.effects(), self._killer.kill)
        self._twin.close()
        return proof

    def _until(self, is_reached: Callable[[], bool]) -> None:
        """Shows what happens and answers what is asked, until then. A person may think as long as they like."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not is_reached():
            if time.monotonic() > deadline:
                self._talk.say("demo.too_slow", style="red", seconds=round(DEADLINE_SECONDS))
                return
            began = time.monotonic()
            if self._look() and not self._human.is_echoed:
                deadline += time.monotonic() - began
        self._talk.show_news()

    def _look(self) -> bool:
        """True while somebody is asked."""
        if (kill := self._killer.look()) is not None:
            self._talk.say("demo.killed", style="bold yellow", pid=kill.pid, call=CALL)
        self._talk.show_news()
        question = next(iter(self._talk.open_questions()), None)
        reply = self._human.reply_to(question) if question is not None else None
        if reply is not None:
            self._type(reply)
        time.sleep(_LOOK_SECONDS)
        return question is not None

    def _type(self, text: str) -> None:
        """As at a keyboard: a slip is told, and the question stays open."""
        if self._human.is_echoed:
            self._talk.say("demo.typed", style="cyan", who=shown_principal(self._human.principal), text=text)
        try:
            self._talk.take(text)
        except OpsError as error:
            self._screen.line(sentence_of(error, self._language), style="red")

    def _is_decided(self) -> bool:
        """Approved, rejected, or nothing left that anybody could answer."""
        plans = self._rows.list_plans(conversation_id=self._talk.id)
        waits = bool(self._talk.open_questions())
        return not waits and all(plan.status not in _UNDECIDED for plan in plans)

    def _is_over(self) -> bool:
        return not self._talk.working_runs()
