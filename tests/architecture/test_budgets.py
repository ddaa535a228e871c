"""Files of at most 500 lines, functions of at most 80: a longer one holds two things."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("agent", "core", "evals", "interfaces", "state", "tools", "twin", "workflows", "tests")
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80
MAX_TWIN_SHARE = 0.25


def python_files(*packages: str) -> Iterator[Path]:
    for package in packages:
        yield from sorted((ROOT / package).rglob("*.py"))


def line_count(path: Path) -> int:
    return len(path.read_text().splitlines())


def test_no_file_is_over_budget() -> None:
    over = {
        str(path.relative_to(ROOT)): lines
        for path in python_files(*PACKAGES)
        if (lines := line_count(path)) > MAX_FILE_LINES
    }

    assert over == {}


def test_no_function_is_over_budget() -> None:
    over = {}
    for path in python_files(*PACKAGES):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    over[f"{path.relative_to(ROOT)}:{node.name}"] = lines

    assert over == {}


def test_the_twin_stays_under_a_quarter_of_the_product() -> None:
    lines = {package: sum(map(line_count, python_files(package))) for package in PACKAGES if package != "tests"}

    assert lines["twin"] / sum(lines.values()) < MAX_TWIN_SHARE
