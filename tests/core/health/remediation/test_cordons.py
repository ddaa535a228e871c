"""Only who closed a node opens it, and only when nobody else keeps it closed."""

from __future__ import annotations

from core.health.remediation.cordons import Cordon, UncordonAnswer, opened_by_person, release
from core.ids import IncidentId

FIRST, SECOND = IncidentId("inc-1"), IncidentId("inc-2")


def ours(incident: IncidentId) -> Cordon:
    return Cordon(host="n", owner="muster", incident=incident)


ALICES = Cordon(host="n", owner="alice")


def test_the_last_own_cordon_opens_the_node() -> None:
    assert release([ours(FIRST)], host="n", incident=FIRST).answer is UncordonAnswer.OPEN


def test_a_second_incident_keeps_the_node_closed() -> None:
    released = release([ours(FIRST), ours(SECOND)], host="n", incident=FIRST)

    assert released.answer is UncordonAnswer.STAYS_FOR_OTHER_INCIDENT
    assert released.remaining == {ours(SECOND)}


def test_another_owners_cordon_is_never_lifted() -> None:
    released = release([ours(FIRST), ALICES], host="n", incident=FIRST)

    assert released.answer is UncordonAnswer.STAYS_FOR_OTHER_OWNER
    assert released.remaining == {ALICES}


def test_a_node_that_only_another_closed_is_not_ours_to_open() -> None:
    assert release([ALICES], host="n", incident=FIRST).answer is UncordonAnswer.NOT_OURS


def test_releasing_twice_changes_nothing_more() -> None:
    once = release([ours(FIRST)], host="n", incident=FIRST)

    assert release(once.remaining, host="n", incident=FIRST).answer is UncordonAnswer.NOT_OURS


def test_a_person_who_opens_a_node_voids_muster_s_cordons_only() -> None:
    assert opened_by_person([ours(FIRST), ours(SECOND), ALICES], host="n") == {ALICES}
