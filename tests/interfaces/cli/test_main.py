"""The top level: help without loading anything, errors as one sentence and an exit code."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from interfaces.errors import ExitCode
from tests.interfaces.cli.running import muster

MAX_HELP_CPU_SECONDS = 0.4


def test_help_lists_every_command_of_ours_and_of_the_entry_points(tmp_path: Path) -> None:
    result = muster("--help", home=tmp_path)

    assert result.code == ExitCode.DONE
    for command in (
        "chat",
        "demo",
        "runs",
        "questions",
        "plans",
        "clusters",
        "jobs",
        "events",
        "logs",
        "audit",
        "eval",
    ):
        assert f"\n  {command} " in result.out


def test_help_costs_no_more_than_its_budget(tmp_path: Path) -> None:
    muster("--help", home=tmp_path)  # byte code is compiled once
    before = _children_cpu()
    muster("--help", home=tmp_path)

    assert _children_cpu() - before <= MAX_HELP_CPU_SECONDS


def test_help_imports_nothing_but_the_table() -> None:
    code = (
        "import sys\nfrom interfaces.cli.main import run\nrun(['--help'])\n"
        "heavy = {'evals', 'agent', 'workflows', 'tools', 'state', 'rich', 'boto3', 'langgraph'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stderr


def test_the_help_speaks_the_locales_language(tmp_path: Path) -> None:
    assert "命令" in muster("--help", home=tmp_path, LANG="zh_CN.UTF-8").out


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["--nonsense"], ["runs", "nonsense"], ["runs", "list", "--limit", "x"]]
)
def test_a_wrong_command_line_is_a_sentence_and_code_2(tmp_path: Path, arguments: list[str]) -> None:
    result = muster(*arguments, home=tmp_path)

    assert result.code == ExitCode.USAGE
    assert result.out == ""
    assert "--help" in result.err
    assert "Traceback" not in result.err


def test_a_wrong_setting_names_its_variable_and_who_acts(tmp_path: Path) -> None:
    result = muster("runs", "list", home=tmp_path, MUSTER_ROLE="root")

    assert result.code == ExitCode.OPERATOR
    assert "MUSTER_ROLE='root'" in result.err
    assert "An operator must act." in result.err


def test_with_json_an_error_is_one_json_object_on_stdout(tmp_path: Path) -> None:
    result = muster("runs", "show", "r-nothing", "--json", home=tmp_path)

    error = json.loads(result.out)["error"]
    assert result.code == ExitCode.NOT_FOUND == error["exit_code"]
    assert error["type"] == "RowNotFound"
    assert result.err == ""


def test_a_fault_of_muster_is_a_short_message_and_a_log(tmp_path: Path) -> None:
    code = (
        "from interfaces.cli import main\n"
        "import importlib\n"
        "main._COMMANDS['broken'] = 'tests.interfaces.cli.broken_command:app'\n"
        "import sys; sys.exit(main.run(['broken']))"
    )
    environment = {"MUSTER_HOME": str(tmp_path), "PATH": os.defpath, "HOME": str(tmp_path)}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)

    assert result.returncode == ExitCode.BUG
    assert "Traceback" not in result.stderr
    assert str(tmp_path / "logs" / "faults.log") in result.stderr
    assert "ZeroDivisionError" in (tmp_path / "logs" / "faults.log").read_text()


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
