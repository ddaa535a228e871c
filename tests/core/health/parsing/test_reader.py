"""The log reader: every source, in one pass, whatever the bytes."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.health.parsing.reader import MAX_CARRY_BYTES, LogReader, ReadContext, read_log, read_report
from core.health.parsing.registry import LOG_PATTERNS
from core.health.signals import NodeIdentity, Signal

XID_79 = b"NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"


def kinds(text: str) -> set[str]:
    return {signal.kind for signal in read_log([text.encode() + b"\n"])}


def one(text: str, kind: str) -> Signal:
    return next(signal for signal in read_log([text.encode() + b"\n"]) if signal.kind == kind)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("nvidia-nvswitch3: SXid (PCI:0000:cb:00.0): 12028, Fatal, Link 32 egress", "sxid"),
        ("NVRM: fallen off the bus and is not responding to commands.", "gpu_off_bus"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "cuda_ecc"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "cuda_illegal_access"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "cuda_oom"),
        ("NCCL WARN NET/IB : Got async event : port error", "port_error"),
        ("NET/OFI Request 0x7f completed with error. RC: 20. Error: unknown", "efa_request_error"),
        ("libfabric:1:1::efa:cq:f():811<warn> err: 113, message: Unresponsive remote", "efa_unresponsive_remote"),
        ("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null)", "oom_cgroup"),
        ("Out of memory: Killed process 4211 (python3) total-vm:1kB", "oom_global"),
        ("LustreError: 167-0: This client was evicted by fsx-OST0003", "lustre_evicted"),
        ("Lustre: operation obd_ping to node 10.0.0.1@tcp failed: rc = -107", "lustre_error"),
        ("failed (exitcode: -9) local_rank: 3 (pid: 22190)", "process_exit"),
        ("torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: failed", "rendezvous_failed"),
        ("slurmctld: error: Kill task failed on node ip-10-0-0-1", "slurm_kill_task_failed"),
        ("slurmd: Node ip-10-0-0-1 unexpectedly rebooted", "slurm_unexpected_reboot"),
        ("NEURON_HW_ERR=DMA_ERROR instance-id=i-1 hostname=h nd-id=0 action=TERMINATE_INSTANCE", "neuron_hw_error"),
        ("DCGM_FR_VOLATILE_DBE_DETECTED on GPU 3", "diag_failed"),
        ("Node condition NetworkFaultType is now: True, reason: X", "node_condition"),
        ("node-health-status=UnschedulablePendingReplacement", "health_label"),
        ("Event: EFA health checks did not run successfully", "event_efa_check"),
        ("Event: Lifecycle scripts did not run successfully", "event_lifecycle"),
    ],
)
def test_a_line_of_each_source_is_recognised(line: str, kind: str) -> None:
    assert kind in kinds(line)


def test_an_xid_keeps_code_device_and_process() -> None:
    signal = one("NVRM: Xid (PCI:0000:20:00): 31, pid=5121, name=python3, Ch 00000008, MMU Fault", "xid")

    assert (signal.code, signal.device, signal.attribute("process")) == ("31", "0000:20:00", "python3")


def test_a_watchdog_line_says_which_collective_and_how_long() -> None:
    signal = one(
        "[rank12]: [Rank 12] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=45311, OpType=ALLREDUCE, "
        "NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600055 milliseconds before timing out.",
        "nccl_watchdog_timeout",
    )

    assert [signal.attribute(name) for name in ("seq", "op", "timeout_ms", "ran_ms")] == [
        "45311",
        "ALLREDUCE",
        "600000",
        "600055",
    ]


def test_the_onset_of_a_timeout_is_when_the_collective_got_stuck() -> None:
    signal = one(
        "2026-05-01T10:10:00Z WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600000 milliseconds",
        "nccl_watchdog_timeout",
    )

    assert signal.onset == datetime(2026, 5, 1, 10, tzinfo=UTC)


def test_a_gpu_named_some_lines_before_it_falls_off_the_bus_is_the_device() -> None:
    lines = b"NVRM: The NVIDIA GPU 0000:ae:00.0\nNVRM: (PCI ID: 10de:2330) installed in this system has\n"

    signals = list(read_log([lines + b"NVRM: fallen off the bus and is not responding to commands.\n"]))

    assert [(signal.kind, signal.device) for signal in signals] == [("gpu_off_bus", "0000:ae:00.0")]


def test_an_unknown_code_is_kept_as_written() -> None:
    assert one("NVRM: Xid (PCI:0000:9b:00): 4711, something new", "xid").code == "4711"


def test_the_node_of_the_context_stands_on_every_signal() -> None:
    node = NodeIdentity(host="ip-10-0-0-1", boot_id="b1")

    signals = list(read_log([XID_79], ReadContext(node=node)))

    assert {signal.node for signal in signals} == {node}


def test_a_line_cut_by_chunks_is_put_together() -> None:
    whole = [signal.kind for signal in read_log([XID_79])]

    assert [signal.kind for signal in read_log([XID_79[:30], XID_79[30:31], XID_79[31:]])] == whole


def test_a_last_line_without_an_end_is_read() -> None:
    assert [signal.kind for signal in read_log([XID_79.rstrip()])] == [signal.kind for signal in read_log([XID_79])]


def test_a_ten_megabyte_line_costs_bounded_memory_and_hides_nothing_after_it() -> None:
    reader = LogReader()
    tracemalloc.start()
    for _ in range(160):
        assert list(reader.feed(b"x" * MAX_CARRY_BYTES)) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 8 * MAX_CARRY_BYTES
    assert "xid" in {signal.kind for signal in reader.feed(b"\n" + XID_79)}


def test_a_signal_deep_inside_a_long_line_is_found() -> None:
    line = b"a" * 30_000 + b" " + XID_79

    assert "xid" in {signal.kind for signal in read_log([line])}


def test_lines_are_numbered_from_one() -> None:
    signals = list(read_log([b"quiet\nquiet\n" + XID_79 + b"quiet\n", XID_79]))

    assert sorted({signal.line for signal in signals}) == [3, 5]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=12))
def test_binary_junk_never_raises(chunks: list[bytes]) -> None:
    list(read_log(chunks))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([pattern.needles[0] for pattern in LOG_PATTERNS]), min_size=1, max_size=8),
    st.text(max_size=40),
    st.integers(min_value=1, max_value=50),
)
def test_words_of_the_prefilter_in_any_company_never_raise_and_do_not_depend_on_chunks(
    words: list[str], filler: str, size: int
) -> None:
    data = (filler + f" {filler}\n".join(words) + "\n").encode(errors="replace")
    whole = list(read_log([data]))

    assert list(read_log([data[i : i + size] for i in range(0, len(data), size)])) == whole


def test_a_report_is_read_for_circumstances_that_a_log_is_not() -> None:
    text = "Xid 31 on many nodes right after the driver upgrade"

    assert {"many_nodes", "after_rollout"} <= {signal.kind for signal in read_report(text)}
    assert not {"many_nodes", "after_rollout"} & kinds(text)
