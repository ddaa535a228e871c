"""The chat as a person has it: a real terminal, real processes, the offline planner, the twin."""

from __future__ import annotations

import os
import re
import signal

import pytest
from rich.cells import cell_len

from interfaces.bootstrap.embedded import living_status
from interfaces.bootstrap.home import Home
from interfaces.errors import ExitCode
from tests.builders.deadlines import eventually
from tests.e2e.conftest import Installation
from tests.e2e.terminal import Terminal
from tests.fakes import model_server

WISH = "Create an EKS cluster called {name} with 2 on-demand ml.g5.12xlarge nodes"


def newest_run(installation: Installation) -> dict[str, object]:
    return installation.rows("runs", "list")["runs"][0]


def standing(installation: Installation) -> list[object]:
    """Every run, and every plan that is more than a draft: what a refused wish must leave as it was."""
    runs, plans = installation.rows("runs", "list")["runs"], installation.rows("plans", "list")["plans"]
    return [run["id"] for run in runs] + [plan["id"] for plan in plans if plan["status"] not in {"draft", "withdrawn"}]


def begin(terminal: Terminal, name: str) -> None:
    """Up to the question for the zone."""
    terminal.expect("Conversation", "> ")
    terminal.type(WISH.format(name=name))
    terminal.expect("  1) ", "  2) ", "> ")


def test_a_cluster_is_asked_for_approved_left_and_comes_true(installation: Installation) -> None:
    with installation.chat() as terminal:
        begin(terminal, "left-alone")
        terminal.type("1")
        card = terminal.expect("left-alone", "1) approve", "2) reject", "> ")
        terminal.type("yes")
        terminal.expect("(run-")
        terminal.press_ctrl_c()
        goodbye = terminal.expect("muster runs show", "muster chat --conversation")
        code = terminal.end()

    assert code == ExitCode.INTERRUPTED
    assert "as you answered" in card
    assert "go on in the background" in goodbye
    assert max(cell_len(line) for line in terminal.text.splitlines()) <= 80
    eventually(lambda: newest_run(installation)["status"] == "done", within_seconds=90)
    assert "left-alone" in installation.run("clusters", "list").out


def test_without_colour_nothing_is_coloured(installation: Installation) -> None:
    with installation.chat(NO_COLOR="1") as terminal:
        begin(terminal, "plain")
        terminal.type("/quit")
        assert terminal.end() == ExitCode.DONE

    assert re.search(r"\x1b\[[349][0-7]", terminal.raw) is None


def test_two_terminals_share_a_question_and_the_loser_hears_who_won(installation: Installation) -> None:
    with installation.chat() as ana:
        begin(ana, "shared")
        conversation = str(installation.rows("questions", "list")["questions"][-1]["conversation_id"])
        with installation.chat("--conversation", conversation, MUSTER_USER="bob") as bob:
            bob.expect("  1) ", "  2) ", "> ")
            ana.type("1")
            ana.expect("ann answered", "approve")
            bob.expect("ann answered", "approve")
            bob.type("no")
            ana.expect("bob")
            assert installation.rows("plans", "list")["plans"][0]["status"] == "rejected"


def test_chinese_is_answered_in_chinese(installation: Installation) -> None:
    with installation.chat("--lang", "zh") as terminal:
        terminal.expect("对话", "> ")
        terminal.type("创建一个名为 zhongwen 的 EKS 集群，2 个按需 ml.g5.12xlarge 节点")
        terminal.expect("可用区", "  1) ", "> ")
        terminal.type("第一个")
        terminal.expect("批准", "> ")
        terminal.type("不要")
        terminal.type("/quit")
        assert terminal.end() == ExitCode.DONE


def test_a_killed_worker_is_replaced(installation: Installation) -> None:
    with installation.chat() as terminal:
        terminal.expect("> ")
        first = installation.processes.pids()["worker"]
        os.kill(first, signal.SIGKILL)

        eventually(lambda: installation.processes.pids().get("worker", first) != first)


def test_a_killed_twin_comes_back_where_it_was_with_what_it_had(installation: Installation) -> None:
    with installation.chat() as terminal:
        terminal.expect("> ")
        before, clusters = installation.processes.twin, installation.run("clusters", "list").out
        os.kill(before.pid, signal.SIGKILL)
        eventually(lambda: installation.processes.pids().get("twin", before.pid) != before.pid)
        eventually(lambda: living_status(Home(installation.home)).get("is_ready") is True)

        assert installation.processes.twin.endpoint == before.endpoint
        assert installation.run("clusters", "list").out == clusters


def test_nonsense_changes_nothing_and_is_answered(installation: Installation) -> None:
    before = standing(installation)
    nonsense = ["asdf qwer zxcv", "\N{ROBOT FACE}" * 3, "); DROP TABLE runs; --", "1", "/nonsense"]

    chat = installation.pipe("\n".join(nonsense) + "\n")

    assert chat.returncode == ExitCode.DONE, chat.stderr
    assert "Traceback" not in chat.stdout + chat.stderr
    shown = chat.stdout.splitlines()
    for words in nonsense:
        assert not shown[shown.index(f"> {words}") + 1].startswith("> "), f"{words!r} was not answered"
    assert standing(installation) == before


def test_a_message_of_100_kilobytes_is_refused_in_one_sentence(installation: Installation) -> None:
    chat = installation.pipe("create a cluster " * 6000 + "\n")

    assert chat.returncode == ExitCode.DONE
    assert "101999 bytes" in chat.stdout


def test_a_model_server_that_is_down_is_said_and_the_chat_goes_on(installation: Installation) -> None:
    chat = installation.pipe(
        f"{WISH.format(name='nobody')}\n/help\n", MUSTER_MODEL_URL="http://127.0.0.1:9/v1", MUSTER_MODEL="none"
    )

    assert chat.returncode == ExitCode.DONE
    assert "cannot be reached" in chat.stdout
    assert "/conversations" in chat.stdout


def test_a_model_that_hangs_is_cut_off(installation: Installation) -> None:
    with model_server.scripted_server(*[model_server.hang] * 5) as server:
        chat = installation.pipe(
            f"{WISH.format(name='nobody')}\n",
            MUSTER_MODEL_URL=server.base_url,
            MUSTER_MODEL="hanging",
            MUSTER_MODEL_SECONDS="2",
        )

    assert chat.returncode == ExitCode.DONE
    assert "no answer within" in chat.stdout


@pytest.mark.parametrize(
    "misbehaviour",
    [
        pytest.param(model_server.cut_text("I will make"), id="cuts its stream"),
        pytest.param(model_server.call("propose_create_cluster", '{"name": '), id="writes broken arguments"),
        pytest.param(model_server.call("launch_rockets", {"count": 3}), id="invents a tool"),
    ],
)
def test_a_model_that_misbehaves_changes_nothing_and_ends_politely(
    installation: Installation, misbehaviour: model_server.Behaviour
) -> None:
    before = standing(installation)

    with model_server.scripted_server(*[misbehaviour] * 12) as server:
        chat = installation.pipe(
            f"{WISH.format(name='nobody')}\n", MUSTER_MODEL_URL=server.base_url, MUSTER_MODEL="misbehaving"
        )

    assert chat.returncode == ExitCode.DONE, chat.stderr
    assert "Traceback" not in chat.stdout + chat.stderr
    assert len(chat.stdout.splitlines()) > 5, "it says something"
    assert standing(installation) == before
