"""Time stamps of mixed logs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.parsing.stamps import read_stamp

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("2026-11-30T10:00:01Z x", datetime(2026, 11, 30, 10, 0, 1, tzinfo=UTC)),
        ("2026-11-30T10:00:01.250+02:00 x", datetime(2026, 11, 30, 8, 0, 1, 250_000, tzinfo=UTC)),
        ("2026-11-30 10:00:01,123 INFO x", datetime(2026, 11, 30, 10, 0, 1, 123_000, tzinfo=UTC)),
        ("[2026-11-30T10:00:01.890] slurmd x", datetime(2026, 11, 30, 10, 0, 1, 890_000, tzinfo=UTC)),
        ("Nov 30 10:00:01 host kernel: x", datetime(2026, 11, 30, 10, 0, 1, tzinfo=UTC)),
        ("[Mon Nov 30 10:00:01 2026] NVRM x", datetime(2026, 11, 30, 10, 0, 1, tzinfo=UTC)),
        ("I1130 10:00:01.500000 1 prober.go:1] x", datetime(2026, 11, 30, 10, 0, 1, 500_000, tzinfo=UTC)),
        ("Dec 31 23:59:59 host kernel: x", datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_each_shape_of_stamp_is_read_as_utc(line: str, moment: datetime) -> None:
    assert read_stamp(line, reference=NOW) == moment


def test_seconds_since_boot_need_the_boot_time() -> None:
    line = "[   84.500000] NVRM: x"

    assert read_stamp(line) is None
    assert read_stamp(line, booted_at=NOW) == datetime(2026, 11, 30, 12, 1, 24, 500_000, tzinfo=UTC)


@pytest.mark.parametrize("line", ["2026-02-31T10:00:00Z x", "2026-11-30 25:00:00 x", "Feb 30 10:00:00 h x", "no time"])
def test_a_stamp_that_makes_no_sense_is_no_stamp(line: str) -> None:
    assert read_stamp(line, reference=NOW) is None


@given(st.text(alphabet="0123456789-:T .,Z+[]IFebNovDec", max_size=40))
def test_no_head_of_a_line_raises(head: str) -> None:
    read_stamp(head, reference=NOW, booted_at=NOW)
