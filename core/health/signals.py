"""Signal: one raw observation about a node, a job or the fabric, before anybody judges it.

A parser never judges and never refuses: a code that no table knows stays in `code` as it was written, and
a line whose time cannot be read has `at=None`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from core.ids import InstanceId


class SignalFamily(StrEnum):
    """Where a signal comes from; one parser module each."""

    KERNEL = "kernel"
    GPU = "gpu"
    FABRIC_MANAGER = "fabric_manager"
    NETWORK = "network"
    STORAGE = "storage"
    MEMORY = "memory"
    CUDA = "cuda"
    COLLECTIVE = "collective"
    LAUNCHER = "launcher"
    SCHEDULER = "scheduler"
    APPLICATION = "application"
    NEURON = "neuron"
    HYPERPOD = "hyperpod"
    CIRCUMSTANCE = "circumstance"
    """Not a symptom: what people add to one (after a roll-out, on all nodes, recovered by itself)."""


class Layer(IntEnum):
    """How deep in the machine a signal arises: a deeper one explains the ones above it, never the reverse."""

    HARDWARE = 0
    HOST = 1
    FABRIC = 2
    STORAGE = 3
    RUNTIME = 4
    COLLECTIVE = 5
    PROCESS = 6
    CONTROL = 7


LAYER_OF_FAMILY: dict[SignalFamily, Layer] = {
    SignalFamily.KERNEL: Layer.HARDWARE,
    SignalFamily.GPU: Layer.HARDWARE,
    SignalFamily.NEURON: Layer.HARDWARE,
    SignalFamily.HYPERPOD: Layer.HOST,
    SignalFamily.FABRIC_MANAGER: Layer.HOST,
    SignalFamily.MEMORY: Layer.HOST,
    SignalFamily.NETWORK: Layer.FABRIC,
    SignalFamily.STORAGE: Layer.STORAGE,
    SignalFamily.CUDA: Layer.RUNTIME,
    SignalFamily.COLLECTIVE: Layer.COLLECTIVE,
    SignalFamily.APPLICATION: Layer.RUNTIME,
    SignalFamily.LAUNCHER: Layer.PROCESS,
    SignalFamily.SCHEDULER: Layer.CONTROL,
    SignalFamily.CIRCUMSTANCE: Layer.CONTROL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeIdentity:
    """Who a signal is about. On Slurm a replacement keeps its host name, so the name alone is not enough:
    another instance id or another boot id is another machine or another life of it."""

    host: str
    instance_id: InstanceId | None = None
    boot_id: str | None = None

    def is_same_machine(self, other: NodeIdentity) -> bool:
        """The same instance, whatever it booted since. Without instance ids the host name has to do."""
        if self.instance_id is not None and other.instance_id is not None:
            return self.instance_id == other.instance_id
        return self.host == other.host


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One observation.

    `kind` names the pattern that saw it (`xid`, `nccl_watchdog_timeout`); `code` is the number or word
    inside, as written. `device` is a GPU, port or PCI address; `peer` is the other node where the line
    names one.
    """

    kind: str
    family: SignalFamily
    code: str = ""
    at: datetime | None = None
    node: NodeIdentity | None = None
    device: str = ""
    peer: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    """Everything else that the pattern read, by name."""
    text: str = ""
    """The line, cut to `TEXT_LIMIT` characters."""
    line: int = 0
    """1 for the first line of the stream; 0 when the signal is not from a line."""

    @property
    def layer(self) -> Layer:
        return LAYER_OF_FAMILY[self.family]

    @property
    def onset(self) -> datetime | None:
        """When it began. A watchdog reports `ran_ms` after the collective got stuck."""
        if self.at is None:
            return None
        ran_ms = self.attribute("ran_ms")
        if not ran_ms.isdigit() or len(ran_ms) > _MAX_RAN_MS_DIGITS:
            return self.at
        try:
            return self.at - timedelta(milliseconds=int(ran_ms))
        except OverflowError:
            return self.at

    def attribute(self, name: str) -> str:
        """The value, or the empty string."""
        return next((value for key, value in self.attributes if key == name), "")


TEXT_LIMIT = 400
_MAX_RAN_MS_DIGITS = 12
