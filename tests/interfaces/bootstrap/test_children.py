"""Children are real processes here: started, killed from outside, started again, ended for good."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interfaces.bootstrap.children import Child, Recipe, is_alive
from tests.builders.deadlines import eventually

SLEEPER = "import time, pathlib, os\npathlib.Path('started').write_text(str(os.getpid()))\ntime.sleep(60)\n"
STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEPER


@pytest.fixture
def child(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Child]:
    source: str = getattr(request, "param", SLEEPER)
    (tmp_path / "planted_child.py").write_text(source)
    child = Child(
        recipe=Recipe(
            name="child",
            module="planted_child",
            arguments=[],
            environment=lambda: {"PYTHONPATH": str(tmp_path)},
            log=tmp_path / "child.log",
        )
    )
    yield child
    child.end()


def pid_of(child: Child) -> int:
    assert child.pid is not None
    return child.pid


def test_a_child_is_started_once(child: Child) -> None:
    assert child.keep_alive()
    assert not child.keep_alive()
    assert is_alive(pid_of(child))


def test_a_killed_child_comes_back_as_another_process(child: Child) -> None:
    child.keep_alive()
    first = pid_of(child)

    os.kill(first, signal.SIGKILL)

    eventually(child.keep_alive)
    assert pid_of(child) != first
    assert child.deaths == 1
    assert child.last_exit == -signal.SIGKILL


def test_each_death_soon_after_the_start_lengthens_the_pause(child: Child) -> None:
    pauses = []
    for _ in range(3):
        eventually(child.keep_alive)
        os.kill(pid_of(child), signal.SIGKILL)
        eventually(lambda: child.pid is None)
        child.keep_alive()
        pauses.append(child.pause_seconds)

    assert pauses == sorted(set(pauses))


@pytest.mark.parametrize("child", [SLEEPER, STUBBORN], indirect=True, ids=["willing", "deaf to SIGTERM"])
def test_an_ended_child_is_gone(child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interfaces.bootstrap.children._GRACE_SECONDS", 0.3)
    child.keep_alive()
    eventually((tmp_path / "started").exists)
    pid = pid_of(child)

    child.end()

    assert not is_alive(pid)


def test_a_folder_named_like_a_package_of_ours_is_not_imported(child: Child, tmp_path: Path) -> None:
    assert child.recipe.command()[:3] == [sys.executable, "-P", "-m"]


def test_a_process_that_never_was_is_not_alive() -> None:
    assert not is_alive(2**22 + 1)
