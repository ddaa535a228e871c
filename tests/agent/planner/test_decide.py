"""What the planner makes of a first message, with the tools that Muster really has."""

from __future__ import annotations

import json

import pytest

from agent.conversation import Profile
from agent.language import language_of
from agent.looks.catalogue import LOOK_TOOLS
from agent.planner.decide import decide
from agent.planner.wire import Answer, parse_request
from agent.prompts import system_messages
from agent.provenance.extract import extract_candidates
from agent.toolbox.catalogue import tools_of_the_moment
from core.json_value import JsonValue
from core.messages.message import Language
from workflows.catalogue import OPERATIONS
from workflows.operations import Operation

PROFILE = Profile(region="us-west-2", account="111122223333", is_twin=True)


def answer(text: str) -> tuple[Answer, dict[str, JsonValue]]:
    """The planner's answer, and the value of each choice by its id."""
    said = extract_candidates(text, sequence=1, region=PROFILE.region)
    language = language_of(text) or Language.ENGLISH
    operations: dict[str, Operation] = {operation.name: operation for operation in OPERATIONS}
    system = system_messages(profile=PROFILE, language=language, candidates=said, plan=None, question=None)
    body = {
        "messages": [*system, {"role": "user", "content": text}],
        "tools": tools_of_the_moment(operations, {tool.name: tool for tool in LOOK_TOOLS}, said, None),
    }
    return decide(parse_request(json.loads(json.dumps(body)))), {found.id: found.choice.value for found in said}


def calls(text: str) -> list[tuple[str, dict[str, JsonValue]]]:
    """Each call with what it fills in; a cited choice shows as its value, a capacity as `mode/count/plan`."""
    found, values = answer(text)
    return [
        (name, {key: _shown(values.get(str(value), value)) for key, value in given.items() if value is not None})
        for name, given in found.calls
    ]


def _shown(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return "/".join(str(value[part]) for part in ("mode", "count", "plan") if value[part] is not None)
    return value


def create(
    name: str | None = None, zone: str | None = None, kind: str | None = None, capacity: str | None = None, **more: str
) -> tuple[str, dict[str, JsonValue]]:
    given: dict[str, JsonValue] = {
        "name": name,
        "availability_zone": zone,
        "instance_type": kind,
        "capacity": capacity,
        **more,
    }
    return "propose_create_cluster", {key: value for key, value in given.items() if value is not None}


P5, P5EN, G5, P4D = "ml.p5.48xlarge", "ml.p5en.48xlarge", "ml.g5.12xlarge", "ml.p4d.24xlarge"
CREATIONS = {
    "We need a training cluster for the vision team. 16 p5.48xlarge on demand, usw2-az2, call it vision-train.": create(
        "vision-train", "usw2-az2", P5, "on_demand/16"
    ),
    'could you set up a cluster "pretrain" with four p5en nodes from training plan tp-2026 in az2': create(
        "pretrain", "usw2-az2", P5EN, "training_plan/4/tp-2026"
    ),
    "Spin up 4x ml.g5.12xlarge spot in us-west-2c as an EKS cluster named dev-1": create(
        "dev-1", "us-west-2c", G5, "spot/4", orchestrator="Eks"
    ),
    "get me a slurm cluster with 8 nodes": create(None, None, None, "8", orchestrator="Slurm"),
    "I want to train a 7B model on 64 H100 GPUs, please build the cluster for it.": create(accelerator="h100"),
    "Launch a cluster, name=exp-9, type=ml.p4d.24xlarge, count=2, on-demand, zone usw2-az1": create(
        "exp-9", "usw2-az1", P4D, "on_demand/2"
    ),
    "Please create cluster alpha (2 nodes of p4d, on-demand, usw2-az3) without automatic recovery": create(
        "alpha", "usw2-az3", P4D, "on_demand/2", node_recovery="None"
    ),
    "Build a cluster in usw2-az1, no not there, usw2-az2. 6 nodes p5.48xlarge on-demand, name it beta": create(
        "beta", "usw2-az2", P5, "on_demand/6"
    ),
    "create a cluster called 123 with 0 nodes": create("123", None, None, "0"),
    "create a cluster with the name my_cluster!": create("my_cluster"),
    "Let's create “blue”: 3 nodes ml.p4d.24xlarge spot, usw2-az4": create("blue", "usw2-az4", P4D, "spot/3"),
    "Use training plan plan-a to create cluster zed with 8 nodes": create("zed", None, None, "training_plan/8/plan-a"),
    "create cluster foo with p5.48xlarge or p5en, 4 nodes": create("foo", None, None, "4"),
    'Bob wrote: "please use usw2-az1". Create cluster foo with 4 on-demand p5.48xlarge.': create(
        "foo", None, P5, "on_demand/4"
    ),
    "I think we should use usw2-az2 for a new cluster called foo with 4 on-demand p5.48xlarge": create(
        "foo", "usw2-az2", P5, "on_demand/4"
    ),
    "Is there capacity for p5.48xlarge in usw2-az1? If so create a cluster named foo there": create("foo"),
    "I need 16 H100 GPUs for a week": create(capacity="", accelerator="h100"),
    "spin up an EKS cluster for us in usw2-az1: 2 p5.48xlarge, on-demand. The name should be vision-a.": create(
        "vision-a", "usw2-az1", P5, "on_demand/2", orchestrator="Eks"
    ),
    "帮我建个集群跑训练，要 4 台 H100 的机器": create(None, None, None, "4", accelerator="h100"),
    "create a cluster called a with 4 nodes": create("a", None, None, "4"),
    "Add a cluster called gpu-pool with 4 nodes": create("gpu-pool", None, None, "4"),
    "请帮我新建一个叫 vision 的 EKS 训练集群，16 台 p5.48xlarge，按需，可用区 usw2-az2": create(
        "vision", "usw2-az2", P5, "on_demand/16", orchestrator="Eks"
    ),
    "在 az1 用训练计划 plan-a 搭一个集群，名字叫 exp，4 个 p5en 节点": create(
        "exp", "usw2-az1", P5EN, "training_plan/4/plan-a"
    ),
    "我们要训练一个 7B 模型，需要 64 张 H100，帮忙建个集群": create(accelerator="h100"),
    "给我起一个集群 dev，2台 g5.12xlarge 竞价实例": create("dev", None, G5, "spot/2"),
    "建一个集群叫 gamma，6 台 p5.48xlarge 按需，不要放在 usw2-az1": create("gamma", None, P5, "on_demand/6"),
    "新建集群 demo：两台 ml.g5.12xlarge，按需，us-west-2b": create("demo", "us-west-2b", G5, "on_demand/2"),
    "用 4 台 p4d 起个集群，名字 t1，竞价，az3": create("t1", "usw2-az3", P4D, "spot/4"),
}


@pytest.mark.parametrize("text", CREATIONS)
def test_a_cluster_is_proposed_with_what_was_said_and_nothing_else(text: str) -> None:
    assert calls(text) == [CREATIONS[text]]


JOBS: dict[str, dict[str, JsonValue]] = {
    "Kick off the sample job on cluster base, 4 nodes, high priority, team vision": {
        "cluster": "base",
        "nodes": 4,
        "team": "vision",
        "priority": "high",
        "is_sample": True,
    },
    "Submit a job named sft-7b to base using 2 nodes for team nlp": {
        "cluster": "base",
        "name": "sft-7b",
        "nodes": 2,
        "team": "nlp",
    },
    "run sample on llama with two nodes": {"cluster": "llama", "nodes": 2, "is_sample": True},
    "can you run our sample training on the cluster named base? 2 nodes is enough": {
        "cluster": "base",
        "nodes": 2,
        "is_sample": True,
    },
    "把任务 sft-7b 提交到 base 集群，用 2 个节点，高优先级，团队 nlp": {
        "cluster": "base",
        "name": "sft-7b",
        "nodes": 2,
        "team": "nlp",
        "priority": "high",
    },
    "请在 base 上启动训练任务 bert-1，3个节点": {"cluster": "base", "name": "bert-1", "nodes": 3},
    "we'd like to train llama on 4 p5 nodes": {"name": "llama", "nodes": 4},
    'run "python train.py --lr 3e-4" on base with 2 nodes as job t5': {
        "cluster": "base",
        "name": "t5",
        "nodes": 2,
        "command": ["python", "train.py", "--lr", "3e-4"],
    },
    "提交示例任务，2 个节点": {"nodes": 2, "is_sample": True},
}


@pytest.mark.parametrize("text", JOBS)
def test_a_job_is_proposed(text: str) -> None:
    assert calls(text) == [("propose_submit_job", JOBS[text])]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("please delete cluster base", "base"),
        ("tear down the cluster called old-exp", "old-exp"),
        ("remove cluster foo, we don't need it any more", "foo"),
        ("不需要 old-exp 集群了，请删除它", "old-exp"),
        ("把 base 删了吧", "base"),
    ],
)
def test_a_deletion_names_its_cluster(text: str, name: str) -> None:
    [(tool, given)] = calls(text)

    assert tool == "propose_delete_cluster"
    assert name in given.values()


@pytest.mark.parametrize(
    "text",
    [
        "Create cluster llama: 4 on-demand p5.48xlarge in usw2-az2. Once ready, run the sample job on 2 of its nodes.",
        "先建集群 llama（按需 4 台 p5.48xlarge，usw2-az2），建好后在上面用 2 个节点跑示例任务",
    ],
)
def test_a_job_on_a_cluster_to_come_is_a_second_call(text: str) -> None:
    assert calls(text) == [
        create("llama", "usw2-az2", P5, "on_demand/4"),
        ("propose_submit_job", {"cluster": "llama", "nodes": 2, "is_sample": True}),
    ]


LOOKS: dict[str, list[tuple[str, dict[str, JsonValue]]]] = {
    "how many clusters do we have": [("list_clusters", {})],
    "what clusters exist?": [("list_clusters", {})],
    "Is cluster base healthy?": [("describe_cluster", {"cluster": "base"})],
    "list all jobs on base": [("list_jobs", {"cluster": "base"})],
    "show logs of sft-7b": [("job_logs", {"job": "sft-7b"})],
    "Are there any open questions?": [("list_questions", {})],
    "Which nodes are unhealthy on base?": [("list_nodes", {"cluster": "base"})],
    "base 集群健康吗？": [("describe_cluster", {"cluster": "base"})],
    "看一下 sft-7b 的日志": [("job_logs", {"job": "sft-7b"})],
    "现在有几个集群？": [("list_clusters", {})],
    "创建集群失败的原因是什么？": [("list_jobs", {}), ("list_events", {}), ("list_runs", {})],
    "why did it stop for a while?": [("list_jobs", {}), ("list_events", {}), ("list_runs", {})],
}


@pytest.mark.parametrize("text", LOOKS)
def test_a_question_about_the_state_is_looked_up(text: str) -> None:
    assert calls(text) == LOOKS[text]


@pytest.mark.parametrize(
    "text",
    ["不要删除 base", "先别建集群", "don't create anything yet", "What can you do?", "Hi, what's this?", "thanks"],
)
def test_without_a_wish_there_is_only_text(text: str) -> None:
    found, _ = answer(text)

    assert found.calls == ()
    assert found.text
