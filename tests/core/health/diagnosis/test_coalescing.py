"""One group of signals per root cause."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from core.health.diagnosis.coalescing import coalesce
from core.health.signals import NodeIdentity, Signal, SignalFamily

START = datetime(2026, 5, 1, tzinfo=UTC)
A, B = NodeIdentity(host="a"), NodeIdentity(host="b")


def signal(
    kind: str = "xid",
    *,
    family: SignalFamily = SignalFamily.KERNEL,
    seconds: float | None = 0,
    node: NodeIdentity | None = A,
    line: int = 0,
    ran_ms: str = "",
) -> Signal:
    at = None if seconds is None else START + timedelta(seconds=seconds)
    attributes = (("ran_ms", ran_ms),) if ran_ms else ()
    return Signal(kind=kind, family=family, at=at, node=node, line=line, attributes=attributes)


def watchdog(*, seconds: float, node: NodeIdentity, ran_ms: str = "") -> Signal:
    return signal("nccl_watchdog_timeout", family=SignalFamily.COLLECTIVE, seconds=seconds, node=node, ran_ms=ran_ms)


def test_signals_of_one_machine_within_the_window_are_one_group() -> None:
    assert len(coalesce([signal(seconds=0), signal("sxid", seconds=4)])) == 1


def test_signals_of_one_machine_far_apart_are_two_groups() -> None:
    assert len(coalesce([signal(seconds=0), signal("sxid", seconds=60)])) == 2


def test_causes_on_two_machines_are_two_groups() -> None:
    assert len(coalesce([signal(node=A), signal(node=B)])) == 2


def test_a_timeout_elsewhere_joins_the_cause_at_which_it_got_stuck() -> None:
    groups = coalesce([signal(seconds=0, node=A), watchdog(seconds=602, node=B, ran_ms="600000")])

    assert len(groups) == 1


def test_a_flood_of_one_code_is_one_group() -> None:
    assert len(coalesce([signal(seconds=4 * number, line=number) for number in range(100)])) == 1


def test_the_same_signal_delivered_twice_counts_once() -> None:
    assert coalesce([signal(), signal()]) == coalesce([signal()])


def test_another_instance_under_the_same_host_name_is_another_machine() -> None:
    old = NodeIdentity(host="a", instance_id=None, boot_id="1")
    signals = [signal(node=old), signal("sxid", node=B)]

    assert len(coalesce(signals)) == 2


def test_a_long_flood_over_many_nodes_is_grouped_without_loss() -> None:
    flood = [
        signal(seconds=number / 10, line=number, node=NodeIdentity(host=f"h{number % 50}")) for number in range(20_000)
    ]

    assert sum(len(group) for group in coalesce(flood)) == 20_000


timed = st.builds(
    signal,
    st.sampled_from(["xid", "sxid", "gpu_off_bus"]),
    seconds=st.integers(min_value=-50, max_value=50),
    node=st.sampled_from([A, B]),
    line=st.integers(min_value=0, max_value=1000),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(timed, max_size=12), st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_the_order_of_arrival(signals: list[Signal], random: object) -> None:
    shuffled = sorted(signals, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert coalesce(shuffled) == coalesce(signals)


@settings(max_examples=80, deadline=None)
@given(st.lists(timed, max_size=12))
def test_no_signal_is_lost_or_doubled(signals: list[Signal]) -> None:
    assert sorted(map(repr, (one for group in coalesce(signals) for one in group))) == sorted(map(repr, set(signals)))
