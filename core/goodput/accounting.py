"""Where a job's wall time went, from its events. The classes sum to the wall time exactly.

Time between two events belongs to the phase that the first one began. Work since the checkpoint that a job resumed
from is lost afterwards: it is moved from productive to lost when the resume is seen. Events may come twice, late or
from clocks that disagree: they are sorted and made unique, and what cannot be is noted, never raised.

    goodput          productive / wall          (Google's ml-goodput)
    effective ratio  productive / (wall without waiting for capacity)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from core.ids import ClusterName, TeamName


class TimeClass(StrEnum):
    PRODUCTIVE = "productive"
    CHECKPOINT = "checkpoint"
    """Blocking saves."""
    LOST_WORK = "lost_work"
    """Done, thrown away by a rollback."""
    DETECTION = "detection"
    """Broken, and nobody knew."""
    RESTART = "restart"
    """From detection, or from capacity, to the first new training step."""
    WAITING_FOR_CAPACITY = "waiting_for_capacity"
    DEGRADED = "degraded"
    """The part of the time that a slow job lost against its own normal speed."""


class JobEventKind(StrEnum):
    QUEUED = "queued"
    """Waits for capacity, at the start or after a failure."""
    STARTING = "starting"
    """Has capacity, prepares."""
    TRAINING = "training"
    """Makes steps; `training_step` is the one it resumes from (0 = from scratch)."""
    CHECKPOINT_BEGAN = "checkpoint_began"
    CHECKPOINT_SAVED = "checkpoint_saved"
    """Steps go on; `training_step` is saved."""
    DEGRADED = "degraded"
    """Slower from now on; `speed` is the share of normal speed."""
    RECOVERED_SPEED = "recovered_speed"
    FAULT = "fault"
    DETECTED = "detected"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    kind: JobEventKind
    at: datetime
    training_step: int | None = None
    speed: float = 1.0


class Anomaly(StrEnum):
    AFTER_END = "after_end"
    SAVE_WITHOUT_BEGIN = "save_without_begin"
    SPEED_OUT_OF_RANGE = "speed_out_of_range"
    RESUMED_FROM_UNKNOWN_STEP = "resumed_from_unknown_step"
    DUPLICATE = "duplicate"
    OUT_OF_ORDER = "out_of_order"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Wall time of one job by class, with what it cost."""

    job: str
    team: TeamName | None
    cluster: ClusterName | None
    gpus: int
    by_class: Mapping[TimeClass, timedelta]
    gpu_hour_cents: int = 0
    anomalies: tuple[Anomaly, ...] = ()

    @property
    def wall(self) -> timedelta:
        return sum(self.by_class.values(), timedelta(0))

    @property
    def goodput(self) -> float:
        """0 for a job without any time."""
        return self.by_class[TimeClass.PRODUCTIVE] / self.wall if self.wall else 0.0

    @property
    def effective_ratio(self) -> float:
        running = self.wall - self.by_class[TimeClass.WAITING_FOR_CAPACITY]
        return self.by_class[TimeClass.PRODUCTIVE] / running if running else 0.0

    def gpu_hours(self, time_class: TimeClass | None = None) -> float:
        seconds = (self.wall if time_class is None else self.by_class[time_class]).total_seconds()
        return self.gpus * seconds / 3600

    def cost_cents(self, time_class: TimeClass | None = None) -> int:
        """Waiting for capacity costs nothing: the GPUs were not held."""
        if time_class is TimeClass.WAITING_FOR_CAPACITY:
            return 0
        hours = self.gpu_hours(time_class)
        if time_class is None:
            hours -= self.gpu_hours(TimeClass.WAITING_FOR_CAPACITY)
        return round(hours * self.gpu_hour_cents)


_ZERO: Final = timedelta(0)
_PHASE_AFTER: Final[dict[JobEventKind, TimeClass]] = {
    JobEventKind.QUEUED: TimeClass.WAITING_FOR_CAPACITY,
    JobEventKind.STARTING: TimeClass.RESTART,
    JobEventKind.TRAINING: TimeClass.PRODUCTIVE,
    JobEventKind.CHECKPOINT_BEGAN: TimeClass.CHECKPOINT,
    JobEventKind.CHECKPOINT_SAVED: TimeClass.PRODUCTIVE,
    JobEventKind.FAULT: TimeClass.DETECTION,
    JobEventKind.DETECTED: TimeClass.RESTART,
}


@dataclass(slots=True)
class _Book:
    """What is known while the events are walked through."""

    spent: dict[TimeClass, timedelta] = field(default_factory=lambda: dict.fromkeys(TimeClass, _ZERO))
    phase: TimeClass = TimeClass.WAITING_FOR_CAPACITY
    speed: float = 1.0
    unsaved: dict[TimeClass, timedelta] = field(default_factory=dict)
    """Work since the last save: it may turn out to be lost."""
    saves: list[tuple[int, dict[TimeClass, timedelta]]] = field(default_factory=list)
    """Step of each save, and the work that lay between it and the save before."""
    anomalies: list[Anomaly] = field(default_factory=list)


def account(
    events: Iterable[JobEvent],
    *,
    job: str,
    gpus: int,
    until: datetime,
    team: TeamName | None = None,
    cluster: ClusterName | None = None,
    gpu_hour_cents: int = 0,
) -> Account:
    """The account of a job from its first event to its end, or to `until` while it runs."""
    book = _Book()
    ordered = _in_order(events, until, book)
    end = _end_of(ordered, until)
    if any(event.at > end for event in ordered):
        book.anomalies.append(Anomaly.AFTER_END)
    for number, event in enumerate(ordered):
        if event.kind is JobEventKind.ENDED:
            break
        _enter(book, event)
        following = ordered[number + 1].at if number + 1 < len(ordered) else end
        _spend(book, max(_ZERO, min(following, end) - event.at))
    return Account(
        job=job,
        team=team,
        cluster=cluster,
        gpus=max(0, gpus),
        by_class=dict(book.spent),
        gpu_hour_cents=gpu_hour_cents,
        anomalies=tuple(dict.fromkeys(book.anomalies)),
    )


def total(accounts: Iterable[Account]) -> Mapping[TimeClass, float]:
    """GPU-hours by class over jobs: jobs of different size count by their size."""
    summed = dict.fromkeys(TimeClass, 0.0)
    for one in accounts:
        for time_class in TimeClass:
            summed[time_class] += one.gpu_hours(time_class)
    return summed


def by_team(accounts: Iterable[Account]) -> Mapping[TeamName | None, Mapping[TimeClass, float]]:
    grouped: dict[TeamName | None, list[Account]] = {}
    for one in accounts:
        grouped.setdefault(one.team, []).append(one)
    return {team: total(group) for team, group in grouped.items()}


def by_cluster(accounts: Iterable[Account]) -> Mapping[ClusterName | None, Mapping[TimeClass, float]]:
    grouped: dict[ClusterName | None, list[Account]] = {}
    for one in accounts:
        grouped.setdefault(one.cluster, []).append(one)
    return {cluster: total(group) for cluster, group in grouped.items()}


def goodput_of(hours: Mapping[TimeClass, float]) -> float:
    """Productive share of summed GPU-hours; 0 without any."""
    everything = sum(hours.values())
    return hours[TimeClass.PRODUCTIVE] / everything if everything else 0.0


def _in_order(events: Iterable[JobEvent], until: datetime, book: _Book) -> list[JobEvent]:
    given = [event for event in events if event.at <= until]
    unique = list(dict.fromkeys(given))
    ordered = sorted(unique, key=lambda event: (event.at, _ORDER[event.kind]))
    if len(unique) < len(given):
        book.anomalies.append(Anomaly.DUPLICATE)
    if ordered != unique:
        book.anomalies.append(Anomaly.OUT_OF_ORDER)
    return ordered


_AT_ONCE: Final = (
    *(JobEventKind.DEGRADED, JobEventKind.RECOVERED_SPEED, JobEventKind.CHECKPOINT_BEGAN),
    *(JobEventKind.CHECKPOINT_SAVED, JobEventKind.FAULT, JobEventKind.DETECTED, JobEventKind.QUEUED),
    *(JobEventKind.STARTING, JobEventKind.TRAINING, JobEventKind.ENDED),
)
"""The order in which events of one moment are taken: what ends a phase before what begins the next."""
_ORDER: Final = {kind: position for position, kind in enumerate(_AT_ONCE)}


def _end_of(ordered: list[JobEvent], until: datetime) -> datetime:
    return next((event.at for event in ordered if event.kind is JobEventKind.ENDED), until)


def _enter(book: _Book, event: JobEvent) -> None:
    match event.kind:
        case JobEventKind.DEGRADED:
            book.speed = _speed(book, event.speed)
        case JobEventKind.RECOVERED_SPEED:
            book.speed = 1.0
        case JobEventKind.CHECKPOINT_SAVED:
            _save(book, event)
        case JobEventKind.TRAINING:
            _resume(book, event.training_step)
            book.speed = 1.0
        case _:
            pass
    book.phase = _PHASE_AFTER.get(event.kind, book.phase)


def _speed(book: _Book, speed: float) -> float:
    if 0 <= speed <= 1:
        return speed
    book.anomalies.append(Anomaly.SPEED_OUT_OF_RANGE)
    return min(1.0, max(0.0, speed)) if speed == speed else 1.0  # NaN is no speed


def _save(book: _Book, event: JobEvent) -> None:
    if book.phase is not TimeClass.CHECKPOINT:
        book.anomalies.append(Anomaly.SAVE_WITHOUT_BEGIN)
    last = book.saves[-1][0] if book.saves else 0
    book.saves.append((event.training_step if event.training_step is not None else last, book.unsaved))
    book.unsaved = {}


def _resume(book: _Book, step: int | None) -> None:
    """Moves the work after the checkpoint of `step` to lost. Without a step the last save is meant."""
    lost = [book.unsaved]
    if step is not None:
        while book.saves and book.saves[-1][0] > step:
            lost.append(book.saves.pop()[1])
        known = book.saves[-1][0] if book.saves else 0
        if known != step:
            book.anomalies.append(Anomaly.RESUMED_FROM_UNKNOWN_STEP)
    for work in lost:
        for time_class, spent in work.items():
            book.spent[time_class] -= spent
            book.spent[TimeClass.LOST_WORK] += spent
    book.unsaved = {}


def _spend(book: _Book, elapsed: timedelta) -> None:
    if book.phase is not TimeClass.PRODUCTIVE:
        book.spent[book.phase] += elapsed
        return
    productive = elapsed * book.speed if book.speed < 1 else elapsed
    for time_class, part in ((TimeClass.PRODUCTIVE, productive), (TimeClass.DEGRADED, elapsed - productive)):
        book.spent[time_class] += part
        book.unsaved[time_class] = book.unsaved.get(time_class, _ZERO) + part
