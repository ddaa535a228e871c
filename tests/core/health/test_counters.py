"""Counters and gauges as signals."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.counters import GpuMemory, read_efa, read_gpu_memory, read_temperatures, read_xid_gauge
from core.health.diagnosis.diagnose import diagnose_group
from core.health.faults import Accused, Outcome, Remediation
from core.health.signals import NodeIdentity, Signal
from tests.builders.health import NOW

NODE = NodeIdentity(host="n")


def efa(before: dict[str, float], after: dict[str, float], seconds: float = 60) -> tuple[Signal, ...]:
    return read_efa(before, after, seconds=seconds, node=NODE, at=NOW)


def memory(**values: object) -> tuple[Signal, ...]:
    return read_gpu_memory(GpuMemory(device="0", **values), node=NODE, at=NOW)  # type: ignore[arg-type]


def test_an_unresponsive_remote_accuses_the_other_end() -> None:
    fault = diagnose_group(efa({"unresponsive_remote_events": 2}, {"unresponsive_remote_events": 3}))

    assert fault.accused is Accused.PEER


@pytest.mark.parametrize("name", ["rx_drops", "rdma_read_wr_err", "rdma_write_wr_err", "impaired_remote_conn_events"])
def test_any_rise_of_an_error_counter_is_a_signal(name: str) -> None:
    assert [signal.code for signal in efa({name: 5}, {name: 6})] == [name]
    assert efa({name: 5}, {name: 5}) == ()


def test_retransmissions_count_by_their_rate() -> None:
    assert efa({"retrans_pkts": 0}, {"retrans_pkts": 60_000}) == ()
    assert [signal.code for signal in efa({"retrans_pkts": 0}, {"retrans_pkts": 60_061})] == ["retrans_pkts"]


def test_a_counter_that_was_reset_grew_by_its_new_value_only() -> None:
    assert efa({"rx_drops": 1000}, {"rx_drops": 0}) == ()
    assert len(efa({"rx_drops": 1000}, {"rx_drops": 3})) == 1


def test_a_counter_seen_for_the_first_time_says_nothing() -> None:
    assert efa({}, {"rx_drops": 1000}) == ()


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ({"remap_failed": True}, Remediation.REPLACE),
        ({"remapped_uncorrectable": 513}, Remediation.REPLACE),
        ({"sram_uncorrectable_aggregate": 5}, Remediation.REPLACE),
        ({"sram_threshold_exceeded": True}, Remediation.REPLACE),
        ({"remap_pending": True}, Remediation.REBOOT),
        ({"sram_uncorrectable_volatile": 1}, Remediation.REBOOT),
    ],
)
def test_the_state_of_the_memory_decides_what_is_done(values: dict[str, object], first: Remediation) -> None:
    fault = diagnose_group(memory(**values))

    assert (fault.outcome, fault.first_remediation) == (Outcome.NODE, first)


def test_memory_that_was_remapped_is_repaired() -> None:
    assert memory(remap_pending=False, remap_failed=False, remapped_uncorrectable=11, dram_correctable=99) == ()


def test_memory_that_was_not_read_says_nothing() -> None:
    assert memory() == ()


def test_the_xid_gauge_keeps_its_last_value_so_only_a_change_is_news() -> None:
    def read(before: float | None, after: float | None) -> tuple[Signal, ...]:
        return read_xid_gauge(before, after, device="0", node=NODE, at=NOW)

    assert [signal.code for signal in read(0, 79)] == ["79"]
    assert read(79, 79) == read(None, 79) == read(79, 0) == read(0, math.nan) == ()


def test_heat_has_to_last() -> None:
    assert read_temperatures({"0": 90.0}, {"0": 60.0}, node=NODE, at=NOW) == ()
    assert len(read_temperatures({"0": 90.0}, {"0": 91.0}, node=NODE, at=NOW)) == 1


names = st.sampled_from(["rx_drops", "retrans_bytes", "unresponsive_remote_events", "else"])


@given(st.dictionaries(names, st.floats()), st.dictionaries(names, st.floats()), st.floats())
def test_no_readings_raise(before: dict[str, float], after: dict[str, float], seconds: float) -> None:
    diagnose_group(efa(before, after, seconds))
