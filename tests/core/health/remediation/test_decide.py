"""The decision about one fault, and every guard that can stop it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.cluster.clusters import NodeHealthStatus, NodeRecovery
from core.health.faults import Confidence, Remediation
from core.health.remediation.decide import Verdict, decide, next_remediation
from core.health.remediation.fleet import BreakerState, Fleet, StandingApproval
from core.health.remediation.guards import GUARDS
from core.health.remediation.refusals import RefusalCause
from core.health.signals import NodeIdentity, Signal, SignalFamily
from core.ids import InstanceId
from core.messages.message import Language
from tests.builders.health import BROKEN, NOW, a_fault, a_fleet, a_node, a_repair, a_sighting

HOUR = timedelta(hours=1)
STANDING = StandingApproval(
    remediations=frozenset({Remediation.REBOOT}), groups=frozenset({"gpu"}), left=1, until=NOW + HOUR
)


def causes(fleet: Fleet, **fault_changes: object) -> set[RefusalCause]:
    return {refused.cause for refused in decide(a_fault(**fault_changes), fleet).refusals}  # type: ignore[arg-type]


def test_a_first_fault_is_proposed_with_the_mildest_rung() -> None:
    decision = decide(a_fault(), a_fleet())

    assert (decision.verdict, decision.remediation) == (Verdict.PROPOSE, Remediation.REBOOT)


def test_the_same_fault_again_goes_up_the_ladder() -> None:
    fleet = a_fleet(faults=(a_sighting(at=NOW - HOUR),))

    assert next_remediation(a_fault(), fleet) is Remediation.REPLACE


def test_the_same_fault_a_third_time_is_for_a_person() -> None:
    fleet = a_fleet(faults=(a_sighting(at=NOW - HOUR), a_sighting(at=NOW - 2 * HOUR)))

    assert decide(a_fault(), fleet).verdict is Verdict.ESCALATE


def test_a_sighting_of_the_present_incident_is_no_repeat() -> None:
    started = NOW - timedelta(minutes=1)
    fleet = a_fleet(faults=(a_sighting(at=started),))

    assert next_remediation(a_fault(), fleet, started) is Remediation.REBOOT


@pytest.mark.parametrize(
    "sighting",
    [
        a_sighting(at=NOW - 25 * HOUR),
        a_sighting(host="node-1", at=NOW - HOUR),
        a_sighting(at=NOW - HOUR, code="xid:48"),
    ],
    ids=["too long ago", "on another node", "of another code"],
)
def test_what_is_not_the_same_fault_here_and_lately_is_no_repeat(sighting: object) -> None:
    assert next_remediation(a_fault(), a_fleet(faults=(sighting,))) is Remediation.REBOOT


def test_a_standing_approval_lets_muster_act() -> None:
    assert decide(a_fault(), a_fleet(standing=(STANDING,))).verdict is Verdict.ACT


@pytest.mark.parametrize(
    ("left", "until", "groups"),
    [(0, NOW + HOUR, {"gpu"}), (1, NOW, {"gpu"}), (1, NOW + HOUR, {"cpu"})],
    ids=["used up", "expired", "another group"],
)
def test_a_standing_approval_is_bounded(left: int, until: datetime, groups: set[str]) -> None:
    standing = StandingApproval(
        remediations=frozenset({Remediation.REBOOT}), groups=frozenset(groups), left=left, until=until
    )

    assert decide(a_fault(), a_fleet(standing=(standing,))).verdict is Verdict.PROPOSE


def test_with_automatic_recovery_hyperpod_is_followed() -> None:
    decision = decide(a_fault(), a_fleet(node_recovery=NodeRecovery.AUTOMATIC))

    assert decision.verdict is Verdict.FOLLOW
    assert decision.ask_again_at == NOW + timedelta(minutes=10)


def test_what_hyperpod_did_not_do_in_time_is_proposed() -> None:
    fleet = a_fleet(node_recovery=NodeRecovery.AUTOMATIC)

    assert decide(a_fault(), fleet, first_seen_at=NOW - HOUR).verdict is Verdict.PROPOSE


def test_what_hyperpod_cannot_see_is_proposed_at_once() -> None:
    fault = a_fault(leading=Signal(kind="efa_unresponsive_remote", family=SignalFamily.NETWORK))

    assert decide(fault, a_fleet(node_recovery=NodeRecovery.AUTOMATIC)).verdict is Verdict.PROPOSE


def test_a_pending_label_says_what_hyperpod_is_about_to_do() -> None:
    node = a_node(health=NodeHealthStatus.UNSCHEDULABLE_PENDING_REPLACEMENT)
    fleet = a_fleet(broken=node, node_recovery=NodeRecovery.AUTOMATIC)

    assert decide(a_fault(), fleet, first_seen_at=NOW - HOUR).remediation is Remediation.REPLACE


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"is_paused": True}, RefusalCause.PAUSED),
        ({"broken": a_node(is_managed=False)}, RefusalCause.NODE_UNMANAGED),
        ({"broken": a_node(is_controller=True)}, RefusalCause.CONTROLLER_NODE),
        ({"broken": a_node(in_repair=True)}, RefusalCause.ALREADY_IN_REPAIR),
        ({"broken": a_node(cordoned_by="alice")}, RefusalCause.CORDONED_BY_OTHER),
        ({"breaker": BreakerState.TRIPPED}, RefusalCause.BREAKER_TRIPPED),
        ({"storm_ended_at": NOW - timedelta(minutes=9)}, RefusalCause.STORM_EXIT_DELAY),
        (
            {"faults": tuple(a_sighting(f"node-{n}", NOW - HOUR / 2) for n in (1, 2))},
            RefusalCause.FLEET_WIDE_CODE,
        ),
        (
            {"repairs": tuple(a_repair(at=NOW - n * 25 * HOUR) for n in range(1, 6))},
            RefusalCause.NODE_BUDGET_SPENT,
        ),
        ({"repairs": tuple(a_repair(at=NOW - n * HOUR) for n in range(1, 4))}, RefusalCause.FLAPPING),
        ({"repairs": (a_repair(at=NOW - HOUR, remediation=Remediation.REPLACE),)}, RefusalCause.REPLACED_ALREADY),
        (
            {"size": 4, "repairs": tuple(a_repair(f"node-{n}", NOW) for n in (1, 2))},
            RefusalCause.BREAKER_WOULD_TRIP,
        ),
    ],
    ids=lambda value: value.value if isinstance(value, RefusalCause) else "",
)
def test_a_guard_objects(changes: dict[str, object], cause: RefusalCause) -> None:
    decision = decide(a_fault(), a_fleet(**changes))  # type: ignore[arg-type]

    assert cause in {refused.cause for refused in decision.refusals}
    assert decision.verdict in {Verdict.DEFER, Verdict.ESCALATE}


def test_a_storm_stops_all_repairs() -> None:
    nodes = tuple(a_node(f"node-{number}", is_healthy=number > 10) for number in range(20))

    assert RefusalCause.STORM in causes(a_fleet(nodes=nodes))


def test_an_inferred_finding_has_to_be_seen_twice() -> None:
    fault = a_fault(confidence=Confidence.INFERRED)

    assert decide(fault, a_fleet()).verdict is Verdict.DEFER
    assert decide(fault, a_fleet(), confirmations=2).verdict is Verdict.PROPOSE


def test_a_job_that_can_go_on_is_not_killed_but_the_node_is_cordoned() -> None:
    decision = decide(a_fault(is_fatal=False), a_fleet(broken=a_node(running_jobs=("llm-7b",))))

    assert (decision.verdict, decision.cordon_now) == (Verdict.DEFER, True)


def test_a_fatal_fault_takes_the_node_with_its_job_and_lists_it() -> None:
    node = a_node(running_jobs=("llm-7b",), local_volumes=("nvme",))
    decision = decide(a_fault(first_remediation=Remediation.REPLACE), a_fleet(broken=node))

    assert decision.verdict is Verdict.PROPOSE
    assert (decision.blast_radius.jobs, decision.blast_radius.volumes) == (("llm-7b",), ("nvme",))


def test_a_replacement_takes_a_healthy_idle_spare_of_the_group_first() -> None:
    spare = a_node("spare", is_spare=True)
    others = (a_node("busy", is_spare=True, running_jobs=("j",)), a_node("other", is_spare=True, group="cpu"))
    fleet = a_fleet(nodes=(a_node(), *others, spare, *(a_node(f"n{i}") for i in range(9))))

    assert decide(a_fault(first_remediation=Remediation.REPLACE), fleet).spare == spare.identity


def test_a_node_that_returned_under_its_name_as_another_machine_is_left_alone() -> None:
    old = NodeIdentity(host="node-0", instance_id=InstanceId("i-00000001"))
    new = a_node(identity=NodeIdentity(host="node-0", instance_id=InstanceId("i-00000002")))

    assert causes(a_fleet(broken=new), node=old) == {RefusalCause.TARGET_IS_ANOTHER_INSTANCE}


def test_a_node_that_vanished_is_left_alone() -> None:
    assert causes(a_fleet(), node=NodeIdentity(host="gone")) == {RefusalCause.TARGET_UNKNOWN}


def test_a_software_fault_touches_no_node() -> None:
    decision = decide(a_fault(first_remediation=Remediation.NONE), a_fleet())

    assert (decision.verdict, decision.refusals) == (Verdict.NOTHING, ())


def test_every_reason_is_told_at_once() -> None:
    fleet = a_fleet(is_paused=True, broken=a_node(is_managed=False, in_repair=True))

    assert {RefusalCause.PAUSED, RefusalCause.NODE_UNMANAGED, RefusalCause.ALREADY_IN_REPAIR} <= causes(fleet)


@pytest.mark.parametrize("language", Language)
def test_every_refusal_reads_in_both_languages(language: Language) -> None:
    fleet = a_fleet(
        size=4,
        is_paused=True,
        breaker=BreakerState.TRIPPED,
        broken=a_node(is_managed=False, is_controller=True, in_repair=True, cordoned_by="alice", running_jobs=("j",)),
    )

    for refused in decide(a_fault(is_fatal=False), fleet).refusals:
        assert refused.message.render(language)


nodes = st.builds(
    a_node,
    st.sampled_from([f"node-{number}" for number in range(4)]),
    is_healthy=st.booleans(),
    running_jobs=st.sampled_from([(), ("j",)]),
    cordoned_by=st.sampled_from([None, "muster", "alice"]),
    in_repair=st.booleans(),
    is_managed=st.booleans(),
)
moments = st.integers(min_value=-3000, max_value=3000).map(lambda minutes: NOW + timedelta(minutes=minutes))
fleets = st.builds(
    a_fleet,
    nodes=st.lists(nodes, max_size=6).map(tuple),
    node_recovery=st.sampled_from(NodeRecovery),
    repairs=st.lists(st.builds(a_repair, st.just("node-0"), moments), max_size=6).map(tuple),
    faults=st.lists(st.builds(a_sighting, st.just("node-0"), moments), max_size=4).map(tuple),
    breaker=st.sampled_from(BreakerState),
    standing=st.sampled_from([(), (STANDING,)]),
    is_paused=st.booleans(),
)


@settings(max_examples=200, deadline=None)
@given(fleets, st.booleans(), st.integers(min_value=0, max_value=3))
def test_nothing_acts_past_a_guard_whatever_the_fleet(fleet: Fleet, is_fatal: bool, confirmations: int) -> None:
    decision = decide(a_fault(is_fatal=is_fatal), fleet, confirmations=confirmations)

    if decision.verdict is Verdict.ACT:
        assert not fleet.is_paused
        assert fleet.breaker is BreakerState.CLOSED
        node = fleet.find(BROKEN)
        assert node is not None
        assert node.is_managed and not node.in_repair and node.cordoned_by in {None, "muster"}
        assert is_fatal or not node.running_jobs
    if decision.refusals:
        assert decision.verdict in {Verdict.DEFER, Verdict.ESCALATE}


def test_all_guards_of_the_design_are_asked() -> None:
    assert len(GUARDS) == 13
