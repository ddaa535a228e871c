"""The embedded processes from outside: one set per home, gone when nobody needs it, clear when it cannot be."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from interfaces.bootstrap.children import is_alive
from interfaces.bootstrap.embedded import stop_processes
from interfaces.bootstrap.home import Home
from interfaces.errors import ExitCode
from tests.builders.deadlines import eventually
from tests.e2e.conftest import Installation
from tests.interfaces.cli.running import SCRIPT


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Installation]:
    installation = Installation(tmp_path)
    yield installation
    stop_processes(installation.settings)


def test_two_commands_at_once_share_one_set_that_goes_when_both_are_done(fresh: Installation) -> None:
    command = [str(SCRIPT), "clusters", "list", "--json"]
    both = [subprocess.Popen(command, env=fresh.environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    pids = eventually(lambda: fresh.processes.pids() if len(fresh.processes.pids()) == 4 else {})

    answers = [process.communicate(timeout=60)[0] for process in both]

    assert answers == ['{"clusters": []}\n'] * 2
    assert fresh.processes.pids() in ({}, pids)
    eventually(lambda: not any(is_alive(pid) for pid in pids.values()))
    assert not Home(fresh.home).status.exists()


def test_what_a_killed_supervisor_left_behind_is_ended_by_the_next(fresh: Installation) -> None:
    assert fresh.run("clusters", "list").code == ExitCode.DONE
    before = fresh.processes.pids()
    os.kill(before["supervisor"], signal.SIGKILL)

    assert fresh.run("clusters", "list").code == ExitCode.DONE

    after = fresh.processes.pids()
    assert not set(before.values()) & set(after.values())
    assert not any(is_alive(pid) for pid in before.values())


def test_a_twin_that_cannot_start_is_one_sentence_with_its_log(fresh: Installation) -> None:
    home = Home(fresh.home)
    home.create()
    (home.twin / "world.json").write_text("{ this is no world")

    result = fresh.run("clusters", "list")

    assert result.code == ExitCode.OPERATOR
    assert str(home.logs / "twin.log") in result.err
    assert "Traceback" not in result.err
    assert len(result.err.splitlines()) == 1


def test_a_chat_outlives_its_twin(fresh: Installation) -> None:
    home = Home(fresh.home)
    with fresh.chat() as terminal:
        terminal.expect("Conversation", "> ")
        (home.twin / "world.json").unlink(missing_ok=True)
        (home.twin / "world.json").mkdir()
        os.kill(fresh.processes.twin.pid, signal.SIGKILL)

        terminal.type("which clusters are there?")
        terminal.expect("did not reach the service", "> ")
        terminal.type("/quit")

        assert terminal.end() == ExitCode.DONE
    assert "Traceback" not in terminal.text
