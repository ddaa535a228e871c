"""From signals to faults: the cause, the accused side, the first action."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.health.diagnosis.diagnose import diagnose, diagnose_group, diagnose_report
from core.health.diagnosis.rules import AFTER_TABLE, BEFORE_TABLE
from core.health.faults import Accused, FaultClass, Outcome, Remediation
from core.health.parsing.reader import ReadContext, read_log
from core.health.parsing.registry import PATTERNS
from core.health.signals import NodeIdentity, Signal, SignalFamily
from core.health.table.policy import FaultPolicy, SiteOverride

DATA = Path(__file__).parents[3] / "data" / "health"
UNDECIDABLE = {"ib-err12-meaning": "the excerpt is the same line as ib-err12-gid, whose cause is another"}
START = datetime(2026, 5, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    id: str
    log_excerpt: str
    fault_class: FaultClass
    accused: str | None
    first_remediation: str | None


def cases(name: str) -> list[Labelled]:
    rows = [json.loads(line) for line in (DATA / name).read_text().splitlines()]
    return [
        Labelled(
            id=row["id"],
            log_excerpt=row["log_excerpt"],
            fault_class=FaultClass(row["fault_class"]),
            accused=row.get("accused"),
            first_remediation=row.get("first_remediation"),
        )
        for row in rows
    ]


ALL = [*cases("public_cases.jsonl"), *cases("own_cases.jsonl")]
LABELLED = cases("public_cases.jsonl")


@pytest.mark.parametrize("case", [case for case in ALL if case.id not in UNDECIDABLE], ids=lambda case: case.id)
def test_the_outcome_of_a_known_case_is_found(case: Labelled) -> None:
    assert diagnose_report(case.log_excerpt).outcome is case.fault_class.outcome


@pytest.mark.parametrize("case", LABELLED, ids=lambda case: case.id)
def test_the_accused_side_and_the_first_step_fit_the_label(case: Labelled) -> None:
    fault = diagnose_report(case.log_excerpt)

    assert (fault.accused.value, fault.first_remediation.value) == (case.accused, case.first_remediation)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_a_healthy_node_is_never_condemned(case: Labelled) -> None:
    spared = {Outcome.SOFTWARE_OR_CONFIGURATION, Outcome.NONE}

    condemned = diagnose_report(case.log_excerpt).first_remediation in {Remediation.REPLACE, Remediation.ISOLATE}

    assert not (condemned and case.fault_class.outcome in spared)


def test_every_rule_decides_a_known_case_and_has_a_name_of_its_own() -> None:
    names = [rule.name for rule in (*BEFORE_TABLE, *AFTER_TABLE)]
    decided = {diagnose_report(case.log_excerpt).rule for case in ALL}

    assert len(names) == len(set(names))
    assert set(names) - decided == set()


def test_the_watchdog_on_other_nodes_follows_from_the_gpu_off_the_bus() -> None:
    broken, waiting = NodeIdentity(host="broken"), NodeIdentity(host="waiting")
    signals = [
        *read_log(
            [b"2026-05-01T00:00:00Z NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus.\n"],
            ReadContext(node=broken),
        ),
        *read_log(
            [
                b"2026-05-01T00:10:01Z [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9001, "
                b"OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600000 milliseconds\n"
            ],
            ReadContext(node=waiting),
        ),
    ]

    (fault,) = diagnose(signals)

    assert (fault.fault_class, fault.node) == (FaultClass.GPU_HW_BUS, broken)
    assert "nccl_watchdog_timeout" in {follower.kind for follower in fault.followers}


def test_the_peer_that_efa_names_is_the_accused_node() -> None:
    fault = diagnose_report(
        "libfabric:1:1::efa:cq:f():811<warn> err: 113, message: Unresponsive remote My EFA addr: a "
        "Peer EFA addr: b Peer host id: i-0ff99ee88dd77cc66 (13)"
    )

    assert fault.accused is Accused.PEER
    assert fault.node == NodeIdentity(host="i-0ff99ee88dd77cc66")


def test_xid_154_overrides_the_action_of_the_table() -> None:
    fault = diagnose_report(
        "NVRM: Xid (PCI:0000:9b:00): 64, row remap failure\n"
        "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
    )

    assert fault.first_remediation is Remediation.REPLACE, "no reboot brings spare rows back"

    fault = diagnose_report(
        "NVRM: Xid (PCI:0000:9b:00): 94, Contained ECC error\n"
        "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
    )

    assert fault.first_remediation is Remediation.REBOOT


def test_a_potentially_fatal_switch_error_alone_is_watched() -> None:
    fault = diagnose_report("nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 11001, Link 05 text")

    assert not fault.first_remediation.takes_node


def test_a_site_override_decides_over_the_table() -> None:
    policy = FaultPolicy(overrides=(SiteOverride(key="xid:79", first=Remediation.REPLACE),))

    fault = diagnose_report("NVRM: Xid (PCI:0000:5e:00): 79, GPU has fallen off the bus.", policy)

    assert fault.first_remediation is Remediation.REPLACE


@pytest.mark.parametrize("code", ["0", "999", "100000"])
def test_an_unknown_code_is_not_established_and_touches_no_node(code: str) -> None:
    signal = Signal(kind="xid", family=SignalFamily.KERNEL, code=code)

    fault = diagnose_group([signal])

    assert fault.outcome is Outcome.NOT_ESTABLISHED
    assert not fault.first_remediation.takes_node


def test_a_code_named_beside_another_never_replaces_a_node() -> None:
    fault = diagnose_report("tools disagree on Xid 31 and 64")

    assert fault.first_remediation is not Remediation.REPLACE


@pytest.mark.parametrize(
    "line",
    [
        "Remapping Failure Occurred : No",
        "Remapped Rows: Correctable Error : 0, Uncorrectable Error : 2, Pending : Yes, Remapping Failure Occurred : No",
        "remapped_rows.failure=No",
        "row remap failure: 0",
        "no row remap failures",
        "ROW_REMAP_FAILURE 0",
    ],
)
def test_a_remap_failure_that_did_not_happen_replaces_nothing(line: str) -> None:
    assert diagnose_report(line).first_remediation is not Remediation.REPLACE


@pytest.mark.parametrize(
    "line",
    [
        "Remapping Failure Occurred : Yes",
        "remapped rows failure=Yes",
        "row remap failure on GPU 3",
        "failed to remap row",
    ],
)
def test_a_remap_failure_replaces_the_node(line: str) -> None:
    assert diagnose_report(line).first_remediation is Remediation.REPLACE


def test_a_condition_that_went_back_to_false_needs_nothing() -> None:
    fault = diagnose_report("Node condition NvidiaErrorReboot is now: False, reason: NoNvidiaError")

    assert (fault.outcome, fault.first_remediation) == (Outcome.NONE, Remediation.NONE)


def test_no_signal_at_all_is_not_established() -> None:
    assert diagnose_report("").outcome is Outcome.NOT_ESTABLISHED


def test_every_word_of_a_rule_is_one_that_evidence_can_hold() -> None:
    kinds = {pattern.kind for pattern in PATTERNS}
    derived = {"xid", "xid_first", "memory_worn_out", "sxid", "hardware", "nvlink5", "watchdog", "ib", "dcgm"}

    words = {word for rule in (*BEFORE_TABLE, *AFTER_TABLE) for word in rule.words | rule.unless}

    assert {word for word in words if word.split(":")[0].split(".")[0] not in kinds | derived} == set()


any_signal = st.builds(
    Signal,
    kind=st.sampled_from([pattern.kind for pattern in PATTERNS]) | st.text(max_size=8),
    family=st.sampled_from(list(SignalFamily)),
    code=st.sampled_from(["79", "31", "154", "999"]),
    at=st.none() | st.integers(min_value=-99, max_value=99).map(lambda second: START + timedelta(seconds=second)),
    node=st.none() | st.sampled_from([NodeIdentity(host="a"), NodeIdentity(host="b")]),
    attributes=st.just((("seq", "7"), ("op", "ALLREDUCE"), ("length", "x"), ("ran_ms", "12"), ("more", "then 48"))),
    text=st.text(max_size=30),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(any_signal, max_size=8))
def test_no_mixture_of_signals_raises_and_none_is_dropped(signals: list[Signal]) -> None:
    faults = diagnose(signals)

    explained = [one for fault in faults for one in (fault.leading, *fault.followers) if one is not None]
    assert set(explained) == set(signals)
