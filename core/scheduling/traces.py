"""Recorded workloads as jobs to simulate: the formats of three public traces, and any CSV by named columns.

Rows are read in file order and must not go back in time. What is left out is counted by reason, never dropped
in silence.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from random import Random

from core.scheduling.errors import WorldField, world_invalid


class TraceFormat(StrEnum):
    GAVEL = "gavel"
    """vc, num_gpus, arrival_s, duration_v100_s (Gavel's Philly trace; a blank duration was never profiled)."""
    OPENB = "openb"
    """name, cpu_milli, memory_mib, num_gpu, gpu_milli, qos, creation_time, deletion_time, scheduled_time (Alibaba)."""
    TIRESIAS = "tiresias"
    """job_id, num_gpu, submit_time, duration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column holds what. `team` and `name` may be absent."""

    submit: str
    duration: str
    gpus: str
    team: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceJob:
    """Times in seconds from the first row's clock. `gpu_milli` is per pod; `pods` of them make the job."""

    uid: str
    team: str
    submitted_s: float
    runs_s: float
    pods: int
    gpu_milli: int = 1000
    cpu_milli: int = 0
    memory_bytes: int = 0

    @property
    def gpus(self) -> float:
        return self.pods * self.gpu_milli / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    jobs: tuple[TraceJob, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason -> rows."""

    @property
    def gpu_seconds(self) -> float:
        return sum(job.gpus * job.runs_s for job in self.jobs)

    @property
    def span_s(self) -> float:
        """From the first submission to the last."""
        return self.jobs[-1].submitted_s - self.jobs[0].submitted_s


_MIB = 2**20
_FORMATS: Mapping[TraceFormat, frozenset[str]] = {
    TraceFormat.GAVEL: frozenset({"vc", "num_gpus", "arrival_s", "duration_v100_s"}),
    TraceFormat.OPENB: frozenset(
        {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "qos", "creation_time", "deletion_time"}
    ),
    TraceFormat.TIRESIAS: frozenset({"job_id", "num_gpu", "submit_time", "duration"}),
}


def read_trace(lines: Iterable[str], columns: Columns | None = None) -> Trace:
    """Raises `WorldInvalid` naming column and row (the first row of values is 1)."""
    reader = csv.DictReader(lines)
    names = tuple(reader.fieldnames or ())
    read = _Rows(names, columns)
    jobs: list[TraceJob] = []
    left_out: dict[str, int] = {}
    previous = -math.inf
    for number, row in enumerate(reader, start=1):
        found = read.job(number, row)
        if isinstance(found, str):
            left_out[found] = left_out.get(found, 0) + 1
            continue
        if found.submitted_s < previous:
            raise world_invalid(
                WorldField.TRACE_OUT_OF_ORDER,
                row=number,
                column=read.submit,
                value=f"{found.submitted_s:g}",
                before=f"{previous:g}",
            )
        previous = found.submitted_s
        jobs.append(found)
    if not jobs:
        raise world_invalid(WorldField.TRACE_EMPTY)
    return Trace(jobs=tuple(jobs), left_out=left_out)


def repeated(trace: Trace, jobs: int, seed: int) -> Trace:
    """The trace over and over until it has `jobs` jobs, each arrival shifted by a random part of a day.

    Copies lie on top of each other in time, so the load grows with them: the cluster must be sized anew.
    """
    random = Random(seed)
    found: list[TraceJob] = []
    copy = 0
    while len(found) < jobs:
        for job in trace.jobs[: jobs - len(found)]:
            shift_s = random.uniform(0.0, 86_400.0) if copy else 0.0
            found.append(
                TraceJob(
                    uid=f"{job.uid}-{copy}",
                    team=job.team,
                    submitted_s=job.submitted_s + shift_s,
                    runs_s=job.runs_s,
                    pods=job.pods,
                    gpu_milli=job.gpu_milli,
                    cpu_milli=job.cpu_milli,
                    memory_bytes=job.memory_bytes,
                )
            )
        copy += 1
    found.sort(key=lambda job: (job.submitted_s, job.uid))
    return Trace(jobs=tuple(found), left_out=trace.left_out)


class _Rows:
    """Turns one row into a job, or into the reason why it is left out."""

    def __init__(self, names: Sequence[str], columns: Columns | None) -> None:
        self._columns = columns
        self._format = None if columns is not None else _recognised(names)
        if columns is not None:
            wanted = [columns.submit, columns.duration, columns.gpus, columns.team, columns.name]
            _require([name for name in wanted if name is not None], names)
        self.submit = {
            TraceFormat.GAVEL: "arrival_s",
            TraceFormat.OPENB: "creation_time",
            TraceFormat.TIRESIAS: "submit_time",
            None: columns.submit if columns else "",
        }[self._format]

    def job(self, number: int, row: Mapping[str, str | None]) -> TraceJob | str:
        match self._format:
            case TraceFormat.GAVEL:
                return _gavel(number, row)
            case TraceFormat.OPENB:
                return _openb(number, row)
            case TraceFormat.TIRESIAS:
                return _named(number, row, Columns(submit="submit_time", duration="duration", gpus="num_gpu"))
            case None:
                assert self._columns is not None
                return _named(number, row, self._columns)


def _recognised(names: Sequence[str]) -> TraceFormat:
    for known, columns in _FORMATS.items():
        if columns <= set(names):
            return known
    raise world_invalid(WorldField.TRACE_COLUMN_MISSING, column="submit, duration, gpus", columns=", ".join(names))


def _require(wanted: Sequence[str], names: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            raise world_invalid(WorldField.TRACE_COLUMN_MISSING, column=name, columns=", ".join(names))


def _gavel(number: int, row: Mapping[str, str | None]) -> TraceJob | str:
    if not row.get("duration_v100_s"):
        return "no duration was profiled"
    return TraceJob(
        uid=f"job-{number:05d}",
        team=row.get("vc") or "none",
        submitted_s=_seconds(number, row, "arrival_s"),
        runs_s=_seconds(number, row, "duration_v100_s"),
        pods=_count(number, row, "num_gpus"),
    )


def _openb(number: int, row: Mapping[str, str | None]) -> TraceJob | str:
    if not row.get("scheduled_time"):
        return "never ran"
    started_s = _seconds(number, row, "scheduled_time")
    ended_s = _seconds(number, row, "deletion_time")
    if ended_s < started_s:
        raise _bad(number, "deletion_time", row)
    return TraceJob(
        uid=row.get("name") or f"pod-{number:05d}",
        team=row.get("qos") or "none",
        submitted_s=_seconds(number, row, "creation_time"),
        runs_s=ended_s - started_s,
        pods=max(1, _count(number, row, "num_gpu")),
        gpu_milli=_count(number, row, "gpu_milli") if _count(number, row, "num_gpu") else 0,
        cpu_milli=_count(number, row, "cpu_milli"),
        memory_bytes=_count(number, row, "memory_mib") * _MIB,
    )


def _named(number: int, row: Mapping[str, str | None], columns: Columns) -> TraceJob:
    name = row.get(columns.name) if columns.name else None
    return TraceJob(
        uid=name or f"job-{number:05d}",
        team=(row.get(columns.team) if columns.team else None) or "all",
        submitted_s=_seconds(number, row, columns.submit),
        runs_s=_seconds(number, row, columns.duration),
        pods=_count(number, row, columns.gpus),
    )


def _seconds(number: int, row: Mapping[str, str | None], column: str) -> float:
    """Seconds as a number, or an ISO 8601 time."""
    text = (row.get(column) or "").strip()
    try:
        value = float(text)
    except ValueError:
        try:
            value = datetime.fromisoformat(text).timestamp()
        except ValueError:
            raise _bad(number, column, row) from None
    if not math.isfinite(value) or value < 0:
        raise _bad(number, column, row)
    return value


def _count(number: int, row: Mapping[str, str | None], column: str) -> int:
    try:
        value = int(row.get(column) or "")
    except ValueError:
        raise _bad(number, column, row) from None
    if value < 0:
        raise _bad(number, column, row)
    return value


def _bad(number: int, column: str, row: Mapping[str, str | None]) -> Exception:
    return world_invalid(WorldField.TRACE_VALUE, row=number, column=column, value=repr(row.get(column)))
