"""Counters and gauges to signals: EFA, GPU memory, heat. HyperPod's own agent does not watch EFA in operation.

Two readings are compared. A counter that went down was reset (a reboot, a new driver): its new value is all that is
known to have happened since. Thresholds: EKS node-monitoring-agent @51af549 (EFA), Azure NHC @0e0a1ac and NVIDIA's
memory guide (memory), AWS node debugger (heat), gpud (slow-downs).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from core.health.signals import NodeIdentity, Signal, SignalFamily

_ANY_RISE: Final = ("rx_drops", "rdma_read_wr_err", "rdma_write_wr_err", "impaired_remote_conn_events")
_PEER_EVENTS: Final = "unresponsive_remote_events"
_PER_SECOND: Final[dict[str, float]] = {
    "retrans_timeout_events": 100.0,
    "retrans_pkts": 1_000.0,
    "retrans_bytes": 1_000_000.0,
}
REMAPPED_ROWS_LIMIT: Final = 512
SRAM_AGGREGATE_LIMIT: Final = 4
SRAM_CORRECTABLE_LIMIT: Final = 10_000
DRAM_CORRECTABLE_LIMIT: Final = 20_000_000
HOT_CELSIUS: Final = 85.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMemory:
    """What NVML says about one GPU's memory. None = not read."""

    device: str
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    remapped_uncorrectable: int | None = None
    sram_uncorrectable_volatile: int | None = None
    sram_uncorrectable_aggregate: int | None = None
    sram_threshold_exceeded: bool | None = None
    sram_correctable: int | None = None
    dram_correctable: int | None = None


def read_efa(
    before: Mapping[str, float], after: Mapping[str, float], *, seconds: float, node: NodeIdentity, at: datetime
) -> tuple[Signal, ...]:
    """Signals of two readings of one interface's counters, named without their `node_amazonefa_` prefix."""
    signals = []
    if _rise(before, after, _PEER_EVENTS) > 0:
        # The counter stands on the node that waits: it accuses the other end.
        signals.append(_network("efa_unresponsive_remote", _PEER_EVENTS, _rise(before, after, _PEER_EVENTS), node, at))
    risen = {name: _rise(before, after, name) for name in (*_ANY_RISE, *_PER_SECOND)}
    suspicious = [name for name in _ANY_RISE if risen[name] > 0]
    suspicious += [name for name, limit in _PER_SECOND.items() if seconds > 0 and risen[name] / seconds > limit]
    signals += [_network("efa_retransmit", name, risen[name], node, at) for name in suspicious]
    return tuple(signals)


def read_gpu_memory(memory: GpuMemory, *, node: NodeIdentity, at: datetime) -> tuple[Signal, ...]:
    """The state of the remapping decides, not the error counters: what was remapped is repaired (gpud 108)."""
    found: list[tuple[str, str]] = []
    if memory.remap_failed:
        found.append(("row_remap_failed", "remap failure flag"))
    if _over(memory.remapped_uncorrectable, REMAPPED_ROWS_LIMIT):
        found.append(("row_remap_failed", f"{memory.remapped_uncorrectable} rows remapped"))
    if memory.sram_threshold_exceeded or _over(memory.sram_uncorrectable_aggregate, SRAM_AGGREGATE_LIMIT):
        found.append(("memory_worn_out", f"{memory.sram_uncorrectable_aggregate} uncorrectable SRAM errors in all"))
    if memory.remap_pending:
        found.append(("row_remap_pending", "remap pending"))
    if _over(memory.sram_uncorrectable_volatile, 0):
        found.append(("ecc_uncorrectable", f"{memory.sram_uncorrectable_volatile} uncorrectable SRAM errors"))
    if _over(memory.sram_correctable, SRAM_CORRECTABLE_LIMIT) or _over(memory.dram_correctable, DRAM_CORRECTABLE_LIMIT):
        found.append(("memory_worn_out", "correctable errors over the limit"))
    return tuple(
        Signal(kind=kind, family=SignalFamily.GPU, at=at, node=node, device=memory.device, text=text)
        for kind, text in found
    )


def read_xid_gauge(
    before: float | None, after: float | None, *, device: str, node: NodeIdentity, at: datetime
) -> tuple[Signal, ...]:
    """DCGM's `XID_ERRORS` keeps the last code for ever: only a change is news. A repeat of a code is not seen here."""
    if after is None or not math.isfinite(after) or after <= 0 or before is None or before == after:
        return ()
    code = str(int(after))
    return (
        Signal(
            kind="xid",
            family=SignalFamily.KERNEL,
            code=code,
            at=at,
            node=node,
            device=device,
            text=f"DCGM_FI_DEV_XID_ERRORS changed to {code}",
        ),
    )


def read_temperatures(
    celsius: Mapping[str, float], earlier: Mapping[str, float], *, node: NodeIdentity, at: datetime
) -> tuple[Signal, ...]:
    """GPUs that are too hot now and were so at the reading before: sustained, not a moment."""
    return tuple(
        Signal(
            kind="gpu_thermal",
            family=SignalFamily.GPU,
            at=at,
            node=node,
            device=device,
            text=f"{value:.0f} C, limit {HOT_CELSIUS:.0f} C",
        )
        for device, value in celsius.items()
        if value > HOT_CELSIUS and earlier.get(device, -math.inf) > HOT_CELSIUS
    )


def _rise(before: Mapping[str, float], after: Mapping[str, float], name: str) -> float:
    """How much a counter grew. Unknown without both readings; a reset counter grew by its new value."""
    old, new = before.get(name), after.get(name)
    if old is None or new is None or not (math.isfinite(old) and math.isfinite(new)) or new < 0:
        return 0.0
    return new - old if new >= old else new


def _over(value: int | None, limit: int) -> bool:
    return value is not None and value > limit


def _network(kind: str, code: str, rise: float, node: NodeIdentity, at: datetime) -> Signal:
    return Signal(
        kind=kind,
        family=SignalFamily.NETWORK,
        code=code,
        at=at,
        node=node,
        text=f"EFA counter {code} rose by {rise:.0f}",
    )
