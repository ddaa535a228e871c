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

CIRCUMSTANCE_KINDS: frozenset[str] = frozenset(pattern.kind for pattern in circumstances.PATTERNS)

# People write circumstances, machines do not; the few that a program prints itself are read from logs too.
_PRINTED = frozenset({"data_preparation", "progress_bar"})

LOG_PATTERNS: tuple[LinePattern, ...] = tuple(
    pattern for pattern in PATTERNS if pattern.kind not in CIRCUMSTANCE_KINDS or pattern.kind in _PRINTED
)
