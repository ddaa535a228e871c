"""Signals to groups, one per root cause.

Signals of one machine within the window of each other are one group. A follower (a collective that timed
out, a process that died) on any machine joins the nearest earlier group of a cause: NCCL's watchdog on a
thousand nodes belongs to the one GPU that fell off the bus. The watchdog's time is that at which its
collective got stuck, not the one at which it gave up. Sources: UIUC Delta study (5 s window), gpud issue
604 (one Xid 79 flooding all checks).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.health.signals import Layer, NodeIdentity, Signal

COALESCING_WINDOW = timedelta(seconds=5)
FOLLOWER_REACH = timedelta(seconds=15)
"""Followers came 0 to 12 s after their leader in the studied logs."""
_FOLLOWER_LAYERS = frozenset({Layer.COLLECTIVE, Layer.PROCESS, Layer.CONTROL, Layer.RUNTIME})
_START = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class _Open:
    signals: list[Signal] = field(default_factory=list)
    machines: list[NodeIdentity | None] = field(default_factory=list)
    last: datetime = _START
    has_cause: bool = False

    def holds_machine_of(self, signal: Signal) -> bool:
        return any(_same_machine(signal.node, machine) for machine in self.machines)

    def add(self, signal: Signal, moment: datetime) -> None:
        self.signals.append(signal)
        if signal.node not in self.machines:
            self.machines.append(signal.node)
        self.last = max(self.last, moment)
        self.has_cause = self.has_cause or signal.layer not in _FOLLOWER_LAYERS


def coalesce(signals: Iterable[Signal], *, window: timedelta = COALESCING_WINDOW) -> tuple[tuple[Signal, ...], ...]:
    """Groups in order of their first signal; duplicates (same signal delivered twice) are dropped.

    The result does not depend on the order in which timed signals arrive. A signal without a time belongs to the
    group that was open when it arrived.
    """
    groups: list[_Open] = []
    reachable: list[_Open] = []
    for moment, signal in _in_order(signals):
        reachable = [group for group in reachable if moment - group.last <= max(window, FOLLOWER_REACH)]
        group = _home(reachable, signal, moment, window)
        if group is None:
            group = _Open()
            groups.append(group)
            reachable.append(group)
        group.add(signal, moment)
    return tuple(tuple(group.signals) for group in groups)


def _in_order(signals: Iterable[Signal]) -> Sequence[tuple[datetime, Signal]]:
    """Sorted by onset; a signal without a time takes that of the signal before it."""
    previous = _START
    timed: list[tuple[datetime, Signal]] = []
    for signal in dict.fromkeys(signals):
        onset = signal.onset
        previous = onset if onset is not None else previous
        timed.append((previous, signal))
    return sorted(timed, key=lambda pair: (pair[0], pair[1].layer, pair[1].line, repr(pair[1])))


def _home(groups: Sequence[_Open], signal: Signal, moment: datetime, window: timedelta) -> _Open | None:
    is_follower = signal.layer in _FOLLOWER_LAYERS
    for group in reversed(groups):
        gap = moment - group.last
        if gap <= window and group.holds_machine_of(signal):
            return group
        if is_follower and group.has_cause and gap <= FOLLOWER_REACH:
            return group
    if is_follower:
        return next((group for group in reversed(groups) if moment - group.last <= window), None)
    return _followers_only(groups, moment, window)


def _followers_only(groups: Sequence[_Open], moment: datetime, window: timedelta) -> _Open | None:
    """A cause seen a moment after its followers (unequal clocks) takes the group over."""
    return next((group for group in reversed(groups) if not group.has_cause and moment - group.last <= window), None)


def _same_machine(one: NodeIdentity | None, other: NodeIdentity | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.is_same_machine(other)
