"""Every text that tools and workflows ask for exists, with the placeholders that it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import pytest

from core.messages.catalogue import TEXTS

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Use:
    where: str
    key: str
    given: frozenset[str]


def uses() -> Iterator[Use]:
    for package in ("tools", "workflows"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "message":
                    key = node.args[0]
                    names = [keyword.arg for keyword in node.keywords]
                    if isinstance(key, ast.Constant) and isinstance(key.value, str) and None not in names:
                        given = frozenset(name for name in names if name is not None)
                        yield Use(f"{path.relative_to(ROOT)}:{node.lineno}", key.value, given)


USES = tuple(uses())


def test_there_are_texts_to_check() -> None:
    assert len(USES) > 100


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.where}:{use.key}")
def test_a_text_is_in_the_catalogue_with_what_it_is_given(use: Use) -> None:
    wanted = {name for _, name, _, _ in Formatter().parse(TEXTS["en"][use.key]) if name is not None}
    assert wanted == use.given
