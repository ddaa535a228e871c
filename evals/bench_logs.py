"""`muster bench logs`: lines a second of the log reader on one core, against plain matching of the same patterns.

The baseline, `every_pattern_on_every_line`, tries each pattern's regex on each line without the combined
pre-filter. Both read the same lines in turns, and the clock is the CPU time of this process: seconds on one core,
whatever else the machine does. The lines imitate a training node: mostly progress, NCCL and kubelet chatter, with one
line in a hundred that holds a signal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from time import process_time
from typing import Annotated

import typer

from core.health.parsing.reader import read_log
from core.health.parsing.registry import LOG_PATTERNS
from core.json_value import JsonObject
from evals.reporting import JsonOption, finish

GOAL_LINES_PER_SECOND = 100_000
ROUNDS = 3
BASELINE_LINES = 2_000
"""The baseline is slow: it reads a part of the same lines."""
FAULT_SHARE = 0.01
CHUNK_BYTES = 256 * 1024
_MINIMUM_LINES = 20_000


def logs(
    lines: Annotated[int, typer.Option(min=_MINIMUM_LINES, help="Lines to read in each round.")] = 200_000,
    seed: Annotated[int, typer.Option(help="Seed of the generated lines.")] = 7,
    as_json: JsonOption = False,
) -> None:
    """Measure how fast logs are read."""
    written = _log_lines(lines, Random(seed))
    chunks = _chunks("\n".join(written).encode() + b"\n")
    fast: list[float] = []
    slow: list[float] = []
    signals = 0
    for _ in range(ROUNDS):
        seconds, signals = _timed(lambda: sum(1 for _ in read_log(chunks)))
        fast.append(lines / seconds)
        seconds, _ = _timed(lambda: _match_all(written[:BASELINE_LINES]))
        slow.append(BASELINE_LINES / seconds)
    expected = round(lines * FAULT_SHARE)
    rate, baseline = sorted(fast)[ROUNDS // 2], sorted(slow)[ROUNDS // 2]
    result: JsonObject = {
        "lines": lines,
        "bytes": sum(map(len, chunks)),
        "signals": signals,
        "lines_per_second": rate,
        "lines_per_second_rounds": fast,
        "baseline": "every_pattern_on_every_line",
        "baseline_lines_per_second": baseline,
        "ratio": rate / baseline,
        "patterns": len(LOG_PATTERNS),
        "seed": seed,
    }
    finish(
        result,
        lines=[
            f"read           {rate:>12,.0f} lines/s  ({lines:,} lines, {signals:,} signals)",
            f"baseline       {baseline:>12,.0f} lines/s  (every_pattern_on_every_line)",
        ],
        figure=f"logs: {rate:,.0f} lines/s on one core, {rate / baseline:.0f} times the baseline",
        holds=rate >= GOAL_LINES_PER_SECOND and signals >= expected,
        as_json=as_json,
    )


def _timed(work: Callable[[], int]) -> tuple[float, int]:
    start = process_time()
    result = work()
    return process_time() - start, result


def _match_all(lines: Sequence[str]) -> int:
    return sum(1 for line in lines for pattern in LOG_PATTERNS if pattern.regex.search(line))


def _chunks(data: bytes) -> list[bytes]:
    return [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]


def _log_lines(count: int, random: Random) -> list[str]:
    faults = set(random.sample(range(count), round(count * FAULT_SHARE)))
    return [random.choice(_FAULTS if number in faults else _CHATTER)(random) for number in range(count)]


def _progress(random: Random) -> str:
    return (
        f"2026-11-30 19:{random.randrange(60):02d}:{random.randrange(60):02d},123 INFO iteration "
        f"{random.randrange(10**6)}/500000 | elapsed time per iteration (ms): {random.random() * 1000:.1f} | "
        f"learning rate: 1.5E-04 | lm loss: {random.random():.6E} | grad norm: {random.random():.3f} |"
    )


def _kubelet(random: Random) -> str:
    return (
        f"Nov 30 19:55:{random.randrange(60):02d} ip-10-0-1-{random.randrange(255)} kubelet[1234]: I1130 19:55:18.1 "
        f"prober.go:107] Readiness probe succeeded pod=default/train-{random.randrange(99)}"
    )


def _nccl(random: Random) -> str:
    return (
        f"ip-10-1-2-3:4242:4301 [{random.randrange(8)}] NCCL INFO Channel {random.randrange(32):02d}/0 : "
        f"{random.randrange(512)}[{random.randrange(8)}] -> {random.randrange(512)} [send] via NET/AWS "
        f"Libfabric/{random.randrange(32)}/GDRDMA"
    )


def _kernel(random: Random) -> str:
    return f"[{random.random() * 1e5:.6f}] usb 1-1: new high-speed device number {random.randrange(99)} using xhci_hcd"


def _xid(random: Random) -> str:
    code = random.choice((13, 31, 48, 63, 79, 94, 119))
    return f"[{random.random() * 1e5:.6f}] NVRM: Xid (PCI:0000:9b:00): {code}, pid=1234, name=python3, text"


def _watchdog(random: Random) -> str:
    return (
        f"[rank{random.randrange(512)}]:[E ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation "
        f"timeout: WorkNCCL(SeqNum={random.randrange(10**5)}, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
        f"Timeout(ms)=600000) ran for 600012 milliseconds before timing out."
    )


def _lustre(random: Random) -> str:
    target = f"fsx-OST{random.randrange(99):04d}"
    return f"LustreError: 11-0: {target}: operation obd_ping to node 10.0.0.9@tcp failed: rc = -107"


_CHATTER = (_progress, _kubelet, _nccl, _kernel)
_FAULTS = (_xid, _watchdog, _lustre)
