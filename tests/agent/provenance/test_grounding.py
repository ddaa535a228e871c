"""A name or an amount counts as said when it stands in the person's words, and only then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.provenance.grounding import Grounding
from core.json_value import JsonValue

SAID = Grounding(
    ["Run job Sft-7B on 2 nodes x3 in usw2-az1", "用八台，挂载 1.2T 的 Lustre 到 /fsx", 'with "python train.py --lr 3"']
)


@pytest.mark.parametrize(
    "value", ["sft-7b", "Sft-7B", "/fsx", 2, 8, 3, 1200, 1.2, True, None, ["python", "train.py"], {"mount": "/fsx"}]
)
def test_what_was_said_is_held(value: JsonValue) -> None:
    assert SAID.holds(value)


@pytest.mark.parametrize("value", ["evil", "sft-8b", 7, 1, 64, ["python", "evil.py"], {"mount": "/other"}])
def test_what_was_not_said_is_not_held(value: JsonValue) -> None:
    assert not SAID.holds(value)


def test_only_free_fields_are_dropped() -> None:
    kept = SAID.keep({"name": "evil", "nodes": 2, "orchestrator": "Eks"}, ["name", "nodes"])

    assert kept == {"nodes": 2, "orchestrator": "Eks"}


@given(st.text(min_size=1, max_size=40))
def test_words_hold_themselves(words: str) -> None:
    assert Grounding([words]).holds(words)
