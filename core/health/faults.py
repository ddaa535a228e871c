"""Fault: the classified cause of signals, with who is accused and what is done first.

The classes and their five outcomes are those of `muster eval diagnose`; the ladder is ordered from harmless
to drastic, with `escalate` (a person decides) outside the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.health.signals import NodeIdentity, Signal


class Outcome(StrEnum):
    """Whose problem it is."""

    NODE = "node"
    INFRASTRUCTURE = "infrastructure"
    SOFTWARE_OR_CONFIGURATION = "software_or_configuration"
    NONE = "none"
    NOT_ESTABLISHED = "not_established"


class FaultClass(StrEnum):
    """What kind of cause it is. Closed: it is our own list."""

    GPU_HW = "gpu_hw"
    """The machine itself: GPU, accelerator, CPU, board, disk. The name is that of the public cases."""
    GPU_HW_BUS = "gpu_hw_bus"
    GPU_HW_MEMORY = "gpu_hw_memory"
    NVLINK_PEER = "nvlink_peer"
    NVLINK_SWITCH = "nvlink_switch"
    NETWORK = "network"
    NETWORK_HW = "network_hw"
    NETWORK_HW_SUSPECT = "network_hw_suspect"
    NETWORK_PEER = "network_peer"
    FILESYSTEM = "filesystem"
    SITE_EVENT = "site_event"
    SOFTWARE = "software"
    SOFTWARE_USER = "software_user"
    SOFTWARE_CONFIG = "software_config"
    NODE_SOFTWARE = "node_software"
    DRIVER_BUG = "driver_bug"
    FABRIC_MANAGER = "fabric_manager"
    HOST_CONFIG = "host_config"
    NETWORK_CONFIG = "network_config"
    RESOURCES = "resources"
    BENIGN = "benign"
    FALSE_POSITIVE = "false_positive"
    STALE_CONDITION = "stale_condition"
    OPERATOR_ACTION = "operator_action"
    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"

    @property
    def outcome(self) -> Outcome:
        return _OUTCOMES[self]


_OUTCOMES: dict[FaultClass, Outcome] = {
    FaultClass.GPU_HW: Outcome.NODE,
    FaultClass.GPU_HW_BUS: Outcome.NODE,
    FaultClass.GPU_HW_MEMORY: Outcome.NODE,
    FaultClass.NVLINK_PEER: Outcome.NODE,
    FaultClass.NVLINK_SWITCH: Outcome.NODE,
    FaultClass.NETWORK: Outcome.INFRASTRUCTURE,
    FaultClass.NETWORK_HW: Outcome.INFRASTRUCTURE,
    FaultClass.NETWORK_HW_SUSPECT: Outcome.INFRASTRUCTURE,
    FaultClass.NETWORK_PEER: Outcome.INFRASTRUCTURE,
    FaultClass.FILESYSTEM: Outcome.INFRASTRUCTURE,
    FaultClass.SITE_EVENT: Outcome.INFRASTRUCTURE,
    FaultClass.SOFTWARE: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.SOFTWARE_USER: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.SOFTWARE_CONFIG: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.NODE_SOFTWARE: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.DRIVER_BUG: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.FABRIC_MANAGER: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.HOST_CONFIG: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.NETWORK_CONFIG: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.RESOURCES: Outcome.SOFTWARE_OR_CONFIGURATION,
    FaultClass.BENIGN: Outcome.NONE,
    FaultClass.FALSE_POSITIVE: Outcome.NONE,
    FaultClass.STALE_CONDITION: Outcome.NONE,
    FaultClass.OPERATOR_ACTION: Outcome.NONE,
    FaultClass.UNKNOWN: Outcome.NOT_ESTABLISHED,
    FaultClass.AMBIGUOUS: Outcome.NOT_ESTABLISHED,
}


class Remediation(StrEnum):
    """The ladder, mildest first. `escalate` asks a person."""

    NONE = "none"
    RESTART_WORKLOAD = "restart_workload"
    RESET = "reset"
    """Of one GPU. Not offered inside EC2 guests, where it means `reboot`."""
    REBOOT = "reboot"
    REPLACE = "replace"
    ISOLATE = "isolate"
    """Cordon and keep the node for diagnosis, without asking for another one."""
    ESCALATE = "escalate"

    @property
    def takes_node(self) -> bool:
        """Whether work on the node is lost."""
        return self in {Remediation.RESET, Remediation.REBOOT, Remediation.REPLACE, Remediation.ISOLATE}


class Accused(StrEnum):
    """Where the cause sits, as seen from the node that reported it."""

    REPORTER = "reporter"
    PEER = "peer"
    """The other node that the line names (EFA `unresponsive remote`, NVLink sub-code for the peer)."""
    FABRIC = "fabric"
    STORAGE = "storage"
    SITE = "site"
    JOB = "job"
    IMAGE = "image"
    """Driver, AMI, container or cluster configuration: the same on every node."""
    NOBODY = "nobody"


class Confidence(StrEnum):
    """`stated`: the code itself says it. `inferred`: a rule over several signals. `weak`: a usual cause."""

    STATED = "stated"
    INFERRED = "inferred"
    WEAK = "weak"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The classified cause of one or more signals."""

    fault_class: FaultClass
    rule: str
    """Name of the rule that decided, as in `core.health.diagnosis.rules`, or `xid:79` for a table row."""
    first_remediation: Remediation
    repeat_remediation: Remediation
    """When the same fault is back inside the look-back window, or the first action did not help."""
    accused: Accused
    confidence: Confidence
    is_fatal: bool
    """Whether work on the accused node cannot go on: only then may a running job be interrupted."""
    source: str
    """Where the rule's knowledge is from."""
    leading: Signal | None = None
    followers: tuple[Signal, ...] = ()
    node: NodeIdentity | None = None
    """The accused node; with `Accused.PEER` it is the peer, when it can be named."""

    @property
    def outcome(self) -> Outcome:
        return self.fault_class.outcome

    @property
    def code(self) -> str:
        """What makes two faults the same: `xid:79` on two days is one fault come back."""
        return f"{self.leading.kind}:{self.leading.code}" if self.leading is not None else self.rule
