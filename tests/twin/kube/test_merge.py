"""The patches, against hand-worked cases and against their own algebra."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.json_value import JsonValue
from twin.kube.errors import ApiError
from twin.kube.merge import json_patch, merge_patch, strategic_patch

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text("ab", max_size=2))
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text("abc", max_size=1), inner))
)


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        pytest.param({"a": "b"}, {"a": "c"}, {"a": "c"}, id="replace"),
        pytest.param({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}, id="remove"),
        pytest.param({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}, id="nested"),
        pytest.param({"a": [1]}, {"a": [2]}, {"a": [2]}, id="lists are whole"),
        pytest.param(["a"], {"a": "b"}, {"a": "b"}, id="target of another type"),
        pytest.param({"e": None}, {"a": 1}, {"e": None, "a": 1}, id="a null that was there stays"),
        pytest.param({}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}, id="nulls do not enter"),
    ],
)
def test_merge_patch_follows_rfc_7386(target: JsonValue, patch: JsonValue, result: JsonValue) -> None:
    assert merge_patch(target, patch) == result


@given(VALUES, VALUES)
def test_a_merge_patch_twice_is_once(target: JsonValue, patch: JsonValue) -> None:
    once = merge_patch(target, patch)

    assert merge_patch(once, patch) == once


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        pytest.param([{"op": "add", "path": "/a/1", "value": 9}], {"a": [1, 9, 2]}, id="insert"),
        pytest.param([{"op": "add", "path": "/a/-", "value": 9}], {"a": [1, 2, 9]}, id="append"),
        pytest.param([{"op": "remove", "path": "/a/0"}], {"a": [2]}, id="remove an item"),
        pytest.param([{"op": "replace", "path": "/a/0", "value": 9}], {"a": [9, 2]}, id="replace an item"),
        pytest.param([{"op": "move", "from": "/a", "path": "/b"}], {"b": [1, 2]}, id="move"),
        pytest.param([{"op": "copy", "from": "/a/0", "path": "/b"}], {"a": [1, 2], "b": 1}, id="copy"),
        pytest.param([{"op": "add", "path": "/x~1y~0z", "value": 1}], {"a": [1, 2], "x/y~z": 1}, id="escapes"),
    ],
)
def test_json_patch_follows_rfc_6902(patch: JsonValue, result: JsonValue) -> None:
    assert json_patch({"a": [1, 2]}, patch) == result


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param([{"op": "remove", "path": "/none"}], id="remove what is not there"),
        pytest.param([{"op": "replace", "path": "/a/7", "value": 1}], id="replace beyond the end"),
        pytest.param([{"op": "add", "path": "/none/x", "value": 1}], id="add below what is not there"),
        pytest.param([{"op": "add", "path": "/a/x", "value": 1}], id="no index"),
        pytest.param([{"op": "test", "path": "/a/0", "value": 2}], id="failed test"),
        pytest.param([{"op": "odd", "path": "/a"}], id="unknown operation"),
        pytest.param([{"op": "add", "path": "a", "value": 1}], id="no pointer"),
        pytest.param({"op": "add"}, id="no list"),
    ],
)
def test_a_json_patch_that_does_not_apply_is_refused(patch: JsonValue) -> None:
    with pytest.raises(ApiError) as refused:
        json_patch({"a": [1, 2]}, patch)

    assert refused.value.code in (400, 422)


@pytest.mark.parametrize(
    ("patch", "result"),
    [
        pytest.param(
            {"env": [{"name": "b", "value": "9"}]},
            {"env": [{"name": "a", "value": "1"}, {"name": "b", "value": "9"}], "args": ["x"]},
            id="keyed lists merge",
        ),
        pytest.param(
            {"env": [{"name": "a", "$patch": "delete"}]},
            {"env": [{"name": "b", "value": "2"}], "args": ["x"]},
            id="an item is deleted by key",
        ),
        pytest.param(
            {"env": [{"$patch": "replace"}, {"name": "c", "value": "3"}]},
            {"env": [{"name": "c", "value": "3"}], "args": ["x"]},
            id="a list is replaced on demand",
        ),
        pytest.param(
            {"args": ["y"]},
            {"env": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}], "args": ["y"]},
            id="plain lists are whole",
        ),
        pytest.param({"$retainKeys": ["args"]}, {"args": ["x"]}, id="retained keys"),
        pytest.param({"$patch": "replace", "args": ["z"]}, {"args": ["z"]}, id="replaced whole"),
    ],
)
def test_strategic_patches_merge_lists_by_key(patch: JsonValue, result: JsonValue) -> None:
    target: JsonValue = {"env": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}], "args": ["x"]}

    assert strategic_patch(target, patch) == result
