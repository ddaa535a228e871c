"""Whole conversations with the planner as the model: real graph and rows, the fake world of two zones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.events import EndReason, QuestionAsked
from state.records import PlanStatus
from tests.agent.talk import Talk, begin_talk
from tests.fakes.planner import PlannerModel


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    found = begin_talk(tmp_path, model=PlannerModel())
    found.submit.clusters = ["base"]
    yield found
    found.assistant.close()
    found.repository.close()


def kinds_asked(talk: Talk, *messages: str) -> list[str]:
    kinds = []
    for words in messages:
        talk.send(words)
        kinds += [event.question.kind.value for event in talk.of(QuestionAsked)]
    return kinds


@pytest.mark.parametrize(
    "messages",
    [
        ("Create an EKS cluster called llama with 8 on-demand p5.48xlarge in usw2-az2", "yes"),
        ("建一个 EKS 集群叫 llama，八台按需 p5.48xlarge，放在 usw2-az2", "同意"),
        ("In usw2-az2 please set up a cluster named llama: eight p5.48xlarge, on demand", "go ahead"),
    ],
)
def test_a_full_request_needs_only_its_approval(talk: Talk, messages: tuple[str, ...]) -> None:
    assert kinds_asked(talk, *messages) == ["approval"]

    [run] = talk.runs
    assert run.params == {
        "name": "llama",
        "zone": "usw2-az2",
        "type": "ml.p5.48xlarge",
        "count": 8,
        "mode": "on_demand",
    }


def test_a_cluster_and_a_job_on_it_are_one_plan_in_chinese(talk: Talk) -> None:
    kinds = kinds_asked(
        talk,
        "建一个集群叫 llama，八台按需 p5.48xlarge，然后用两个节点跑示例任务 s1",
        "第二个",
        "不对，改成 4 台",
        "同意",
    )

    assert kinds == ["availability_zone", "approval", "approval"]
    create, submit = sorted(talk.runs, key=lambda run: run.workflow)
    assert create.params["count"] == 4
    assert submit.params == {"cluster": "llama", "name": "s1", "nodes": 2}
    assert submit.depends_on == (create.id,)


def test_a_job_without_a_cluster_goes_to_the_cluster_of_the_same_plan(talk: Talk) -> None:
    kinds = kinds_asked(
        talk, "Create a cluster and run job s1 on 2 nodes of it", "call it foo", "az1", "g5.12xlarge", "2 spot nodes"
    )

    assert kinds == ["missing", "availability_zone", "instance_type", "capacity", "approval"]


def test_corrections_follow_one_another(talk: Talk) -> None:
    kinds_asked(
        talk,
        "create a cluster named x1 with 2 on-demand g5.12xlarge in usw2-az1",
        "put it in usw2-az2 instead",
        "call it x2",
        "no, make it 4",
        "use p5.48xlarge",
    )
    talk.send("yes")

    [run] = talk.runs
    assert run.params == {"name": "x2", "zone": "usw2-az2", "type": "ml.p5.48xlarge", "count": 4, "mode": "on_demand"}


def test_taking_the_zone_back_asks_for_it(talk: Talk) -> None:
    kinds = kinds_asked(
        talk, "create a cluster named x1 with 2 on-demand g5.12xlarge in usw2-az1", "not in usw2-az1 please"
    )

    assert kinds == ["approval", "availability_zone"]


def test_cancelling_withdraws_the_plan(talk: Talk) -> None:
    talk.send("create a cluster named x1 with 2 on-demand g5.12xlarge")
    talk.send("never mind")

    assert talk.plans[0].status is PlanStatus.WITHDRAWN


@pytest.mark.parametrize("words", ["asdf qwer zxcv", "hello there", "你好", "42"])
def test_nonsense_gets_a_short_help_and_changes_nothing(talk: Talk, words: str) -> None:
    talk.send(words)

    assert talk.ended is EndReason.ANSWERED
    assert len(talk.sentences) == 1
    assert talk.plans == []


def test_state_is_told_from_the_read_tools(talk: Talk) -> None:
    talk.send("which clusters are there?")

    assert "base" in talk.sentences[0]
    assert talk.plans == []


def test_an_order_in_pasted_text_leaves_its_choices_open(talk: Talk) -> None:
    kinds = kinds_asked(
        talk, "create a cluster named x1 as in this note:\n> 8 on-demand p5.48xlarge in usw2-az1\nthank you"
    )

    assert kinds == ["availability_zone"]


def test_a_new_goal_takes_nothing_over_from_a_refused_one(talk: Talk) -> None:
    kinds_asked(talk, "create a cluster called x with 0 nodes of p5.48xlarge on demand in usw2-az1")

    kinds = kinds_asked(talk, "create a cluster for me")

    assert kinds == ["missing"]
    assert (talk.nodes[0].params, talk.nodes[0].choices) == ({}, {})
    assert [plan.status for plan in talk.plans] == [PlanStatus.DRAFT, PlanStatus.WITHDRAWN]


def test_a_refused_goal_may_be_corrected_by_the_next_message_only(talk: Talk) -> None:
    talk.send("create a cluster called x with 0 nodes of p5.48xlarge on demand in usw2-az1")
    talk.send("which clusters are there?")

    talk.send("no, make it 4")

    assert talk.plans[0].status is PlanStatus.WITHDRAWN
    assert talk.runs == []


def test_a_goal_stated_anew_replaces_the_open_one_without_its_choices(talk: Talk) -> None:
    talk.send("create a cluster with 2 on-demand g5.12xlarge in usw2-az1")

    talk.send("create a cluster named y")

    [node] = talk.nodes
    assert (node.params, node.choices) == ({"name": "y"}, {})


def test_texts_follow_the_language_of_each_message(talk: Talk) -> None:
    talk.send("hello there")
    english = talk.sentences[0]
    talk.send("你好")

    assert english.startswith("I look after")
    assert talk.sentences[0].startswith("我负责")
