"""`muster demo` in both languages: what it prints must be true, small, quick, and all of it on this machine."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

from rich.cells import cell_len

from interfaces.errors import ExitCode
from tests.architecture.test_budgets import ROOT
from tests.e2e.terminal import Terminal
from tests.interfaces.cli.running import SCRIPT, environment, muster

MAX_SECONDS = 60.0
CROWDED = 2.0
"""Other tests run beside these: the goal holds for a machine of one's own."""
MAX_MIB = 700
LOOPBACK = {"127.0.0.1", "::1", "localhost", "None", "unix"}


def check(shown: str, seconds: float) -> None:
    assert "SIGKILL" in shown
    assert re.search(r"sagemaker:CreateCluster +1x +1x", shown)
    assert re.search(r"k8s:create:hyperpodpytorchjobs +1x +1x", shown)
    assert re.search(r"availability_zone .*answered", shown)
    memory = re.search(r"(\d+) MiB", shown)
    assert memory is not None
    assert int(memory[1]) <= MAX_MIB
    assert max(cell_len(line) for line in shown.splitlines()) <= 80
    assert seconds <= MAX_SECONDS * CROWDED


def test_by_script_the_demo_proves_itself_and_reaches_loopback_only(tmp_path: Path) -> None:
    watched, home = tmp_path / "watched", tmp_path / "home"
    shutil.copytree(ROOT / "tests" / "e2e" / "watched", watched)
    home.mkdir()
    began = time.monotonic()

    demo = muster("demo", "--yes", "--json", home=home, PYTHONPATH=str(watched))

    assert demo.code == ExitCode.DONE, demo.out + demo.err
    check(demo.err, time.monotonic() - began)
    summary = json.loads(demo.out)
    assert (summary["holds"], summary["kills"]) == (True, 1)
    assert all(count["in_log"] == count["in_ledger"] for count in summary["calls"])
    assert {question["answered_by"] for question in summary["questions"]} == {"demo-human (scripted)"}
    assert not list(home.iterdir()), "the demo keeps to a folder of its own, and removes it"
    connections = [line.split("\t") for line in (watched / "connections.log").read_text().splitlines()]
    assert {host for _, host, _ in connections} <= LOOPBACK
    for process in ("bootstrap.worker", "demo"):
        assert any(process in program for _, _, program in connections), f"{process} was not watched"


def test_at_a_terminal_a_person_answers_in_chinese(tmp_path: Path) -> None:
    began = time.monotonic()

    with Terminal([str(SCRIPT), "demo", "--lang", "zh"], environment(tmp_path)) as terminal:
        terminal.expect("可用区", "  2) ", "> ")
        terminal.type("3")
        terminal.expect("不是", "> ")
        terminal.type("2")
        terminal.expect("批准", "> ")
        terminal.type("同意")
        code = terminal.end(within_seconds=MAX_SECONDS * CROWDED)

    assert code == ExitCode.DONE, terminal.text
    check(terminal.text, time.monotonic() - began)
    assert "（脚本）" not in terminal.text


def test_a_person_who_rejects_ends_the_demo_with_nothing_made(tmp_path: Path) -> None:
    with Terminal([str(SCRIPT), "demo", "--lang", "en"], environment(tmp_path)) as terminal:
        terminal.expect("  1) ", "> ")
        terminal.type("1")
        terminal.expect("approve", "> ")
        terminal.type("no")
        code = terminal.end(within_seconds=60)

    assert code == ExitCode.DOES_NOT_HOLD
    assert "there is no cluster" in terminal.text
