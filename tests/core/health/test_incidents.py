"""The life of an incident."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.health.incidents import (
    Incident,
    IncidentState,
    IncidentTransitionRefused,
    advance,
    is_same_problem,
    merge,
    open_incident,
    seen_again,
)
from core.health.signals import NodeIdentity
from core.ids import ActorId, IncidentId, InstanceId
from core.messages.message import message
from tests.builders.health import NOW, a_fault

ACTOR = ActorId("muster")
WHY = message("general.yes")
STATES = IncidentState


def opened(name: str = "inc-1") -> Incident:
    return open_incident(incident=IncidentId(name), fault=a_fault(), at=NOW, actor=ACTOR)


def walk(incident: Incident, *states: IncidentState, minutes: int = 1) -> Incident:
    for number, state in enumerate(states, start=1):
        at = NOW + timedelta(minutes=minutes * number)
        incident = advance(incident, state, at=at, actor=ACTOR, why=WHY)
    return incident


def test_a_repair_walks_from_the_signal_to_the_resumed_job() -> None:
    closed = walk(
        opened(),
        *(STATES.CONFIRMED, STATES.AWAITING_APPROVAL, STATES.DRAINING, STATES.REPAIRING),
        *(STATES.CHECKING, STATES.RESUMING, STATES.CLOSED),
    )

    assert closed.time_lost == timedelta(minutes=7)


def test_a_node_that_fails_its_check_is_repaired_again() -> None:
    checking = walk(opened(), STATES.CONFIRMED, STATES.DRAINING, STATES.REPAIRING, STATES.CHECKING)

    assert walk(checking, STATES.REPAIRING).state is STATES.REPAIRING


def test_a_step_that_runs_twice_after_a_crash_changes_nothing() -> None:
    once = walk(opened(), STATES.CONFIRMED)

    assert walk(once, STATES.CONFIRMED) is once


def test_a_jump_is_refused_and_names_both_states() -> None:
    with pytest.raises(IncidentTransitionRefused, match="open and cannot become repairing"):
        walk(opened(), STATES.REPAIRING)


def test_an_overridden_incident_never_acts_again() -> None:
    overridden = walk(opened(), STATES.OVERRIDDEN)

    with pytest.raises(IncidentTransitionRefused):
        walk(overridden, STATES.CONFIRMED)


def test_a_follower_is_merged_into_its_cause() -> None:
    merged = merge(opened("inc-2"), opened("inc-1"), at=NOW, actor=ACTOR)

    assert (merged.state, merged.merged_into) == (STATES.MERGED, "inc-1")


def test_clocks_that_go_backwards_never_make_time_lost_negative() -> None:
    closed = advance(opened(), STATES.CLOSED, at=NOW - timedelta(days=1), actor=ACTOR, why=WHY)

    assert closed.time_lost == timedelta(0)
    assert seen_again(opened(), NOW - timedelta(days=1)).last_seen_at == NOW


def test_the_same_code_on_the_same_machine_is_the_same_problem_while_it_is_open() -> None:
    assert is_same_problem(opened(), a_fault())
    assert not is_same_problem(opened(), a_fault("48"))
    assert not is_same_problem(walk(opened(), STATES.CLOSED), a_fault())


def test_the_replacement_under_the_same_name_has_its_own_incident() -> None:
    old = NodeIdentity(host="n", instance_id=InstanceId("i-1"))
    new = NodeIdentity(host="n", instance_id=InstanceId("i-2"))
    incident = open_incident(incident=IncidentId("inc-1"), fault=a_fault(node=old), at=NOW, actor=ACTOR)

    assert not is_same_problem(incident, a_fault(node=new))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(STATES), max_size=12))
def test_no_walk_leaves_a_final_state(walked: list[IncidentState]) -> None:
    incident = opened()
    for state in walked:
        before = incident
        try:
            incident = advance(incident, state, at=NOW, actor=ACTOR, why=WHY)
        except IncidentTransitionRefused:
            assert incident is before
        if before.state.is_final:
            assert incident is before
