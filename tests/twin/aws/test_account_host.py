"""The account that moto holds starts empty with each world, whatever filled it before."""

from __future__ import annotations

from pathlib import Path

from twin.aws.moto_host import MotoHost


def begun(journal: Path) -> str:
    host = MotoHost(journal)
    return host.begin("us-west-2", (), 0, lambda: host.add_role("base-execution", "sagemaker.amazonaws.com"))


def test_a_second_twin_of_one_process_finds_nothing_of_the_first(tmp_path: Path) -> None:
    first = begun(tmp_path / "first.jsonl")

    assert begun(tmp_path / "second.jsonl") == first
