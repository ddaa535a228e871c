"""Plays the human of one scenario: sends the turns, answers what is asked, waits until nothing moves any more.

Twin time runs moderately fast while anybody works, and is skipped while everybody only waits: to the next look of
a run, or to the twin's next timers. So a slow machine spends no one's budget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from agent.events import AgentEvent, Refusal, Said, TextWhole, TurnBegan
from core.governance.principals import Principal
from core.ids import ConversationId, QuestionId, RunId
from core.json_value import JsonValue
from core.messages.message import Language, Message
from core.reasons import OpsError
from evals.scenario_faults import FaultWatch, WorldNotReady
from evals.scenario_human import Given, Human
from evals.scenario_record import Heard, Played
from evals.scenario_stage import Scene
from evals.scenario_twin import TwinRefused
from interfaces.questions import question_lines
from state.records import FeedKind, Question, QuestionStatus, Run, RunStatus

MOST_TWIN_SECONDS = 24 * 3600.0
MOST_SECONDS = 150.0
"""A second cap, on this machine: something that neither ends nor lets time pass."""
_LOOK_SECONDS = 0.02
_CONFIRM_SECONDS = 0.15
_SCHEDULER_SECONDS = 1.0
"""A pending job may start at the scheduler's next round."""
_SLACK_SECONDS = 10.0
"""Beyond the moment at which a run looks again: fewer, longer waits."""
_LONGEST_SKIP_SECONDS = 70.0
_ACTIVE = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING})


def play(scene: Scene) -> Played:
    """Never raises for what the scenario or the product does: that is in the result."""
    return _Player(scene).play()


@dataclass(slots=True)
class _Player:
    scene: Scene
    heard: list[Heard] = field(default_factory=list)
    answers: dict[QuestionId, JsonValue] = field(default_factory=dict)
    turn: int = 0
    trouble: str = ""
    still_moving: tuple[str, ...] = ()
    _silent: set[tuple[QuestionId, int]] = field(default_factory=set)
    _shown: set[tuple[QuestionId, int]] = field(default_factory=set)
    _feed: int = 0
    _language: Language = field(init=False)
    _human: Human = field(init=False)
    _watch: FaultWatch = field(init=False)
    _began: float = field(default_factory=time.monotonic)
    _twin_began: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._language = self.scene.scenario.lang
        self._human = Human(self.scene.scenario.answers)
        self._watch = FaultWatch(self.scene)
        self._twin_began = self.scene.clock.now()

    def play(self) -> Played:
        try:
            self._watch.arm()
            for number, turn in enumerate(self.scene.scenario.turns):
                self.turn = number
                self._take(self.scene.assistant.send(self._id, turn.user, self._principal))
                self._settle()
                if self.still_moving:
                    break
        except (OpsError, TwinRefused, WorldNotReady) as error:
            self.trouble = f"{type(error).__name__}: {error}"
        return self._record()

    @property
    def _id(self) -> ConversationId:
        return self.scene.conversation_id

    @property
    def _principal(self) -> Principal:
        return self.scene.scenario.actor.principal

    def _settle(self) -> None:
        """Until everything that this turn started is quiet, or a cap is reached."""
        while True:
            has_answered = self._look()
            moving = self._moving()
            if not moving and not has_answered and self._is_confirmed():
                return
            if moving and self._is_over():
                self.still_moving = moving
                return
            self._skip(moving)
            time.sleep(_LOOK_SECONDS)

    def _look(self) -> bool:
        """True when something was answered: more may follow from that."""
        self._watch.look()
        self.scene.worker.look_after()
        has_answered = self._answer_open()
        self._read_feed()
        return has_answered

    def _is_confirmed(self) -> bool:
        """Quiet twice, with time for the scheduler in between where a job waits."""
        deadline = time.monotonic() + (_SCHEDULER_SECONDS if self._has_pending_job() else _CONFIRM_SECONDS)
        while time.monotonic() < deadline:
            if self._look() or self._moving():
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def _moving(self) -> tuple[str, ...]:
        """Active runs, what the twin names, and faults of our own that are due soon."""
        runs = self.scene.rows.list_runs()
        working = [f"run {run.workflow} {run.status.value}" for run in working_runs(runs, self._is_parked)]
        due = ["a fault that is due within the hour"] * self._watch.is_due_soon
        return (*working, *self.scene.twin.moving(), *due)

    def _is_parked(self, run: Run) -> bool:
        """Waits for a question on which the human stays silent."""
        if run.waiting_for is None:
            return False
        question = self.scene.rows.get_question(run.waiting_for)
        return question.status is QuestionStatus.OPEN and (question.id, question.options_version) in self._silent

    def _is_over(self) -> bool:
        twin_seconds = (self.scene.clock.now() - self._twin_began).total_seconds()
        return twin_seconds > MOST_TWIN_SECONDS or time.monotonic() - self._began > MOST_SECONDS

    def _skip(self, moving: tuple[str, ...]) -> None:
        """Turn the clock on while everybody only waits. Jobs are processes: they take this machine's time."""
        if not moving or any(name.startswith("job ") for name in moving):
            return
        runs = working_runs(self.scene.rows.list_runs(), self._is_parked)
        if any(run.status is RunStatus.RUNNING or run.waiting_for is not None for run in runs):
            return
        now = self.scene.clock.now()
        waits = [(run.wake_at - now).total_seconds() for run in runs if run.wake_at is not None]
        if runs and (not waits or min(waits) <= 0):
            return
        seconds = min(waits) + _SLACK_SECONDS if waits else _LONGEST_SKIP_SECONDS
        self.scene.turn_clock_on(min(seconds, _LONGEST_SKIP_SECONDS))

    def _answer_open(self) -> bool:
        has_answered = False
        for question in self.scene.rows.list_questions(status=QuestionStatus.OPEN):
            version = (question.id, question.options_version)
            self._show(question)
            if version in self._silent:
                continue
            given = self._human.answer(question)
            if given is not None and self._answer(question, given):
                has_answered = True
            else:
                self._silent.add(version)
        return has_answered

    def _answer(self, question: Question, given: Given) -> bool:
        """False: it was not taken, and the human has nothing else to say."""
        try:
            answered = self.scene.rows.answer_question(
                question.id,
                options_version=question.options_version,
                principal=self._principal,
                option_id=given.option_id,
                value=given.value,
            )
        except OpsError as error:
            self._hear("refusal", error.message)
            return False
        self.answers[question.id] = answered.answer
        if answered.plan_id is not None:
            self._take(self.scene.assistant.resume(self._id))
        return True

    def _take(self, events: Iterable[AgentEvent]) -> None:
        for event in events:
            match event:
                case TurnBegan():
                    self._language = event.language
                case TextWhole():
                    self.heard.append(Heard(kind="reply", text=event.text, turn=self.turn))
                case Said():
                    self._hear("reply", event.message)
                case Refusal():
                    self._hear("refusal", event.message)
                    for remedy in event.remedies:
                        self._hear("refusal", remedy)
                case _:
                    pass  # questions and runs are read from their rows

    def _show(self, question: Question) -> None:
        if (version := (question.id, question.options_version)) not in self._shown:
            self._shown.add(version)
            text = "\n".join(question_lines(question, self._language))
            self.heard.append(Heard(kind="question", text=text, turn=self.turn))

    def _read_feed(self) -> None:
        for entry in self.scene.rows.list_feed(after=self._feed, conversation_id=self._id):
            self._feed = entry.sequence
            if entry.kind is not FeedKind.QUESTION:
                self._hear("news", entry.message)

    def _hear(self, kind: str, text: Message) -> None:
        self.heard.append(Heard(kind=kind, text=text.render(self._language), turn=self.turn))

    def _has_pending_job(self) -> bool:
        clusters = self.scene.twin.state().get("clusters")
        found = (
            [c.get("jobs") for c in clusters.values() if isinstance(c, Mapping)]
            if isinstance(clusters, Mapping)
            else []
        )
        return any(
            isinstance(job, Mapping) and job.get("state") == "Pending"
            for jobs in found
            if isinstance(jobs, Mapping)
            for job in jobs.values()
        )

    def _record(self) -> Played:
        scene = self.scene
        return Played(
            scenario=scene.scenario,
            seed=scene.seed,
            heard=tuple(self.heard),
            questions=tuple(scene.rows.list_questions()),
            answers=self.answers,
            runs=tuple(reversed(scene.rows.list_runs())),
            effects=scene.twin.effects(),
            live=scene.twin.state(),
            tokens=scene.model.tokens,
            seconds=time.monotonic() - self._began,
            twin_seconds=(scene.clock.now() - self._twin_began).total_seconds(),
            faults_unfired=self._watch.never_came(),
            worker_crashes=scene.worker.crashes,
            still_moving=self.still_moving,
            trouble=self.trouble,
        )


def working_runs(runs: Iterable[Run], is_parked: Callable[[Run], bool]) -> list[Run]:
    """Those that may still do something by themselves. A run that another one holds up does not."""
    found = list(runs)
    by_id = {run.id: run for run in found}
    parked = {run.id for run in found if run.status is RunStatus.WAITING and is_parked(run)}
    held_clusters = {run.cluster for run in found if run.id in parked and run.cluster is not None}

    def is_stuck(run: Run, seen: frozenset[RunId]) -> bool:
        if run.status is not RunStatus.QUEUED or run.id in seen:
            return False
        others = [by_id[other] for other in run.depends_on if other in by_id]
        return any(
            other.id in parked or other.status not in _ACTIVE | {RunStatus.DONE} or is_stuck(other, seen | {run.id})
            for other in others
        ) or (run.cluster in held_clusters)

    return [run for run in found if run.status in _ACTIVE and run.id not in parked and not is_stuck(run, frozenset())]
