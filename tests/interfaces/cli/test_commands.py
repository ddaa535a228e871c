"""Every command of the table can be loaded, has help in both languages, and every read verb speaks JSON."""

from __future__ import annotations

import pytest

from core.messages.catalogue import TEXTS
from interfaces.cli.main import _COMMANDS
from interfaces.errors import ExitCode
from tests.interfaces.cli.conftest import Command

READ_VERBS = (
    *("runs list", "runs show", "questions list", "questions show", "plans list", "plans show"),
    *("clusters list", "clusters show", "clusters nodes", "jobs list", "jobs show", "events", "logs"),
    *("audit show", "audit verify", "doctor", "env"),
)


@pytest.mark.parametrize("name", [*_COMMANDS, "eval", "bench"])
def test_the_command_loads_and_explains_itself(command: Command, name: str) -> None:
    shown = command(name, "--help")

    assert shown.code == ExitCode.DONE, shown.err
    assert f"Usage: muster {name}" in shown.out


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_has_a_line_in_the_overview(language: str) -> None:
    assert [name for name in [*_COMMANDS, "eval", "bench"] if f"cli.help_{name}" not in TEXTS[language]] == []


@pytest.mark.parametrize("verb", READ_VERBS)
def test_a_read_verb_speaks_json(command: Command, verb: str) -> None:
    assert "--json" in command(*verb.split(), "--help").out
