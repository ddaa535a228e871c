"""Conversations with everything real but the hour and the model's size: planner, graph, rows, operations, twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from agent.assistant import Assistant
from agent.events import AgentEvent, QuestionAsked, Refusal, TextWhole, TurnBegan
from agent.looks.catalogue import LOOK_TOOLS
from core.governance.principals import Principal, Role
from core.ids import ConversationId, RandomIds
from core.json_value import JsonValue
from core.messages.message import Language
from state.records import Run
from state.repository import Repository, open_repository
from tests.agent.talk import ANA, PROFILE
from tests.fakes.planner import PlannerModel
from tests.twin_process import WholeTwin, whole_twin
from tests.workflows.catalogue.reads import ClientReads
from twin.world.specification import WorldSpec
from workflows.catalogue import OPERATIONS, WORKFLOWS

WORLD = WorldSpec.model_validate(
    {
        "region": "us-west-2",
        "zones": {
            "usw2-az1": {"ml.p5.48xlarge": 2, "ml.g5.12xlarge": 20},
            "usw2-az2": {"ml.p5.48xlarge": 16, "ml.p5en.48xlarge": 4},
        },
        "quotas": {"ml.p5.48xlarge": 16, "ml.g5.12xlarge": 20, "ml.p5en.48xlarge": 8},
        "plans": [
            {
                "id": "plan-a",
                "type": "ml.p5en.48xlarge",
                "count": 8,
                "zone": "usw2-az2",
                "hours_left": 300,
                "status": "Active",
            }
        ],
        "clusters": [
            {
                "name": "base",
                "orchestrator": "eks",
                "zone": "usw2-az2",
                "groups": [{"name": "workers", "type": "ml.p5.48xlarge", "count": 4}],
            }
        ],
    }
)


@dataclass
class RealTalk:
    assistant: Assistant
    repository: Repository
    conversation_id: ConversationId
    events: list[AgentEvent] = field(default_factory=list)

    principal: Principal = ANA

    def say(self, *messages: str) -> list[str]:
        """Everything that was shown in these turns: kinds of questions, reasons of refusals, texts of answers."""
        self.events = [
            event for words in messages for event in self.assistant.send(self.conversation_id, words, self.principal)
        ]
        shown = []
        for event in self.events:
            if isinstance(event, QuestionAsked):
                shown.append(event.question.kind.value)
            elif isinstance(event, Refusal):
                shown.append(event.reason.value)
            elif isinstance(event, TextWhole):
                shown.append(event.text)
        return shown

    @property
    def card(self) -> str:
        """The last approval as the person reads it."""
        language = [event.language for event in self.events if isinstance(event, TurnBegan)][-1]
        asked = [event.question for event in self.events if isinstance(event, QuestionAsked)][-1]
        return "\n".join(line.render(language) for line in asked.details)

    @property
    def runs(self) -> list[Run]:
        return sorted(self.repository.list_runs(conversation_id=self.conversation_id), key=lambda run: run.workflow)


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeTwin]:
    with whole_twin(tmp_path_factory.mktemp("twin"), world=WORLD) as running:
        yield running


@pytest.fixture
def talk(twin: WholeTwin, tmp_path: Path) -> Iterator[RealTalk]:
    twin.reset(WORLD)
    repository = open_repository(tmp_path / "muster.db", clock=twin.clock, ids=RandomIds(Random(1)))
    assistant = Assistant(
        repository=repository,
        operations=OPERATIONS,
        workflow_versions={workflow.name: workflow.version for workflow in WORKFLOWS},
        reads=ClientReads(twin.clients),
        look_tools=LOOK_TOOLS,
        model=PlannerModel(),
        clock=twin.clock,
        profile=PROFILE,
        checkpoints_path=tmp_path / "checkpoints.db",
    )
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=ANA)
    yield RealTalk(assistant=assistant, repository=repository, conversation_id=conversation.id)
    assistant.close()
    repository.close()


def part(run: Run, *names: str) -> list[JsonValue]:
    return [run.params[name] for name in names]


def test_a_full_wish_needs_only_its_approval_and_the_card_quotes_each_choice(talk: RealTalk) -> None:
    shown = talk.say("Create an EKS cluster called llama with 8 on-demand p5.48xlarge in us-west-2a")

    assert shown == ["approval"]
    assert all(quote in talk.card for quote in ("“8 on-demand p5.48xlarge”", "“p5.48xlarge”", "“us-west-2a”"))
    talk.say("yes")
    [run] = talk.runs
    assert part(run, "name", "zone_id", "instance_type", "count", "mode") == [
        "llama",
        "usw2-az2",
        "ml.p5.48xlarge",
        8,
        "on_demand",
    ]


def test_a_zone_that_contradicts_the_training_plan_is_asked(talk: RealTalk) -> None:
    shown = talk.say("Create a cluster called zed with 8 nodes from training plan plan-a in usw2-az1", "usw2-az2")

    assert shown == ["availability_zone", "approval"]


def test_a_vague_wish_is_asked_through_to_the_end(talk: RealTalk) -> None:
    shown = talk.say("I want a cluster with H100 GPUs", "foo", "the first", "4 nodes on demand", "az2", "ok")

    assert shown == ["missing", "instance_type", "capacity", "availability_zone", "approval"]
    [run] = talk.runs
    assert part(run, "name", "instance_type", "count", "zone_id") == ["foo", "ml.p5.48xlarge", 4, "usw2-az2"]


@pytest.mark.parametrize(
    ("wish", "reason", "correction"),
    [
        ("create a cluster called a with 20 on-demand p5.48xlarge in usw2-az2", "quota_exceeded", "make it 4"),
        ("create a cluster called base with 2 on-demand g5.12xlarge in usw2-az1", "name_taken", "call it b2 then"),
        (
            "create a cluster called c with 2 on-demand p9.48xlarge in usw2-az1",
            "instance_type_unknown",
            "use g5.12xlarge",
        ),
        (
            "create a cluster called e with 2 on-demand g5.12xlarge in euw1-az1",
            "zone_in_other_region",
            "in usw2-az1 then",
        ),
        ("run a job called t9 on nope with 2 nodes", "name_unknown", "on base then"),
        ("在 base 上用 9 个节点跑示例任务", "capacity_short", "改成 2 个节点"),
    ],
)
def test_a_refused_wish_is_mended_by_one_correction(talk: RealTalk, wish: str, reason: str, correction: str) -> None:
    assert talk.say(wish) == [reason]
    assert talk.runs == []

    assert talk.say(correction) == ["approval"]


def test_a_cluster_and_a_job_on_it_are_approved_once(talk: RealTalk) -> None:
    shown = talk.say("建一个集群叫 llama，四台按需 p5.48xlarge，放在 usw2-az2，然后用两个节点跑示例任务", "同意")

    assert shown == ["approval"]
    create, submit = talk.runs
    assert submit.depends_on == (create.id,)
    assert part(submit, "cluster", "nodes") == ["llama", 2]


def test_a_deletion_says_what_is_lost(talk: RealTalk) -> None:
    assert talk.say("delete cluster base") == ["approval"]

    assert "lost: 4 node(s) of ml.p5.48xlarge in the group workers" in talk.card


def test_state_is_told_without_a_run(talk: RealTalk) -> None:
    [answer] = talk.say("how is cluster base doing?")

    assert "InService" in answer and "4" in answer
    assert talk.runs == []


@pytest.mark.parametrize("role", [Role.ENGINEER, Role.PROJECT_LEAD])
@pytest.mark.parametrize(
    "words", ["Create a cluster", "删除集群 base", "add 2 on-demand nodes to group workers of base"]
)
def test_what_the_role_may_not_is_refused_without_a_question(talk: RealTalk, role: Role, words: str) -> None:
    talk.principal = replace(ANA, role=role)

    assert talk.say(words) == ["role_missing"]
