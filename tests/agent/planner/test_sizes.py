"""More, fewer, or so many in the end: what a count of nodes means."""

from __future__ import annotations

import pytest

from agent.planner.entities import find_entities
from agent.planner.grammar import goals
from agent.provenance.text import normalise


@pytest.mark.parametrize(
    ("sentence", "operation", "is_total"),
    [
        ("add 2 nodes to llama", "add_capacity", False),
        ("scale llama to 8 nodes", "add_capacity", True),
        ("remove 2 nodes from llama", "remove_capacity", False),
        ("scale down llama by 2 nodes", "remove_capacity", False),
        ("shrink llama to 3 nodes", "remove_capacity", True),
        ("scale job sft to 3 nodes", "resize_job", True),
        ("suspend job sft", "stop_job", False),
        ("给 llama 增加 2 个节点", "add_capacity", False),
        ("把 llama 扩到 8 个节点", "add_capacity", True),
        ("从 llama 移除 2 个节点", "remove_capacity", False),
        ("把 llama 缩到 3 个节点", "remove_capacity", True),
    ],
)
def test_a_count_is_a_difference_or_a_total(sentence: str, operation: str, is_total: bool) -> None:
    text = normalise(sentence)

    assert [goal.operation for goal in goals(text)] == [operation]
    assert find_entities(text, sentence).is_total is is_total
