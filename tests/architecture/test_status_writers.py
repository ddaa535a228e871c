"""A status changes in one function per noun, which checks the transition and writes the audit event."""

from __future__ import annotations

import ast
import re

from tests.architecture.test_budgets import python_files

WRITERS = {"switch_run_status", "switch_plan_status", "switch_question_status", "switch_effect_status"}
WRITES_A_STATUS = re.compile(r"UPDATE (runs|plans|questions|effects)\s+SET[^;]*?\bstatus = ", re.DOTALL)
ALSO = {"_intend_again"}
"""Renews an intent before a further call; it writes its audit event itself."""


def test_nothing_else_writes_a_status() -> None:
    found = set()
    for path in python_files("agent", "evals", "interfaces", "state", "tools", "workflows"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                texts = [node.value for node in ast.walk(function) if isinstance(node, ast.Constant)]
                if any(isinstance(text, str) and WRITES_A_STATUS.search(text.split("WHERE")[0]) for text in texts):
                    found.add(function.name)

    assert found == WRITERS | ALSO
