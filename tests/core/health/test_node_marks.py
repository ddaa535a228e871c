"""HyperPod's and Kubernetes' marks of a node."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.diagnosis.diagnose import diagnose_group
from core.health.faults import Outcome, Remediation
from core.health.node_marks import (
    DEEP_CHECK_STATUS,
    FAULT_DETAILS,
    FAULT_TYPES,
    HEALTH_STATUS,
    Contradiction,
    NodeCondition,
    ReadMarks,
    read_marks,
)
from core.health.signals import NodeIdentity
from tests.builders.health import NOW

NODE = NodeIdentity(host="n")


def marks(
    labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None, *conditions: NodeCondition
) -> ReadMarks:
    return read_marks(node=NODE, labels=labels or {}, annotations=annotations or {}, conditions=conditions, at=NOW)


def condition(kind: str, status: str = "True", reason: str = "XidHardwareFailure") -> NodeCondition:
    return NodeCondition(type=kind, status=status, reason=reason)


def test_a_healthy_node_has_no_signal() -> None:
    read = marks({HEALTH_STATUS: "Schedulable"}, None, condition("Ready"), condition("DiskPressure", "False"))

    assert read == ReadMarks(signals=(), contradictions=())


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        ("NvidiaErrorTerminate", Remediation.REPLACE),
        ("NvidiaErrorReboot", Remediation.REBOOT),
        ("SoftwareError", Remediation.NONE),
        ("NetworkFaultType", Remediation.ESCALATE),
    ],
)
def test_a_condition_is_diagnosed_by_its_fault_type(kind: str, first: Remediation) -> None:
    assert diagnose_group(marks(None, None, condition(kind)).signals).first_remediation is first


def test_a_condition_that_is_false_is_no_signal() -> None:
    assert marks(None, None, condition("NvidiaErrorReboot", "False")).signals == ()


def test_an_unknown_fault_type_is_kept_as_written_and_takes_no_node() -> None:
    read = marks(None, None, condition("QuantumFlux"))

    assert "QuantumFlux" in {signal.code for signal in read.signals}
    assert not diagnose_group(read.signals).first_remediation.takes_node


def test_labels_and_annotation_name_faults_too() -> None:
    details = json.dumps([{"timestamp": "2026-05-01T11:00:00+00:00", "type": "NvidiaErrorReboot", "message": "m"}])
    read = marks({FAULT_TYPES[0]: "NvidiaErrorTerminate", DEEP_CHECK_STATUS: "Failed"}, {FAULT_DETAILS: details})

    assert {(signal.kind, signal.code) for signal in read.signals} == {
        ("fault_type", "NvidiaErrorTerminate"),
        ("fault_type", "NvidiaErrorReboot"),
        ("deep_check", "Failed"),
    }
    assert min(signal.at for signal in read.signals if signal.at) == NOW - timedelta(hours=1)


@pytest.mark.parametrize("annotation", ["{", "17", "[1, null]", "[" * 5000, '[{"timestamp": 5}]'])
def test_an_annotation_of_another_shape_never_raises(annotation: str) -> None:
    marks(None, {FAULT_DETAILS: annotation})


def test_a_schedulable_node_with_a_fault_is_a_contradiction() -> None:
    read = marks({HEALTH_STATUS: "Schedulable"}, None, condition("NvidiaErrorTerminate"))

    assert read.contradictions == (Contradiction.SCHEDULABLE_WITH_FAULT,)


def test_a_pending_repair_without_any_fault_is_a_contradiction() -> None:
    assert marks({HEALTH_STATUS: "UnschedulablePendingReboot"}).contradictions == (Contradiction.PENDING_WITHOUT_FAULT,)


def test_a_node_that_is_not_ready_says_so() -> None:
    read = marks(None, None, NodeCondition(type="Ready", status="Unknown", reason="NodeStatusUnknown"))

    assert [signal.kind for signal in read.signals] == ["node_not_ready"]
    assert diagnose_group(read.signals).outcome is not Outcome.NODE


@given(st.dictionaries(st.sampled_from([HEALTH_STATUS, *FAULT_TYPES, DEEP_CHECK_STATUS]), st.text()), st.text())
def test_no_marks_raise(labels: dict[str, str], annotation: str) -> None:
    diagnose_group(marks(labels, {FAULT_DETAILS: annotation}).signals)
