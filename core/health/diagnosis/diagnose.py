"""Signals to faults: the leading event found, its followers kept, the accused node named, the first action
given.

    diagnose          a stream of signals -> one fault per root cause
    diagnose_group    the signals of one incident -> its fault
    diagnose_report   a text by a person -> its fault

What no rule and no table explains is `not_established`: thin evidence is said to be thin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.health.diagnosis.coalescing import coalesce
from core.health.diagnosis.evidence import Evidence, GpuCode, gather
from core.health.diagnosis.rule import CauseRule
from core.health.diagnosis.rules import AFTER_TABLE, BEFORE_TABLE
from core.health.faults import Accused, Confidence, Fault, FaultClass, Outcome, Remediation
from core.health.parsing.reader import read_report
from core.health.signals import NodeIdentity, Signal
from core.health.table.policy import FaultEntry, FaultPolicy

_SEVERITY_ORDER = ("always_fatal", "fatal", "warning", "potentially_fatal", "info")
_RECOVERY_TEXTS = {
    "xid154.none": Remediation.NONE,
    "xid154.gpu_reset_required": Remediation.RESET,
    "xid154.node_reboot_required": Remediation.REBOOT,
    "xid154.drain_p2p": Remediation.RESTART_WORKLOAD,
    "xid154.drain_and_reset": Remediation.RESET,
}
"""NVIDIA's Xid 154 names the recovery; its text overrides the table."""
_DEFAULT_POLICY = FaultPolicy()


def diagnose(signals: Iterable[Signal], policy: FaultPolicy = _DEFAULT_POLICY) -> tuple[Fault, ...]:
    """One fault per root cause, in order of onset. Never raises on what a signal holds."""
    return tuple(diagnose_group(group, policy) for group in coalesce(signals))


def diagnose_report(text: str, policy: FaultPolicy = _DEFAULT_POLICY) -> Fault:
    """A report is about one incident: its signals are not split by time."""
    return diagnose_group(read_report(text), policy)


def diagnose_group(signals: Sequence[Signal], policy: FaultPolicy = _DEFAULT_POLICY) -> Fault:
    """The cause of one group of signals."""
    evidence = gather(signals, policy)
    if decided := _first_fitting(BEFORE_TABLE, evidence, policy):
        return decided
    leading = _leading_code(evidence.codes)
    if leading is not None and leading.entry.severity != "info":
        return _table_fault(leading, evidence, policy)
    if decided := _first_fitting(AFTER_TABLE, evidence, policy):
        return decided
    if leading is not None:
        return _table_fault(leading, evidence, policy)
    return _not_established(evidence)


def _first_fitting(rules: Sequence[CauseRule], evidence: Evidence, policy: FaultPolicy) -> Fault | None:
    for rule in rules:
        if rule.fits(evidence.tokens):
            return _rule_fault(rule, evidence, policy)
    return None


def _rule_fault(rule: CauseRule, evidence: Evidence, policy: FaultPolicy) -> Fault:
    leading = evidence.first_of(rule.words)
    return Fault(
        fault_class=rule.fault_class,
        rule=rule.name,
        first_remediation=_on_platform(rule.first, policy),
        repeat_remediation=_on_platform(rule.repeat, policy),
        accused=rule.accused,
        confidence=rule.confidence,
        is_fatal=rule.first.takes_node and rule.fault_class.outcome is Outcome.NODE,
        source=rule.source,
        leading=leading,
        followers=_others(evidence.signals, leading),
        node=_accused_node(rule.accused, leading),
    )


def _leading_code(codes: Sequence[GpuCode]) -> GpuCode | None:
    """The most serious code that the table can judge; of equals the first. Others follow from it."""
    judged = [code for code in codes if code.entry.severity in _SEVERITY_ORDER and not _is_detail(code, codes)]
    has_gpu_nvlink_error = any(code.entry.key == "xid:74" for code in codes)
    return min(
        (code for code in judged if code.entry.severity != "potentially_fatal" or has_gpu_nvlink_error),
        key=lambda code: _SEVERITY_ORDER.index(code.entry.severity),
        default=None,
    )


def _is_detail(code: GpuCode, codes: Sequence[GpuCode]) -> bool:
    """171 and 172 only say where a 48 was."""
    return code.entry.key in {"xid:171", "xid:172"} and any(other.entry.key == "xid:48" for other in codes)


def _table_fault(code: GpuCode, evidence: Evidence, policy: FaultPolicy) -> Fault:
    entry = code.entry
    is_follower_alone = entry.key == "xid:45"
    return Fault(
        fault_class=entry.fault_class,
        rule=entry.key,
        first_remediation=_obeying_xid154(code, evidence, policy),
        repeat_remediation=Remediation.ESCALATE if is_follower_alone else entry.repeat_remediation,
        accused=_accused_by(entry),
        confidence=Confidence.WEAK if entry.peers_disagree else Confidence.STATED,
        is_fatal=entry.is_fatal and entry.fault_class.outcome is Outcome.NODE,
        source=entry.source,
        leading=code.signal,
        followers=_others(evidence.signals, code.signal),
        node=code.signal.node,
    )


def _obeying_xid154(code: GpuCode, evidence: Evidence, policy: FaultPolicy) -> Remediation:
    entry = code.entry
    if entry.fault_class.outcome is not Outcome.NODE:
        return entry.first_remediation
    if code.is_aside and entry.first_remediation is Remediation.REPLACE:
        return Remediation.ESCALATE
    named = [remediation for token, remediation in _RECOVERY_TEXTS.items() if token in evidence.tokens]
    return _on_platform(named[-1], policy) if named else entry.first_remediation


def _accused_by(entry: FaultEntry) -> Accused:
    match entry.fault_class.outcome:
        case Outcome.NODE:
            return Accused.FABRIC if entry.fault_class is FaultClass.NVLINK_SWITCH else Accused.REPORTER
        case Outcome.SOFTWARE_OR_CONFIGURATION:
            return Accused.IMAGE if entry.fault_class is FaultClass.DRIVER_BUG else Accused.JOB
        case _:
            return Accused.NOBODY


def _on_platform(remediation: Remediation, policy: FaultPolicy) -> Remediation:
    if remediation is Remediation.RESET and not policy.can_reset_gpu:
        return Remediation.REBOOT
    return remediation


def _accused_node(accused: Accused, leading: Signal | None) -> NodeIdentity | None:
    if leading is None:
        return None
    if accused is Accused.PEER:
        peer = leading.peer or leading.attribute("peer_id")
        return NodeIdentity(host=peer) if peer else None
    return leading.node


def _others(signals: Sequence[Signal], leading: Signal | None) -> tuple[Signal, ...]:
    return tuple(signal for signal in signals if signal is not leading)


def _not_established(evidence: Evidence) -> Fault:
    leading = min(evidence.signals, key=lambda signal: signal.layer, default=None)
    return Fault(
        fault_class=FaultClass.UNKNOWN,
        rule="thin_evidence",
        first_remediation=Remediation.ESCALATE,
        repeat_remediation=Remediation.ESCALATE,
        accused=Accused.NOBODY,
        confidence=Confidence.WEAK,
        is_fatal=False,
        source="no rule and no table explains it",
        leading=leading,
        followers=_others(evidence.signals, leading),
        node=leading.node if leading is not None else None,
    )
