"""Which operations a sentence asks for, in both languages and in any order of its parts."""

from __future__ import annotations

import pytest

from agent.planner.grammar import extras, goals, is_question
from agent.planner.lexicon import Noun
from agent.provenance.text import normalise


def operations(text: str) -> list[str]:
    return [goal.operation for goal in goals(normalise(text))]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Create an EKS cluster called llama with 8 on-demand p5.48xlarge in usw2-az2", ["create_cluster"]),
        ("In usw2-az2, spin up a training cluster", ["create_cluster"]),
        ("Create a cluster to run training jobs with 8 nodes", ["create_cluster"]),
        ("I'd like a HyperPod cluster, 8 nodes", ["create_cluster"]),
        ("please launch a new cluster", ["create_cluster"]),
        ("我想要一个 8 节点的训练集群，在 az2", ["create_cluster"]),
        ("帮我搭建一套集群", ["create_cluster"]),
        ("run the sample job on 2 nodes of llama", ["submit_job"]),
        ("train sft-7b on base with 2 nodes", ["submit_job"]),
        ("can you launch a fine-tuning job called ft1 on base across 4 machines", ["submit_job"]),
        ("在 base 集群上跑一个任务 s1，用 2 个节点", ["submit_job"]),
        ("帮我提交一个训练任务到 llama", ["submit_job"]),
        ("I want to delete the llama cluster", ["delete_cluster"]),
        ("get rid of cluster base please", ["delete_cluster"]),
        ("把 llama 集群删掉", ["delete_cluster"]),
        ("add 2 more nodes to base", ["add_capacity"]),
        ("给 base 加两台机器", ["add_capacity"]),
        ("mount the file system at /data on base", ["mount_storage"]),
        ("stop job s1", ["stop_job"]),
        ("Create a cluster with 8 nodes and run the sample job on 2 nodes", ["create_cluster", "submit_job"]),
        ("建一个集群，八台，然后用两个节点跑示例任务", ["create_cluster", "submit_job"]),
        ("I need a cluster with Lustre on /fsx, and the sample job on 2 nodes", ["create_cluster", "submit_job"]),
        ("I need 4 H100 boxes for a week to finetune llama", ["create_cluster"]),
        ("could we get 16 A100s for the weekend", ["create_cluster"]),
        ("we want eight p5.48xlarge", ["create_cluster"]),
        ("我想要四台 H100 的机器训练大模型", ["create_cluster"]),
        ("我要 8 张 H100", ["create_cluster"]),
        ("给我四台 p5", ["create_cluster"]),
        ("需要三个节点的集群", ["create_cluster"]),
        ("I need 64 H100, please build a cluster", ["create_cluster"]),
        ("create a cluster, I need 4 machines", ["create_cluster"]),
        ("I need 2 more nodes on base", ["add_capacity"]),
        ("base 还需要两台机器", ["add_capacity"]),
        ("start training on base", ["submit_job"]),
        ("用 base 训练 llama，2 个节点", ["submit_job"]),
        ("kill the cluster base", ["delete_cluster"]),
        ("shut down base", ["delete_cluster"]),
        ("关掉 base", ["delete_cluster"]),
        ("delete cluster a and create a cluster called b", ["delete_cluster", "create_cluster"]),
    ],
)
def test_a_wish_names_its_operations(text: str, wanted: list[str]) -> None:
    assert operations(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "which clusters are there?",
        "why is job s1 pending?",
        "How many nodes does base have?",
        "show me the logs of s1",
        "How do I create a cluster?",
        "What went wrong with the create?",
        "why was the cluster deleted?",
        "有哪些集群？",
        "为什么任务停了一会儿？",
        "怎么创建集群？",
        "s1 的日志",
        "任务 s1 跑到哪一步了",
        "现在跑着什么任务",
        "提交的作业怎么样了",
        "get a list of my clusters",
    ],
)
def test_a_question_asks_for_no_operation(text: str) -> None:
    assert operations(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "don't create a cluster yet",
        "不要创建集群",
        "please do not delete the cluster",
        "delete the logs",
        "关掉监控",
        "不要自动替换故障节点",
        "请不需要再重启那个节点",
    ],
)
def test_what_shall_not_be_done_is_no_goal(text: str) -> None:
    assert operations(text) == []


@pytest.mark.parametrize("text", ["which clusters are there?", "有哪些集群", "s1 的状态", "is base ready?"])
def test_a_question_is_known_as_one(text: str) -> None:
    assert is_question(normalise(text))


def test_a_new_cluster_may_come_with_storage_and_resilience() -> None:
    text = normalise("create a cluster with lustre on /fsx and resilience")
    [goal] = goals(text)

    assert extras(text, goal) == [Noun.STORAGE, Noun.RESILIENCE]
