"""import-linter holds the layers; these tests hold import-linter to it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.test_budgets import ROOT

PACKAGES = ("agent", "core", "evals", "interfaces", "state", "tools", "twin", "workflows")
LINTER = Path(sys.executable).with_name("lint-imports")


def lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINTER), "--no-cache"],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(tree)},
    )


def test_the_tree_keeps_its_contracts() -> None:
    result = lint(ROOT)

    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        pytest.param("core/planted.py", "import state", id="upward import"),
        pytest.param("core/planted.py", "import asyncio", id="core does I/O"),
        pytest.param("twin/planted.py", "import tools", id="twin imports the product"),
        pytest.param("agent/planted.py", "import twin", id="product imports the twin"),
        pytest.param("agent/planted.py", "import tools.clients", id="agent touches a client"),
        pytest.param("core/scheduling/planted.py", "import core.health", id="scheduling knows health"),
        pytest.param("workflows/planted.py", "import langgraph", id="worker pays for the agent"),
    ],
)
def test_a_planted_violation_is_refused(tmp_path: Path, file: str, line: str) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / file).write_text(line + "\n")

    assert lint(tmp_path).returncode != 0
