"""What the README shows works as shown."""

from __future__ import annotations

import re
import subprocess

import pytest

from interfaces.errors import ExitCode
from tests.architecture.test_budgets import ROOT
from tests.e2e.conftest import Installation
from tests.interfaces.cli.running import SCRIPT

README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^\$ (.+)$", README, re.MULTILINE)


@pytest.fixture(scope="module")
def after_the_chat(installation: Installation) -> Installation:
    """Plays the README's chat: lines after `>` are typed, the others must be shown in between, in this order."""
    [block] = re.findall(r"```text chat\n(.*?)```", README, re.DOTALL)
    with installation.chat() as terminal:
        terminal.expect("Conversation", "> ")
        for line in block.splitlines():
            if line.startswith("> "):
                terminal.type(line[2:])
            else:
                terminal.expect_next(line)
        assert terminal.end() == ExitCode.DONE
    return installation


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_of_the_readme_works_after_its_chat(after_the_chat: Installation, command: str) -> None:
    path = f"{SCRIPT.parent}:/usr/bin:/bin"
    finished = subprocess.run(
        ["/bin/sh", "-c", command],
        env=after_the_chat.environment | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert finished.stdout


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) >= 8
