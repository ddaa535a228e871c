"""What ends a condition, and what does not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.health.faults import FaultClass
from core.health.remediation.clearing import (
    CLEAR_RULES,
    ClearingEvent,
    Condition,
    NodeEvent,
    Probe,
    is_cleared,
)
from core.health.signals import NodeIdentity
from tests.builders.health import NOW

HERE = NodeIdentity(host="n", boot_id="1")
REBOOTED = NodeIdentity(host="n", boot_id="2")


def condition(fault_class: FaultClass) -> Condition:
    return Condition(node=HERE, fault_class=fault_class, last_seen_at=NOW)


def event(kind: ClearingEvent, *, minutes: int = 5, node: NodeIdentity = HERE, probe: Probe | None = None) -> NodeEvent:
    return NodeEvent(kind=kind, node=node, at=NOW + timedelta(minutes=minutes), probe=probe)


def test_every_fault_class_has_a_clear_rule() -> None:
    assert CLEAR_RULES.keys() == set(FaultClass)


@pytest.mark.parametrize("fault_class", FaultClass)
def test_the_restart_of_an_agent_clears_nothing(fault_class: FaultClass) -> None:
    assert not is_cleared(condition(fault_class), [event(ClearingEvent.AGENT_RESTARTED, minutes=9999)])


@pytest.mark.parametrize("fault_class", FaultClass)
def test_a_replacement_and_a_person_clear_everything(fault_class: FaultClass) -> None:
    assert is_cleared(condition(fault_class), [event(ClearingEvent.REPLACED)])
    assert is_cleared(condition(fault_class), [event(ClearingEvent.PERSON_CLEARED)])


def test_a_reboot_alone_does_not_make_broken_hardware_healthy() -> None:
    rebooted = event(ClearingEvent.REBOOTED, node=REBOOTED)

    assert not is_cleared(condition(FaultClass.GPU_HW_MEMORY), [rebooted])
    assert is_cleared(
        condition(FaultClass.GPU_HW_MEMORY),
        [rebooted, event(ClearingEvent.PROBE_PASSED, probe=Probe.ROW_REMAP_CLEAN)],
    )


def test_another_probe_than_the_rule_s_proves_nothing() -> None:
    passed = event(ClearingEvent.PROBE_PASSED, probe=Probe.NETWORK_PAIR)

    assert not is_cleared(condition(FaultClass.GPU_HW_BUS), [passed])


def test_a_reboot_needs_another_boot_id() -> None:
    node_software = condition(FaultClass.NODE_SOFTWARE)

    assert not is_cleared(node_software, [event(ClearingEvent.REBOOTED, node=HERE)])
    assert is_cleared(node_software, [event(ClearingEvent.REBOOTED, node=REBOOTED)])


def test_quiet_counts_only_while_data_arrives() -> None:
    network = condition(FaultClass.NETWORK)

    assert not is_cleared(network, [])
    assert not is_cleared(network, [event(ClearingEvent.DATA_SEEN, minutes=9)])
    assert is_cleared(network, [event(ClearingEvent.DATA_SEEN, minutes=10)])


def test_an_event_before_the_fault_or_on_another_node_does_not_count() -> None:
    elsewhere = event(ClearingEvent.REPLACED, node=NodeIdentity(host="m"))

    assert not is_cleared(condition(FaultClass.NETWORK), [event(ClearingEvent.REPLACED, minutes=-1), elsewhere])
