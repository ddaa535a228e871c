"""Wishes that cannot come true: one clear sentence each, and nothing changed."""

from __future__ import annotations

import pytest

from interfaces.errors import ExitCode
from tests.e2e.conftest import Installation

WISH = "Create an EKS cluster called {name} with {count} on-demand {type} nodes in {zone}"
REFUSED = {
    WISH.format(name="a", count=2, type="ml.p9.48xlarge", zone="usw2-az2"): "There is no instance type",
    WISH.format(name="b", count=2, type="ml.c5.xlarge", zone="usw2-az2"): "is not offered in any zone",
    WISH.format(name="c", count=0, type="ml.g5.12xlarge", zone="usw2-az1"): "0 nodes cannot be",
    WISH.format(name="d", count=-3, type="ml.g5.12xlarge", zone="usw2-az1"): "-3 nodes cannot be",
    WISH.format(name="e", count=10**9, type="ml.g5.12xlarge", zone="usw2-az1"): "1000000000 nodes cannot be",
    WISH.format(name="f", count=2, type="ml.g5.12xlarge", zone="use1-az1"): "is not in us-west-2",
    WISH.format(name="g", count=2, type="ml.g5.12xlarge", zone="usw2-az9"): "There is no availability zone",
    WISH.format(name="bad_name!", count=2, type="ml.g5.12xlarge", zone="usw2-az1"): "AWS does not take the name",
    "创建一个名为 h 的 EKS 集群，0 个按需 ml.g5.12xlarge 节点，可用区 usw2-az1": "节点数不能是 0",
    "Run the sample job on 2 nodes of cluster nosuch": "There is no cluster named 'nosuch'",
    "Delete the cluster nosuch": "There is no cluster named 'nosuch'",
}


@pytest.fixture(scope="module")
def answers(installation: Installation) -> dict[str, str]:
    """Each wish in a conversation of its own; wish -> what was shown for it."""
    before = installation.rows("runs", "list"), installation.run("clusters", "list").out
    chat = installation.pipe("".join(f"{wish}\n/new\n" for wish in REFUSED))
    assert chat.returncode == ExitCode.DONE, chat.stderr
    assert (installation.rows("runs", "list"), installation.run("clusters", "list").out) == before
    parts = chat.stdout.split("> /new\n")
    return {wish: " ".join(part.split()) for wish, part in zip(REFUSED, parts, strict=False)}


@pytest.mark.parametrize("wish", REFUSED)
def test_it_is_refused_in_a_sentence(answers: dict[str, str], wish: str) -> None:
    assert REFUSED[wish] in answers[wish]
    assert "1) approve" not in answers[wish]


def test_a_name_that_exists_is_refused(installation: Installation) -> None:
    wish = WISH.format(name="twice", count=1, type="ml.g5.12xlarge", zone="usw2-az1")

    installation.pipe(f"{wish}\nyes\n")
    again = installation.pipe(f"{wish}\n")

    assert "1) approve" not in again.stdout
    assert "twice" in again.stdout
    assert len([run for run in installation.rows("runs", "list")["runs"] if run["cluster"] == "twice"]) == 1
