"""The fault table as policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.faults import FaultClass, Outcome, Remediation
from core.health.table.policy import FaultPolicy, SiteOverride
from core.health.table.xids import ROWS

ON_EC2 = FaultPolicy()


def test_the_table_holds_every_xid_of_the_catalogue() -> None:
    assert [int(row.split("|")[0]) for row in ROWS.splitlines()] == list(range(1, 177))


@pytest.mark.parametrize(
    ("code", "first", "repeat"),
    [
        (13, Remediation.RESTART_WORKLOAD, Remediation.REPLACE),
        (48, Remediation.REBOOT, Remediation.REPLACE),
        (64, Remediation.REPLACE, Remediation.REPLACE),
        (79, Remediation.REBOOT, Remediation.REPLACE),
        (94, Remediation.RESTART_WORKLOAD, Remediation.REBOOT),
        (119, Remediation.REBOOT, Remediation.REBOOT),
    ],
)
def test_the_first_action_is_milder_than_the_repeat(code: int, first: Remediation, repeat: Remediation) -> None:
    entry = ON_EC2.xid(code)

    assert (entry.first_remediation, entry.repeat_remediation) == (first, repeat)


def test_a_gpu_reset_is_a_reboot_on_ec2_and_says_so() -> None:
    entry = ON_EC2.xid(46)

    assert entry.first_remediation is Remediation.REBOOT
    assert "PR 1190" in entry.source


def test_a_gpu_reset_stays_one_where_the_platform_can_do_it() -> None:
    assert FaultPolicy(can_reset_gpu=True).xid(46).first_remediation is Remediation.RESET


def test_a_site_override_wins_and_shows_both_sources() -> None:
    policy = FaultPolicy(overrides=(SiteOverride(key="xid:94", first=Remediation.REPLACE, source="ticket 12"),))

    entry = policy.xid(94)

    assert entry.first_remediation is Remediation.REPLACE
    assert entry.repeat_remediation is Remediation.REBOOT
    assert entry.source.startswith("ticket 12 (table: ")


@given(st.integers())
def test_an_unknown_xid_is_never_a_reason_to_take_a_node(code: int) -> None:
    entry = ON_EC2.xid(code)

    assert entry.fault_class is not FaultClass.UNKNOWN or entry.first_remediation is Remediation.ESCALATE


@given(st.text())
def test_an_unknown_dcgm_code_is_not_established(code: str) -> None:
    assert ON_EC2.dcgm(f"DCGM_FR_{code}!").fault_class.outcome is Outcome.NOT_ESTABLISHED


def test_no_first_action_of_the_switch_table_replaces_a_node() -> None:
    assert ON_EC2.sxid(20034).first_remediation is not Remediation.REPLACE
