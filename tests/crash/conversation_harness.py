"""Kills a conversation at every write; what follows must still be one plan, one question each, one set of runs.

Run as `python -m tests.crash.conversation_harness --every N`; prints one JSON object. The imports cost seconds, so
this process imports once and forks a child for each kill and one more that goes on with what the dead one left.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from random import Random
from typing import ParamSpec, TypeVar

from langgraph.checkpoint.sqlite import SqliteSaver

from agent.assistant import Assistant
from agent.conversation import Profile
from agent.events import AgentEvent
from core.clock import SystemClock
from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, ConversationId, RandomIds
from core.messages.message import Language
from state.records import QuestionStatus
from state.repository import Repository, open_repository
from tests.fakes.operations import FakeCreateCluster, FakeReads, FakeSubmitJob
from tests.fakes.planner import PlannerModel

P = ParamSpec("P")
R = TypeVar("R")

ANA = Principal(id=ActorId("ana"), role=Role.PLATFORM_ADMIN, channel=Channel.TERMINAL)
REQUEST = "Create a cluster called llama with 8 on-demand p5.48xlarge and run job s1 on 2 nodes of it"
MESSAGES = (REQUEST, "az2", "no, make it 4", "yes")
_REPOSITORY_WRITES = (
    "append_transcript",
    "create_plan",
    "update_plan",
    "propose_plan",
    "ask",
    "answer_question",
    "withdraw_question",
)
_SAVER_WRITES = ("put", "put_writes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What stands in the database after the kill at write `point` and after everything was brought to its end."""

    point: int
    was_killed: bool
    plans: int = 0
    approved: int = 0
    open_questions: int = 0
    runs: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    """The node count that each create run was given."""
    zone_questions: int = 0
    heard: int = 0
    """How often each message stands in the transcript, at most."""

    @property
    def is_right(self) -> bool:
        whole = (self.plans, self.approved, self.open_questions, self.zone_questions) == (1, 1, 0, 1)
        return whole and self.runs == ("create_cluster", "submit_job") and self.counts == (4,) and self.heard == 1


def play_killed(folder: Path, point: int) -> None:
    """The whole conversation, dead at write number `point` (even: before the write, odd: after it)."""
    _kill_at(point)
    conversation_id, repository, assistant = _open(folder)
    for words in MESSAGES:
        _drain(assistant.send(conversation_id, words, ANA))
    repository.close()


def play_on(folder: Path, point: int) -> Aftermath:
    """What a person does next: resumes, and says again only what is not in the transcript."""
    conversation_id, repository, assistant = _open(folder)
    _drain(assistant.resume(conversation_id))
    for words in MESSAGES:
        if words not in [entry.text for entry in repository.list_transcript(conversation_id)]:
            _drain(assistant.send(conversation_id, words, ANA))
    _drain(assistant.resume(conversation_id))
    texts = [entry.text for entry in repository.list_transcript(conversation_id)]
    plans = repository.list_plans(conversation_id=conversation_id)
    runs = repository.list_runs(conversation_id=conversation_id)
    questions = repository.list_questions(conversation_id=conversation_id)
    return Aftermath(
        point=point,
        was_killed=True,
        plans=len(plans),
        approved=sum(1 for plan in plans if plan.status == "approved"),
        open_questions=sum(1 for question in questions if question.status is QuestionStatus.OPEN),
        runs=tuple(sorted(run.workflow for run in runs)),
        counts=tuple(int(str(run.params["count"])) for run in runs if run.workflow == "create_cluster"),
        zone_questions=sum(1 for question in questions if question.kind == "availability_zone"),
        heard=max(texts.count(words) for words in MESSAGES),
    )


def _kill_at(point: int) -> None:
    """Every write counts twice: the moment before it and the moment after."""
    moment = iter(range(1_000_000))

    def watched(write: Callable[P, R]) -> Callable[P, R]:
        @wraps(write)
        def counted(*args: P.args, **kwargs: P.kwargs) -> R:
            _die_if(next(moment) == point)
            result = write(*args, **kwargs)
            _die_if(next(moment) == point)
            return result

        return counted

    for owner, names in ((Repository, _REPOSITORY_WRITES), (SqliteSaver, _SAVER_WRITES)):
        for name in names:
            setattr(owner, name, watched(getattr(owner, name)))


def _die_if(is_time: bool) -> None:
    if is_time:
        os.kill(os.getpid(), signal.SIGKILL)


def _open(folder: Path) -> tuple[ConversationId, Repository, Assistant]:
    clock = SystemClock()
    repository = open_repository(folder / "muster.db", clock=clock, ids=RandomIds(Random(os.getpid())))
    found = repository.list_conversations()
    conversation = (
        found[0] if found else repository.create_conversation(title="t", language=Language.ENGLISH, started_by=ANA)
    )
    assistant = Assistant(
        repository=repository,
        operations=[FakeCreateCluster(), FakeSubmitJob()],
        workflow_versions={"create_cluster": 1, "submit_job": 1},
        reads=FakeReads(),
        look_tools=[],
        model=PlannerModel(prefix=f"call-{os.getpid()}"),
        clock=clock,
        profile=Profile(region="us-west-2", account="111122223333", is_twin=True),
        checkpoints_path=folder / "checkpoints.db",
    )
    return conversation.id, repository, assistant


def _drain(events: Iterator[AgentEvent]) -> None:
    for _ in events:
        pass


def _forked(work: Callable[[], object]) -> tuple[int, str]:
    """Runs `work` in a child. Returns its wait status and what it wrote as JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.write(writing, json.dumps(work()).encode())
            status = 0
        except BaseException as error:  # noqa: BLE001 - told to the parent, which counts it as wrong
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            status = 1
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    return os.waitpid(child, 0)[1], text


def run_all(every: int, offset: int) -> list[Aftermath]:
    """Until a conversation ends before its kill comes."""
    found: list[Aftermath] = []
    point = offset
    while True:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            status, _ = _forked(lambda: play_killed(folder, point))  # noqa: B023 - called at once
            if not os.WIFSIGNALED(status):
                if status != 0:
                    found.append(Aftermath(point=point, was_killed=False))
                return found
            status, text = _forked(lambda: asdict(play_on(folder, point)))  # noqa: B023 - called at once
            found.append(_read_aftermath(text) if status == 0 else Aftermath(point=point, was_killed=True))
        point += every


def _read_aftermath(text: str) -> Aftermath:
    values = json.loads(text)
    values |= {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return Aftermath(**values)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--offset", type=int, default=0)
    given = parser.parse_args(arguments)
    found = run_all(given.every, given.offset)
    wrong = [asdict(aftermath) for aftermath in found if not aftermath.is_right]
    json.dump({"kills": len(found), "wrong": wrong}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
