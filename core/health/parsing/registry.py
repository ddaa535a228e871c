"""Every line pattern of every source, and the words of the combined pre-filter."""

from __future__ import annotations

from core.health.parsing import circumstances, collectives, cuda, gpu, host, hyperpod, launchers, network
from core.health.parsing.line_pattern import LinePattern

PATTERNS: tuple[LinePattern, ...] = (
    *gpu.PATTERNS,
    *cuda.PATTERNS,
    *collectives.PATTERNS,
    *network.PATTERNS,
    *host.PATTERNS,
    *launchers.PATTERNS,
    *hyperpod.PATTERNS,
    *circumstances.PATTERNS,
)

LOG_PATTERNS: tuple[LinePattern, ...] = tuple(pattern for pattern in PATTERNS if pattern.needles)
"""What a stream of machine-written lines is searched for."""
