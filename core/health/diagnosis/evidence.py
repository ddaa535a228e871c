"""Evidence: the signals of one incident as the tokens that rules speak of.

Tokens are the kinds themselves (`link_down`), kinds with their code (`node_condition:KernelDeadLock`), and
what several signals say together (`watchdog.desync`: ranks wait at different collectives). `hardware`
stands for any signal that names a broken part outright.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.health.faults import FaultClass, Outcome, Remediation
from core.health.signals import Signal
from core.health.table.nvlink5 import read_nvlink5
from core.health.table.policy import FaultEntry, FaultPolicy, is_known_xid

_MORE_CODES = re.compile(
    r"(?:/|\bthen|\band|,|&|\+|;) ?(?:xids? ?)?(\d{2,3})\b(?! ?(?:h\b|hours?|nodes?|gpus?|ms|s\b|min|%"
    r"|[kmgt]i?b|days?|times|\.|,\d))",
    re.IGNORECASE,
)
_RECOVERY_TEXT = re.compile(r"(None|GPU Reset Required|Node Reboot Required|Drain P2P|Drain and Reset)", re.IGNORECASE)
_PEER_SUB_CODE = re.compile(
    r"\b149\b.{0,200}(?:sub-?code|reason|intrinfo)\D{0,12}\b(?:21|3[2-7])\b|\b149\b.{0,200}\bpeer\b",
    re.DOTALL,
)
FIRST_COLLECTIVES = 8
"""A process group that times out within its first collectives never worked: set-up, not wear."""
_PAYLOAD_BYTES = 1 << 16
_HARDWARE_KINDS = frozenset(
    {
        *(
            "gpu_off_bus",
            "gpu_lost",
            "row_remap_failed",
            "memory_worn_out",
            "neuron_hw_error",
            "machine_check",
            "pcie_uncorrected",
        ),
        *("sxid.fatal", "xid.fatal", "event_hardware", "disk_error", "nvlink5.fatal"),
    }
)


@dataclass(frozen=True, slots=True)
class GpuCode:
    """One Xid or SXid of the evidence, with the policy's row."""

    signal: Signal
    entry: FaultEntry
    is_aside: bool = False
    """Named beside the first code of a sentence: enough to explain, not enough to replace a node for."""


@dataclass(frozen=True, slots=True)
class Evidence:
    signals: tuple[Signal, ...]
    codes: tuple[GpuCode, ...]
    tokens: frozenset[str]

    def first_of(self, words: frozenset[str]) -> Signal | None:
        """The earliest of the deepest signals that speak for one of the words."""
        spoken = [signal for signal in self.signals if words & tokens_of(signal)]
        return min(spoken, key=lambda signal: signal.layer, default=None)


def gather(signals: Sequence[Signal], policy: FaultPolicy) -> Evidence:
    """Evidence of one incident."""
    codes = tuple(_gpu_codes(signals, policy))
    tokens = {token for signal in signals for token in tokens_of(signal)}
    tokens |= set(_code_tokens(codes))
    tokens |= set(_nvlink5_tokens(signals))
    tokens |= set(_watchdog_tokens(signals))
    tokens |= set(_network_tokens(signals))
    tokens |= {
        f"dcgm.{policy.dcgm(signal.code).fault_class.outcome}"
        for signal in signals
        if signal.kind == "diag_failed" and signal.code
    }
    if tokens & _HARDWARE_KINDS or ("ecc_uncorrectable" in tokens and "row_remap_clean" not in tokens):
        tokens.add("hardware")
    return Evidence(signals=tuple(signals), codes=codes, tokens=frozenset(tokens))


def tokens_of(signal: Signal) -> frozenset[str]:
    """The tokens of one signal alone."""
    tokens = {signal.kind}
    if signal.code:
        tokens.add(f"{signal.kind}:{signal.code}")
    if signal.kind in {"xid", "xid_mention"}:
        tokens |= {"xid", f"xid:{signal.code}", f"xid_first:{signal.code}"}
    if signal.kind in {"sxid", "sxid_mention"}:
        tokens |= {"sxid", f"sxid:{signal.code}"}
    if signal.kind == "health_label" and (state := signal.attribute("state")):
        tokens.add(f"health_label:{state}")
    for name in ("exit", "plain", "state", "action", "why"):
        if value := signal.attribute(name):
            tokens.add(f"{signal.kind}.{name}:{value.replace(' ', '_')}")
    return frozenset(tokens)


def _gpu_codes(signals: Sequence[Signal], policy: FaultPolicy) -> Iterator[GpuCode]:
    for signal in signals:
        if signal.kind in {"xid", "xid_mention"}:
            yield GpuCode(signal, policy.xid(int(signal.code)))
            if signal.kind == "xid_mention":
                for code in _MORE_CODES.findall(signal.attribute("more")):
                    if is_known_xid(int(code)):
                        yield GpuCode(signal, policy.xid(int(code)), is_aside=True)
        elif signal.kind in {"sxid", "sxid_mention"}:
            yield GpuCode(signal, _as_printed(signal, policy.sxid(int(signal.code))))


def _as_printed(signal: Signal, entry: FaultEntry) -> FaultEntry:
    """The line knows better than the table whether this occurrence was fatal."""
    if "non-fatal" in signal.text.lower() and entry.severity != "potentially_fatal":
        return replace(entry, severity="info", fault_class=FaultClass.BENIGN, first_remediation=Remediation.NONE)
    return entry


def _code_tokens(codes: Sequence[GpuCode]) -> Iterator[str]:
    for code in codes:
        family, _, number = code.entry.key.partition(":")
        yield family
        yield code.entry.key
        if family == "xid" and number == "154" and (texts := _RECOVERY_TEXT.findall(code.signal.text)):
            yield "xid154." + texts[-1].lower().replace(" ", "_")  # "changed from (None) to (...)": the last one
        if code.entry.is_fatal and code.entry.fault_class.outcome is Outcome.NODE:
            yield f"{family}.fatal"
        if code.entry.severity == "potentially_fatal":
            yield "sxid.potentially_fatal"


def _nvlink5_tokens(signals: Sequence[Signal]) -> Iterator[str]:
    for signal in signals:
        if signal.kind not in {"xid", "xid_mention"} or signal.code not in {
            "144",
            "145",
            "146",
            "147",
            "148",
            "149",
            "150",
        }:
            continue
        sub_code = read_nvlink5(int(signal.code), signal.text)
        if sub_code is not None:
            yield "nvlink5.fatal" if sub_code.is_fatal else "nvlink5.nonfatal"
            if sub_code.accuses_peer:
                yield "nvlink5.peer"
        elif "nonfatal" in signal.text.lower() or "non-fatal" in signal.text.lower():
            yield "nvlink5.nonfatal"
        if _PEER_SUB_CODE.search(signal.text):
            yield "nvlink5.peer"


def _watchdog_tokens(signals: Sequence[Signal]) -> Iterator[str]:
    numbers = [
        (signal.attribute("op"), signal.attribute("rank"), int(signal.attribute("seq")))
        for signal in signals
        if signal.kind == "nccl_watchdog_timeout" and signal.attribute("seq").isdigit()
    ]
    if len({number for _, _, number in numbers}) > 1:
        yield "watchdog.desync"
    elif numbers and numbers[0][2] <= FIRST_COLLECTIVES:
        yield "watchdog.first"
    if len({operation for operation, _, _ in numbers}) > 1:
        yield "watchdog.desync"


def _network_tokens(signals: Sequence[Signal]) -> Iterator[str]:
    for signal in signals:
        if signal.kind != "ib_completion_error":
            continue
        length = signal.attribute("length")
        if signal.code == "5":
            yield "ib.flush"
        elif signal.device or (length.isdigit() and int(length) >= _PAYLOAD_BYTES):
            yield "ib.after_traffic"
        else:
            yield "ib.before_traffic"
