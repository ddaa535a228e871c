"""FaultPolicy: what is done first about a fault code, what when it returns, and who says so.

Built from the tables beside this file. Tools disagree on many codes, so a site may override any row; the
override is shown as the source then. The tables speak NVIDIA's and their own words (`TableAction`);
`remediation_of` maps them to the ladder for the platform: inside an EC2 guest a GPU reset is unreliable
with the fabric manager and nobody can send a card back, so a reset means a reboot and "diagnose, then
replace" means replace (awslabs gpu-cluster-healthcheck, pull request 1190).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, assert_never

from core.health.faults import FaultClass, Remediation
from core.health.table.dcgm_codes import ACTIONS as DCGM_ACTIONS
from core.health.table.sxids import ROWS as SXID_ROWS
from core.health.table.xids import ROWS as XID_ROWS
from core.health.table.xids import SOURCES as XID_SOURCES

EC2_RESET_SOURCE = "on EC2 a GPU reset is done as a reboot (awslabs gpu-cluster-healthcheck PR 1190)"


class TableAction(StrEnum):
    """The words of the tables."""

    NONE = "none"
    RESTART_APP = "restart_app"
    SCHEDULE_RESET_GPU = "schedule_reset_gpu"
    RESET_GPU = "reset_gpu"
    RESET_GPU_IF_UVM = "reset_gpu_if_uvm"
    DRAIN_THEN_RESET_GPU = "drain_then_reset_gpu"
    REBOOT_NODE = "reboot_node"
    REBOOT_NODE_IF_GPU_XID74 = "reboot_node_if_gpu_xid74_else_watch"
    REPLACE_NODE = "replace_node"
    RUN_DIAG_THEN_REPLACE = "run_diag_then_replace"
    UPDATE_SOFTWARE = "update_software"
    RESTART_FABRIC_MANAGER_IF_SOLO = "restart_fabric_manager_if_solo"
    CHECK_COOLING = "check_cooling"
    CHECK_FABRIC_MANAGER = "check_fabric_manager"
    ENABLE_ECC = "enable_ecc"
    MANUAL = "manual"
    DECODE_INTRINFO = "decode_intrinfo"
    FOLLOW_TEXT = "follow_text"
    SEE_48 = "see_48"


def remediation_of(action: TableAction, *, can_reset_gpu: bool = False) -> Remediation:
    """The ladder's word for a table's word. Rows that say "read further" ask a person until that was done."""
    match action:
        case TableAction.NONE | TableAction.REBOOT_NODE_IF_GPU_XID74:
            return Remediation.NONE
        case TableAction.RESTART_APP:
            return Remediation.RESTART_WORKLOAD
        case TableAction.SCHEDULE_RESET_GPU | TableAction.RESET_GPU | TableAction.RESET_GPU_IF_UVM:
            return Remediation.RESET if can_reset_gpu else Remediation.REBOOT
        case TableAction.DRAIN_THEN_RESET_GPU | TableAction.SEE_48:
            return Remediation.RESET if can_reset_gpu else Remediation.REBOOT
        case TableAction.REBOOT_NODE:
            return Remediation.REBOOT
        case TableAction.REPLACE_NODE | TableAction.RUN_DIAG_THEN_REPLACE:
            return Remediation.REPLACE
        case (
            TableAction.UPDATE_SOFTWARE
            | TableAction.RESTART_FABRIC_MANAGER_IF_SOLO
            | TableAction.CHECK_COOLING
            | TableAction.CHECK_FABRIC_MANAGER
            | TableAction.ENABLE_ECC
            | TableAction.MANUAL
            | TableAction.DECODE_INTRINFO
            | TableAction.FOLLOW_TEXT
        ):
            return Remediation.ESCALATE
        case _:
            assert_never(action)


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultEntry:
    """One row of the policy, `key` being `xid:79`, `sxid:20034` or `dcgm:DCGM_FR_FALLEN_OFF_BUS`."""

    key: str
    name: str
    fault_class: FaultClass
    severity: str
    """fatal, always_fatal, potentially_fatal, warning, info, meta, per_subcode, unexpected, unknown."""
    first: TableAction
    repeat: TableAction
    first_remediation: Remediation
    repeat_remediation: Remediation
    peers_disagree: bool
    source: str

    @property
    def is_fatal(self) -> bool:
        return self.severity in {"fatal", "always_fatal"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOverride:
    """What one site does about one code instead. Absent parts keep the table's answer."""

    key: str
    first: Remediation | None = None
    repeat: Remediation | None = None
    fault_class: FaultClass | None = None
    source: str = "site override"


_LADDER_OF_DCGM: Final[dict[str, TableAction]] = {
    "NONE": TableAction.NONE,
    "COMPONENT_RESET": TableAction.RESET_GPU,
    "RESTART_VM": TableAction.REBOOT_NODE,
    "RESTART_BM": TableAction.REBOOT_NODE,
    "CONTACT_SUPPORT": TableAction.MANUAL,
}


def _first_of(action: TableAction, *, can_reset_gpu: bool) -> Remediation:
    """Diagnosing comes before replacing: on a cloud node the first try is a reboot (PR 1190)."""
    if action is TableAction.RUN_DIAG_THEN_REPLACE:
        return Remediation.REBOOT
    return remediation_of(action, can_reset_gpu=can_reset_gpu)


@dataclass(frozen=True, slots=True)
class FaultPolicy:
    """The tables with a site's overrides. Unknown codes answer with an entry of class `unknown`: warn,
    ask."""

    can_reset_gpu: bool = False
    """False inside EC2 guests, so on HyperPod always."""
    overrides: tuple[SiteOverride, ...] = ()
    _by_key: Mapping[str, SiteOverride] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {override.key: override for override in self.overrides})

    def xid(self, code: int) -> FaultEntry:
        return self._finish(_XIDS.get(code) or _unknown_entry(f"xid:{code}"))

    def sxid(self, code: int) -> FaultEntry:
        return self._finish(_SXIDS.get(code) or _unknown_entry(f"sxid:{code}"))

    def dcgm(self, code: str) -> FaultEntry:
        return self._finish(_DCGM.get(code) or _unknown_entry(f"dcgm:{code}"))

    def _finish(self, entry: FaultEntry) -> FaultEntry:
        first = _first_of(entry.first, can_reset_gpu=self.can_reset_gpu)
        repeat = remediation_of(entry.repeat, can_reset_gpu=self.can_reset_gpu)
        source = entry.source
        if not self.can_reset_gpu and "reset_gpu" in entry.first:
            source = f"{source}; {EC2_RESET_SOURCE}"
        finished = replace(entry, first_remediation=first, repeat_remediation=repeat, source=source)
        override = self._by_key.get(entry.key)
        if override is None:
            return finished
        return replace(
            finished,
            first_remediation=override.first or first,
            repeat_remediation=override.repeat or repeat,
            fault_class=override.fault_class or entry.fault_class,
            source=f"{override.source} (table: {source})",
        )


def is_known_xid(code: int) -> bool:
    return code in _XIDS


def _unknown_entry(key: str) -> FaultEntry:
    return _entry(key, "not in any table", FaultClass.UNKNOWN, "unknown", "manual", "manual", False, "no table")


def _entry(
    key: str,
    name: str,
    fault_class: FaultClass,
    severity: str,
    first: str,
    repeat: str,
    peers_disagree: bool,
    source: str,
) -> FaultEntry:
    return FaultEntry(
        key=key,
        name=name,
        fault_class=fault_class,
        severity=severity,
        first=TableAction(first),
        repeat=TableAction(repeat),
        first_remediation=Remediation.ESCALATE,
        repeat_remediation=Remediation.ESCALATE,
        peers_disagree=peers_disagree,
        source=source,
    )


def _read_xids() -> dict[int, FaultEntry]:
    entries = {}
    for row in XID_ROWS.splitlines():
        code, name, _domain, severity, first, repeat, fault_class, disagree, letters = row.split("|")
        source = ", ".join(XID_SOURCES[letter] for letter in letters)
        entries[int(code)] = _entry(
            f"xid:{code}", name, FaultClass(fault_class), severity, first, repeat, disagree == "yes", source
        )
    return entries


def _read_sxids() -> dict[int, FaultEntry]:
    entries = {}
    for row in SXID_ROWS.splitlines():
        code, name, severity, first, bucket, letters = row.split("|")
        fault_class = {
            "info": FaultClass.BENIGN,
            "unexpected": FaultClass.UNKNOWN,
            "unknown": FaultClass.UNKNOWN,
        }
        entries[int(code)] = _entry(
            f"sxid:{code}",
            name,
            fault_class.get(severity, FaultClass.NVLINK_SWITCH),
            severity,
            first,
            "replace_node" if severity in {"fatal", "always_fatal"} else "manual",
            False,
            f"NVSwitch SXid table ({letters}, bucket {bucket})",
        )
    return entries


_DCGM_MEMORY: Final = ("DBE", "ROW_REMAP", "RETIRE", "MEMORY", "UNCONTAINED", "SRAM", "ECC_PENDING")
_DCGM_TOOL: Final = (
    *(
        "UNKNOWN",
        "UNRECOGNIZED",
        "NO_ACCESS",
        "NVML",
        "BAD_PARAMETER",
        "CANNOT",
        "DENYLISTED",
        "GRAPHICS_PROCESSES",
    ),
    *(
        "HOSTENGINE",
        "PERSISTENCE",
        "UNSUPPORTED",
        "INTERNAL",
        "ECC_DISABLED",
        "CUDA_ENV",
        "OP_MODE",
        "EMPTY_GPU",
    ),
    *(
        "CONCURRENT",
        "DCGM_API",
        "BINARY",
        "NON_ROOT",
        "SPAWN",
        "FILE_CREATE",
        "PAUSE",
        "CUDA_API",
        "CUDA_CONTEXT",
    ),
    *(
        "MEMORY_ALLOC",
        "L1TAG_UNSUPPORTED",
        "API_FAIL",
        "CUDA_UNBOUND",
        "STRESS_LEVEL",
        "EUD_TIMEOUT",
        "ENFORCED",
    ),
    *("NO_MEMORY_CLOCKS", "MEMORY_MISMATCH", "CUDA_DEVICE", "TOO_MANY_ERRORS", "TEMP_VIOLATION_TOOL"),
)


def _dcgm_class(code: str, action: str) -> FaultClass:
    if action == "NONE":
        return FaultClass.BENIGN
    if "FM_NOT_INITIALIZED" in code or "FABRIC_MANAGER" in code or "IMEX" in code or "FABRIC_PROBE" in code:
        return FaultClass.FABRIC_MANAGER
    if any(word in code for word in _DCGM_TOOL):
        return FaultClass.UNKNOWN
    if "NVSWITCH" in code:
        return FaultClass.NVLINK_SWITCH
    if any(word in code for word in _DCGM_MEMORY):
        return FaultClass.GPU_HW_MEMORY
    return FaultClass.GPU_HW_BUS if "FALLEN" in code or "PCI" in code else FaultClass.GPU_HW


def _read_dcgm() -> dict[str, FaultEntry]:
    return {
        code: _entry(
            f"dcgm:{code}",
            code.removeprefix("DCGM_FR_").lower(),
            _dcgm_class(code, action),
            "info" if action == "NONE" else "warning",
            _LADDER_OF_DCGM[action],
            "replace_node" if _dcgm_class(code, action).outcome == "node" else "manual",
            False,
            "NVIDIA/NVSentinel dcgmerrorsmapping.csv",
        )
        for code, action in DCGM_ACTIONS.items()
    }


_XIDS: Final = _read_xids()
_SXIDS: Final = _read_sxids()
_DCGM: Final = _read_dcgm()
