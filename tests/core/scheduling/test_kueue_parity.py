"""Every recorded decision of Kueue v0.20 is ours too."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.kueue_cases import KueueCase, read_cases
from evals.parity import check_case

CASES = read_cases(Path(__file__).parents[2] / "data" / "kueue_cases")


def test_all_recorded_cases_are_here() -> None:
    assert len(CASES) == 291


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_core_decides_as_kueue_does(case: KueueCase) -> None:
    assert check_case(case) == ""
