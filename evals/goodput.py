"""`muster eval goodput`: do the closed forms and the simulator agree with each other and with published figures?

Each case has one unit: `expected` is the published or hand-worked figure, `closed_form` ours, `simulated` that of the
Monte-Carlo simulator of the same plan. The list is the acceptance list of the goodput design; the goal is all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated

import typer

from core.goodput import llama3
from core.goodput.closed_form import (
    Recovery,
    best_goodput,
    best_interval,
    daly_interval,
    exact_goodput,
    linear_goodput,
    mean_time_between_failures,
)
from core.goodput.simulator import TrainingPlan, draw_faults, failures_within, simulate
from core.goodput.solver import longest_recovery, predicted, spares_needed
from core.json_value import JsonObject
from evals.reporting import JsonOption, finish

AGREEMENT = 0.005
"""Half a point of goodput."""
FAILURES = 30_000
_RATE_FAILURES = 200_000
"""A rate is known to 1 % only after many failures."""
_SPARE_WORLDS = 6_000
_GPUS_PER_NODE = 8
_HOUR = 3600.0
_PESSIMISTIC = llama3.PESSIMISTIC_FAILURES_PER_1000_NODE_DAYS
_LLAMA3 = llama3.FAILURES_PER_1000_NODE_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodputCase:
    id: str
    expected: float
    closed_form: float
    simulated: float
    ok: bool

    def to_json(self) -> JsonObject:
        return {
            "id": self.id,
            "expected": self.expected,
            "closed_form": self.closed_form,
            "simulated": self.simulated,
            "ok": self.ok,
        }


def goodput(
    failures: Annotated[int, typer.Option(min=3_000, help="Failures to simulate in each case.")] = FAILURES,
    seed: Annotated[int, typer.Option(help="Seed of the simulator.")] = 11,
    as_json: JsonOption = False,
) -> None:
    """Check goodput's closed forms and simulator against published figures."""
    cases = list(acceptance(failures, Random(seed)))
    failed = [case.id for case in cases if not case.ok]
    finish(
        {"cases": [case.to_json() for case in cases], "failed": failed, "failures": failures, "seed": seed},
        lines=[
            f"{'ok  ' if case.ok else 'FAIL'} {case.id:<34} expected {case.expected:>10.4f}  "
            f"closed form {case.closed_form:>10.4f}  simulated {case.simulated:>10.4f}"
            for case in cases
        ],
        figure=f"goodput: {len(cases) - len(failed)} of {len(cases)} cases hold",
        holds=bool(cases) and not failed,
        as_json=as_json,
    )


def acceptance(failures: int, random: Random) -> Iterator[GoodputCase]:
    """Every case, each from its own stream of random numbers."""
    for group in (
        _failure_rates,
        _reference_table,
        _ladder,
        _hang_detection,
        _spare_starvation,
        _long_intervals,
        _best_intervals,
        _llama3_bounds,
        _wanted_95_percent,
        _linear_form,
        _spares,
        _fault_mix,
    ):
        yield from group(failures, Random(random.getrandbits(64)))


def _plan(m_hours: float, w: float, d: float, tau: float | None = None) -> TrainingPlan:
    """One node that fails every `m_hours`: all forms depend on M alone."""
    rate = 1000 * 24 / m_hours
    recovery = Recovery(detection_seconds=d / 2, restart_seconds=d / 2)
    return TrainingPlan(
        nodes=1, failures_per_1000_node_days=rate, checkpoint_seconds=w, recovery=recovery, interval_seconds=tau
    )


def _compared(
    name: str, expected: float, plan: TrainingPlan, failures: int, random: Random, *, rounding: float = 0.0011
) -> GoodputCase:
    """`rounding`: how far the published figure may be off; most are rounded to the third or fourth digit."""
    closed, simulated = predicted(plan), simulate(plan, failures=failures, random=random).goodput
    return GoodputCase(
        id=name,
        expected=expected,
        closed_form=closed,
        simulated=simulated,
        ok=abs(closed - expected) <= rounding and abs(simulated - closed) <= AGREEMENT,
    )


def _failure_rates(failures: int, random: Random) -> Iterator[GoodputCase]:
    rows = [
        *((gpus, _PESSIMISTIC, hours) for gpus, hours in ((1024, 28.85), (2048, 14.42), (4096, 7.21))),
        *((gpus, _PESSIMISTIC, hours) for gpus, hours in ((12_288, 2.40), (16_384, 1.80))),
        (16_384, _LLAMA3, 3.09),
        (8_192, 2.34, 10.02),
    ]
    for gpus, rate, hours in rows:
        m = mean_time_between_failures(gpus // _GPUS_PER_NODE, rate)
        count = failures_within(m * _RATE_FAILURES, m, random)
        simulated = m * _RATE_FAILURES / count / _HOUR
        closed = m / _HOUR
        ok = abs(closed / hours - 1) <= 0.01 and abs(simulated / closed - 1) <= 0.01
        yield GoodputCase(
            id=f"mtbf_hours_{gpus}@{rate:g}", expected=hours, closed_form=closed, simulated=simulated, ok=ok
        )
    m = mean_time_between_failures(llama3.NODES, _LLAMA3)
    seconds = llama3.DAYS * 86_400.0
    runs = [failures_within(seconds, m, random) for _ in range(200)]
    expected = float(sum(llama3.INTERRUPTIONS.values()))
    closed, simulated = seconds / m, sum(runs) / len(runs)
    ok = abs(closed / expected - 1) <= 0.01 and abs(simulated / expected - 1) <= 0.01
    yield GoodputCase(id="llama3_interruptions", expected=expected, closed_form=closed, simulated=simulated, ok=ok)


def _reference_table(failures: int, random: Random) -> Iterator[GoodputCase]:
    rows = {
        "llama3_a": (3.09, 20, 600, 0.8918),
        "llama3_b": (3.09, 60, 600, 0.8525),
        "llama3_c": (3.09, 1, 120, 0.9761),
        "llama3_d": (3.09, 5, 900, 0.8949),
        "rsc_16k": (1.80, 300, 300, 0.6929),
        "rsc_16k_fast": (1.80, 10, 300, 0.9027),
        "gpus_4k": (7.40, 20, 1200, 0.9194),
        "gpus_1k": (28.8, 60, 1800, 0.9497),
        "gpus_256": (115, 60, 1800, 0.9788),
    }
    for name, (m, w, d, expected) in rows.items():
        yield _compared(f"exact_{name}", expected, _plan(m, w, d), failures, random)


def _ladder(failures: int, random: Random) -> Iterator[GoodputCase]:
    """From hourly manual repair with a save every 30 minutes to recovery inside the process."""
    sizes = ((1024, _PESSIMISTIC), (4096, _PESSIMISTIC), (16_384, _LLAMA3), (16_384, _PESSIMISTIC))
    wanted = {
        "legacy": (60, 3600, 1800.0, (0.926, 0.813, 0.643, 0.479)),
        "auto": (20, 1200, None, (0.969, 0.918, 0.845, 0.767)),
        "tiered": (2, 300, None, (0.991, 0.976, 0.955, 0.931)),
        "in_process": (0, 120, None, (0.999, 0.995, 0.989, 0.982)),
    }
    for rung, (w, d, tau, figures) in wanted.items():
        for (gpus, rate), expected in zip(sizes, figures, strict=True):
            m = mean_time_between_failures(gpus // _GPUS_PER_NODE, rate) / _HOUR
            plan = replace(_plan(m, w, d, tau), loses_work=rung != "in_process")
            # The longer the losses, the more failures the same error needs.
            count = 4 * failures if rung == "legacy" else failures
            yield _compared(f"ladder_{rung}_{gpus}@{rate:g}", expected, plan, count, random)


def _hang_detection(failures: int, random: Random) -> Iterator[GoodputCase]:
    """One failure in ten hangs: how much does its detection time matter? 4,096 GPUs, w = 2 s, other D = 300 s."""
    for minutes, expected in ((30, 0.969), (10, 0.9735), (5, 0.9747), (1, 0.9756)):
        plan = TrainingPlan(
            nodes=4096 // _GPUS_PER_NODE,
            failures_per_1000_node_days=_PESSIMISTIC,
            checkpoint_seconds=2,
            recovery=Recovery(detection_seconds=0, restart_seconds=300),
            hang_share=0.1,
            hang_detection_seconds=minutes * 60.0,
        )
        yield _compared(f"hang_found_after_{minutes}_min", expected, plan, failures, random)


def _spare_starvation(failures: int, random: Random) -> Iterator[GoodputCase]:
    """The published figures put the average wait into D; ours let no failure interrupt a wait: half a point apart."""
    for chance, expected in ((0.0, 0.976), (0.05, 0.950), (0.20, 0.874)):
        plan = TrainingPlan(
            nodes=4096 // _GPUS_PER_NODE,
            failures_per_1000_node_days=_PESSIMISTIC,
            checkpoint_seconds=2,
            recovery=Recovery(detection_seconds=60, restart_seconds=240, wait_chance=chance, wait_seconds=4 * _HOUR),
        )
        yield _compared(f"no_spare_in_{chance:.0%}", expected, plan, failures, random, rounding=AGREEMENT)


def _long_intervals(failures: int, random: Random) -> Iterator[GoodputCase]:
    for minutes, expected in ((5, 0.919), (10, 0.914), (30, 0.870), (60, 0.801), (180, 0.560)):
        yield _compared(f"save_every_{minutes}_min", expected, _plan(3.09, 5, 600, minutes * 60.0), failures, random)


def _best_intervals(failures: int, random: Random) -> Iterator[GoodputCase]:
    """The interval found by search, in the closed form and in the simulator, against Daly's."""
    for m_hours, w in ((3.09, 20), (3.09, 1), (7.4, 20), (28.8, 60)):
        m = m_hours * _HOUR
        daly = daly_interval(m, w)
        found = best_interval(m, w, 600)
        simulated = _search_simulated(_plan(m_hours, w, 600), daly, failures, random)
        # Near its top the curve is flat: what counts in the simulator is the goodput that the interval loses.
        loss = exact_goodput(m, w, 600, daly) - exact_goodput(m, w, 600, simulated)
        yield GoodputCase(
            id=f"best_interval_m{m_hours:g}_w{w}",
            expected=daly,
            closed_form=found,
            simulated=simulated,
            ok=abs(found / daly - 1) <= 0.10 and loss <= AGREEMENT,
        )


def _search_simulated(plan: TrainingPlan, around: float, failures: int, random: Random) -> float:
    """The best of some intervals, all tried on the same failures."""
    seed = random.getrandbits(64)
    tried = [around * factor for factor in (0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.5)]
    return max(
        tried,
        key=lambda tau: simulate(replace(plan, interval_seconds=tau), failures=failures, random=Random(seed)).goodput,
    )


def _llama3_bounds(failures: int, random: Random) -> Iterator[GoodputCase]:
    """More than 90 % is reached with w = 5 s and D up to 837 s; with w = 60 s not even by a recovery in one minute."""
    reached = _plan(3.09, 5, 837)
    closed, simulated = predicted(reached), simulate(reached, failures=failures, random=random).goodput
    ok = closed >= 0.8999 and abs(simulated - closed) <= AGREEMENT
    yield GoodputCase(id="llama3_over_90_w5", expected=0.90, closed_form=closed, simulated=simulated, ok=ok)
    missed = _plan(3.09, 60, 60)
    closed, simulated = predicted(missed), simulate(missed, failures=failures, random=random).goodput
    ok = closed < 0.90 and simulated < 0.90 and longest_recovery(0.90, missed.m, 60) is None
    yield GoodputCase(id="llama3_below_90_w60", expected=0.90, closed_form=closed, simulated=simulated, ok=ok)


def _wanted_95_percent(failures: int, random: Random) -> Iterator[GoodputCase]:
    """The longest D for 95 %: at that D both forms give 95 %; where it is impossible both stay below with D = 0."""
    table: Mapping[float, tuple[int | None, ...]] = {
        3.09: (421, 235, None, None),
        7.4: (1135, 849, 327, None),
        14.8: (2406, 2001, 1266, 184),
        28.8: (4862, 4298, 3275, 1771),
    }
    for m_hours, row in table.items():
        for w, d in zip((1, 5, 20, 60), row, strict=True):
            solved = longest_recovery(0.95, m_hours * _HOUR, w)
            plan = _plan(m_hours, w, d or 0)
            closed = best_goodput(plan.m, w, d or 0)
            simulated = simulate(plan, failures=failures, random=random).goodput
            if d is None:
                ok = solved is None and closed < 0.95 and simulated < 0.95
            else:
                ok = (
                    solved is not None
                    and abs(solved - d) <= 1
                    and abs(closed - 0.95) <= 0.0005
                    and abs(simulated - closed) <= AGREEMENT
                )
            name = f"wanted_95_m{m_hours:g}_w{w}" + ("_impossible" if d is None else f"_d{d}")
            yield GoodputCase(id=name, expected=0.95, closed_form=closed, simulated=simulated, ok=ok)


def _linear_form(failures: int, random: Random) -> Iterator[GoodputCase]:
    """Meta's own claim: within 5 % where D + tau/2 is much smaller than M."""
    for m_hours, w, d in ((28.8, 60, 300), (115, 60, 1800), (7.4, 5, 300)):
        plan = _plan(m_hours, w, d)
        linear = linear_goodput(plan.m, w, d, plan.tau)
        closed, simulated = predicted(plan), simulate(plan, failures=failures, random=random).goodput
        ok = abs(linear / closed - 1) <= 0.05 and abs(simulated - closed) <= AGREEMENT
        yield GoodputCase(
            id=f"linear_form_m{m_hours:g}", expected=linear, closed_form=closed, simulated=simulated, ok=ok
        )


def _spares(failures: int, random: Random) -> Iterator[GoodputCase]:
    rows = (
        (128, _PESSIMISTIC, 24, 4),
        (512, _PESSIMISTIC, 24, 8),
        (2048, _PESSIMISTIC, 24, 22),
        (2048, _LLAMA3, 24, 15),
        (2048, _LLAMA3, 2, 3),
        (2048, _LLAMA3, 72, 35),
    )
    for nodes, rate, hours, expected in rows:
        closed = spares_needed(nodes, rate, hours)
        m = mean_time_between_failures(nodes, rate)
        in_repair = sorted(failures_within(hours * _HOUR, m, random) for _ in range(_SPARE_WORLDS))
        simulated = in_repair[math.ceil(0.99 * _SPARE_WORLDS) - 1]
        ok = abs(closed - expected) <= 1 and abs(simulated - closed) <= 1
        yield GoodputCase(
            id=f"spares_{nodes}@{rate:g}_{hours}h",
            expected=float(expected),
            closed_form=float(closed),
            simulated=float(simulated),
            ok=ok,
        )


def _fault_mix(failures: int, random: Random) -> Iterator[GoodputCase]:
    """The simulator's faults against the 419 counted ones: the chi-square's chance of being this large or larger."""
    mix = llama3.INTERRUPTIONS
    drawn = draw_faults(mix, count=10 * sum(mix.values()), random=random)
    statistic = sum((drawn[kind] - 10 * count) ** 2 / (10 * count) for kind, count in mix.items())
    chance = chi_square_tail(statistic, len(mix) - 1)
    yield GoodputCase(id="llama3_fault_mix_p", expected=0.01, closed_form=1.0, simulated=chance, ok=chance > 0.01)


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(X >= statistic) of a chi-square, by the series of the incomplete gamma function."""
    half, x = degrees / 2, statistic / 2
    if x <= 0:
        return 1.0
    term = total = 1 / half
    for step in _counting_from(half + 1):
        term *= x / step
        total += term
        if term < total * 1e-15:
            break
    return max(0.0, 1 - total * math.exp(-x + half * math.log(x) - math.lgamma(half)))


def _counting_from(start: float) -> Iterable[float]:
    value = start
    while True:
        yield value
        value += 1
