"""The environment is read in one file: every setting can be found there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.architecture.test_budgets import ROOT, python_files

PRODUCT = ("agent", "core", "evals", "interfaces", "state", "tools", "twin", "workflows")
READERS = {"interfaces/settings.py"}
# A user's training script, run by the twin as a pod: it reads RANK and WORLD_SIZE as such scripts do.
USER_CODE = "twin/sample_job/"


def reads_environment(source: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "environb" | "getenv"):
                return True
            case ast.ImportFrom(module="os", names=names) if {"environ", "environb", "getenv"} & {
                n.name for n in names
            }:
                return True
            case _:
                pass
    return False


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("import os\nos.environ['A']", id="attribute"),
        pytest.param("import os\nos.getenv('A')", id="function"),
        pytest.param("from os import environ as e\ne['A']", id="from import under another name"),
    ],
)
def test_each_way_of_reading_the_environment_is_seen(source: str) -> None:
    assert reads_environment(source)


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        name
        for path in python_files(*PRODUCT)
        if not (name := Path(path).relative_to(ROOT).as_posix()).startswith(USER_CODE)
        and reads_environment(path.read_text())
    }

    assert readers <= READERS
