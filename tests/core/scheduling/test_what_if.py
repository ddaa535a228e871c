"""Predictions against worlds worked out by hand."""

from __future__ import annotations

import pytest

from core.scheduling.errors import WorldField, WorldInvalid
from core.scheduling.quantities import FlavorResource
from core.scheduling.remedies import RemedyKind
from core.scheduling.what_if import Change, ChangeKind, what_if
from core.scheduling.world import World
from tests.builders.scheduling import ANY, LOWER, admitted, cohort, pending, queue, world

H100 = FlavorResource("h100", "gpu")


def busy() -> World:
    """`a` holds all 4 GPUs of q; w waits for 2."""
    return world([queue("q", 4)], admitted=[admitted("a", "q", 4)], pending=[pending("w", "q", 2)])


def test_a_submission_that_fits_starts_at_once_and_costs_what_it_uses() -> None:
    start = world([queue("q", 4)], admitted=[admitted("a", "q", 2)])
    change = Change(kind=ChangeKind.SUBMIT, workload=pending("new", "q", 2))

    found = what_if(start, change, prices={H100: 12.0})

    assert (found.admitted, found.preempted, found.still_waiting) == (("new",), (), ())
    assert found.cost_per_hour == 24.0


def test_a_submission_that_does_not_fit_is_told_its_wait_and_what_would_admit_it() -> None:
    change = Change(kind=ChangeKind.SUBMIT, workload=pending("new", "q", 4, at_s=5.0))

    found = what_if(busy(), change, runs_s={"a": 7200.0, "w": 600.0}, ran_s={"a": 3600.0})

    assert found.admitted == ()
    assert found.waits_s == {"new": (None, 3600.0 + 600.0)}
    assert found.explanation is not None
    assert RemedyKind.OTHERS_LEAVE in {remedy.kind for remedy in found.explanation.remedies}


def test_a_submission_of_an_owner_says_whom_it_preempts() -> None:
    start = world(
        [queue("own", 2, cohort="c", reclaim=ANY), queue("other", 0, cohort="c")],
        admitted=[admitted("borrower", "other", 2)],
    )

    found = what_if(start, Change(kind=ChangeKind.SUBMIT, workload=pending("mine", "own", 2)))

    assert (found.admitted, found.preempted, found.still_waiting) == (("mine",), ("borrower",), ("borrower",))


def test_more_capacity_admits_who_waits() -> None:
    change = Change(kind=ChangeKind.ADD_CAPACITY, owner="q", amounts={H100: 2})

    found = what_if(busy(), change, runs_s={"a": 7200.0})

    assert found.admitted == ("w",)
    assert found.waits_s["w"] == (7200.0, 0.0)


def test_losing_capacity_preempts_nobody_by_itself() -> None:
    """Kueue takes nothing away when quota shrinks: what runs goes on, what waits waits longer."""
    start = world([queue("q", 4, within=LOWER)], admitted=[admitted("a", "q", 4)])

    found = what_if(start, Change(kind=ChangeKind.ADD_CAPACITY, owner="q", amounts={H100: -2}))

    assert found.preempted == ()


def test_a_smaller_size_lets_a_waiting_job_start() -> None:
    start = world([queue("q", 4)], admitted=[admitted("a", "q", 2)], pending=[pending("w", "q", count=4)])

    found = what_if(start, Change(kind=ChangeKind.RESIZE, uid="w", counts={"main": 2}))

    assert found.admitted == ("w",)


def test_a_higher_quota_takes_borrowed_capacity_back() -> None:
    start = world(
        [queue("own", 0, cohort="c", reclaim=ANY), queue("other", 0, cohort="c")],
        cohorts=[cohort("c", 2)],
        admitted=[admitted("borrower", "other", 2)],
        pending=[pending("mine", "own", 2)],
    )

    found = what_if(start, Change(kind=ChangeKind.SET_QUOTA, owner="own", amounts={H100: 2}))

    assert found.admitted == ("mine",)


def test_the_world_that_was_asked_about_is_not_changed() -> None:
    start = busy()

    what_if(start, Change(kind=ChangeKind.SET_WEIGHT, owner="q", weight=3.0))

    assert start == busy()


@pytest.mark.parametrize(
    ("problem", "change"),
    [
        pytest.param(WorldField.CHANGE_INCOMPLETE, Change(kind=ChangeKind.SUBMIT), id="no workload"),
        pytest.param(WorldField.CHANGE_INCOMPLETE, Change(kind=ChangeKind.RESIZE, uid="x"), id="unknown workload"),
        pytest.param(WorldField.CHANGE_INCOMPLETE, Change(kind=ChangeKind.SET_WEIGHT, owner="x"), id="unknown queue"),
        pytest.param(
            WorldField.FLAVOR_UNKNOWN,
            Change(kind=ChangeKind.SET_QUOTA, owner="q", amounts={FlavorResource("b200", "gpu"): 1}),
            id="unknown flavor",
        ),
        pytest.param(
            WorldField.QUOTA_NEGATIVE,
            Change(kind=ChangeKind.SET_QUOTA, owner="q", amounts={H100: -1}),
            id="negative quota",
        ),
    ],
)
def test_a_change_that_names_nothing_known_is_refused(problem: WorldField, change: Change) -> None:
    with pytest.raises(WorldInvalid) as refused:
        what_if(busy(), change)

    assert refused.value.problem is problem
