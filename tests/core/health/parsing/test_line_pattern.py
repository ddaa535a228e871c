"""Patterns as data."""

from __future__ import annotations

import pytest

from core.health.parsing.line_pattern import LinePattern, pattern
from core.health.parsing.registry import PATTERNS
from core.health.signals import SignalFamily


@pytest.mark.parametrize("shape", PATTERNS, ids=lambda shape: shape.kind)
def test_no_pattern_has_an_unbounded_wildcard(shape: LinePattern) -> None:
    assert ".*" not in shape.regex.pattern
    assert ".+" not in shape.regex.pattern


def test_a_needle_has_to_be_lower_case() -> None:
    with pytest.raises(ValueError, match="lower case"):
        pattern(SignalFamily.KERNEL, "xid", "Xid")
