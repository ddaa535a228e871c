"""Names and amounts are found by the words around them, in any position."""

from __future__ import annotations

import pytest

from agent.planner.entities import find_entities, target_name
from agent.provenance.text import normalise


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("create an EKS cluster called llama with 8 nodes", "llama"),
        ("create a cluster with 8 nodes, named My-Cluster", "My-Cluster"),
        ("create a cluster; call it 'exp-7'", "exp-7"),
        ("with the name foo2", "foo2"),
        ("name: abc", "abc"),
        ("建一个叫 llama 的集群", "llama"),
        ("建集群，名字叫 llama-2，八台", "llama-2"),
        ("建一个名为“llama”的集群", "llama"),
        ("rename it to x2", "x2"),
    ],
)
def test_a_given_name_is_found(text: str, name: str) -> None:
    assert find_entities(normalise(text), text).name == name


@pytest.mark.parametrize(
    ("text", "cluster"),
    [
        ("run it on the llama cluster", "llama"),
        ("run the sample job on 2 nodes of llama", "llama"),
        ("run a job on base with 2 nodes", "base"),
        ("在 base 集群上跑任务", "base"),
        ("提交一个任务到 llama", "llama"),
        ("给 base 加两台机器", "base"),
        ("run it on 2 nodes in usw2-az2", None),
        ("run it on demand", None),
    ],
)
def test_a_target_cluster_is_found(text: str, cluster: str | None) -> None:
    found = find_entities(normalise(text), text)

    assert (found.cluster or found.place or found.owner) == cluster


@pytest.mark.parametrize(
    ("text", "job"),
    [
        ("stop job s1", "s1"),
        ("train sft-7b on base", "sft-7b"),
        ("cancel the s1 job", "s1"),
        ("停掉任务 s1", "s1"),
        ("run the sample job", None),
        ("run a job", None),
    ],
)
def test_a_job_is_found(text: str, job: str | None) -> None:
    assert find_entities(normalise(text), text).job == job


def test_amounts_and_places_are_told_apart() -> None:
    text = "run the job on 2 nodes with high priority for team vision, 1.2T Lustre at /fsx"
    found = find_entities(normalise(text), text)

    assert (found.nodes, found.priority, found.team, found.size_gib, found.mount) == (2, "high", "vision", 1200, "/fsx")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("delete llama", "llama"),
        ("what is the status of base?", "base"),
        ("is llama ready?", "llama"),
        ("llama 的状态", "llama"),
        ("删除集群 base", "base"),
        ("which clusters are there?", None),
    ],
)
def test_what_a_question_or_deletion_is_about_is_found(text: str, name: str | None) -> None:
    assert target_name(normalise(text), text) == name


def test_behind_the_chinese_noun_any_word_is_a_name() -> None:
    assert find_entities("把集群 old 删掉", "把集群 old 删掉").cluster == "old"
