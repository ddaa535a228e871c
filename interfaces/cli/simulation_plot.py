"""A simulation as a picture: utilisation, queue length and each team's share over time, in one SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from core.scheduling.simulation import Sample

WIDTH: Final = 900
PANEL: Final = 150
GAP: Final = 45
LEFT: Final = 60
MOST_POINTS: Final = 600
COLOURS: Final = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#17becf")


def plot(samples: Sequence[Sample], gpus: int) -> str:
    """Three panels, one under the other; nothing but lines and text. No samples give an empty picture."""
    kept = _thinned(samples)
    teams = sorted({team for sample in kept for team in sample.running})
    height = 3 * (PANEL + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>'
    ]
    if kept:
        parts += _panel(kept, 0, "utilisation", [("all", lambda s: sum(s.running.values()) / gpus)], 1.0)
        longest = max(1, max(sample.waiting for sample in kept))
        parts += _panel(kept, 1, "waiting jobs", [("all", lambda s: float(s.waiting))], float(longest))
        lines = [(team, _share_of(team, gpus)) for team in teams]
        parts += _panel(kept, 2, "share per team", lines, 1.0)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _share_of(team: str, gpus: int) -> Callable[[Sample], float]:
    return lambda sample: sample.running.get(team, 0) / gpus


def _thinned(samples: Sequence[Sample]) -> list[Sample]:
    step = max(1, len(samples) // MOST_POINTS)
    return [*samples[::step], samples[-1]] if samples else []


def _panel(
    samples: Sequence[Sample],
    index: int,
    title: str,
    lines: Sequence[tuple[str, Callable[[Sample], float]]],
    most: float,
) -> list[str]:
    top = GAP + index * (PANEL + GAP)
    start_s, end_s = samples[0].at_s, samples[-1].at_s
    span_s = max(end_s - start_s, 1e-9)
    across = WIDTH - LEFT - 20
    parts = [
        f'<text x="{LEFT}" y="{top - 8}">{escape(title)}</text>',
        f'<text x="{LEFT - 8}" y="{top + 10}" text-anchor="end">{most:g}</text>',
        f'<text x="{LEFT - 8}" y="{top + PANEL}" text-anchor="end">0</text>',
        f'<text x="{LEFT + across}" y="{top + PANEL + 14}" text-anchor="end">{span_s / 3600:.0f} h</text>',
        f'<rect x="{LEFT}" y="{top}" width="{across}" height="{PANEL}" fill="none" stroke="#ccc"/>',
    ]
    for number, (name, value) in enumerate(lines):
        points = " ".join(
            f"{LEFT + across * (s.at_s - start_s) / span_s:.1f},{top + PANEL * (1 - min(value(s) / most, 1.0)):.1f}"
            for s in samples
        )
        colour = COLOURS[number % len(COLOURS)]
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}"><title>{escape(name)}</title></polyline>'
        )
    return parts
