"""Random worlds for the invariants: up to three cohort layers, two flavors, limits and every policy."""

from __future__ import annotations

from hypothesis import strategies as st

from core.scheduling.policies import (
    BorrowWithinCohort,
    Fungibility,
    PreemptionPolicy,
    QueueingStrategy,
    SchedulerConfig,
    WhenCanBorrow,
    WhenCanPreempt,
)
from core.scheduling.world import ClusterQueue, Cohort, PendingWorkload, Quota, World
from tests.builders.scheduling import cohort, group, pending, queue, world

FLAVORS = ("h100", "a100")
LIMIT = st.one_of(st.none(), st.integers(0, 6))


@st.composite
def quotas(draw: st.DrawFn, flavor_count: int, *, limits: bool) -> dict[str, int | Quota]:
    limit = LIMIT if limits else st.none()
    return {
        flavor: Quota(nominal=draw(st.integers(0, 8)), borrowing_limit=draw(limit), lending_limit=draw(limit))
        for flavor in FLAVORS[:flavor_count]
    }


@st.composite
def cohort_trees(draw: st.DrawFn, flavor_count: int, *, limits: bool, deep: bool) -> list[Cohort]:
    cohorts = []
    for index in range(draw(st.integers(1, 4 if deep else 1))):
        parent = f"c{draw(st.integers(0, index - 1))}" if index and draw(st.booleans()) else None
        own = draw(quotas(flavor_count, limits=limits)) if draw(st.booleans()) else None
        groups = () if own is None else (group(own),)
        cohorts.append(
            Cohort(name=f"c{index}", parent=parent, weight=draw(st.sampled_from((0.0, 0.5, 1.0, 2.0))), groups=groups)
        )
    return cohorts


@st.composite
def queues(
    draw: st.DrawFn, cohorts: list[Cohort], flavor_count: int, *, limits: bool, borrow: bool
) -> list[ClusterQueue]:
    policies = st.sampled_from(tuple(PreemptionPolicy))
    found = []
    for index in range(draw(st.integers(1, 5))):
        reclaim = draw(policies)
        may_borrow = borrow and reclaim is not PreemptionPolicy.NEVER and draw(st.booleans())
        found.append(
            queue(
                f"q{index}",
                draw(quotas(flavor_count, limits=limits)),
                cohort=draw(st.sampled_from((*(c.name for c in cohorts), None))),
                within=draw(st.sampled_from((PreemptionPolicy.NEVER, PreemptionPolicy.LOWER_PRIORITY))),
                reclaim=reclaim,
                borrow=BorrowWithinCohort(
                    policy=PreemptionPolicy.LOWER_PRIORITY,
                    max_priority_threshold=draw(st.one_of(st.none(), st.integers(-1, 2))),
                )
                if may_borrow
                else None,
                strategy=draw(st.sampled_from(tuple(QueueingStrategy))),
                weight=draw(st.sampled_from((0.0, 0.5, 1.0, 2.0))),
                fungibility=Fungibility(
                    when_can_borrow=draw(st.sampled_from(tuple(WhenCanBorrow))),
                    when_can_preempt=draw(st.sampled_from(tuple(WhenCanPreempt))),
                ),
            )
        )
    return found


@st.composite
def workloads(draw: st.DrawFn, queue_count: int, *, most: int = 14) -> list[PendingWorkload]:
    return [
        pending(
            f"w{index:02d}",
            f"q{draw(st.integers(0, queue_count - 1))}",
            draw(st.integers(0, 5)),
            count=(count := draw(st.integers(1, 3))),
            min_count=draw(st.one_of(st.none(), st.integers(1, count))),
            priority=draw(st.integers(-1, 2)),
            at_s=float(draw(st.integers(0, 3))),
        )
        for index in range(draw(st.integers(1, most)))
    ]


@st.composite
def worlds(
    draw: st.DrawFn, *, fair: bool | None = None, limits: bool = True, deep: bool = True, borrow: bool = True
) -> World:
    """Nothing is admitted yet; what waits is in `pending`."""
    flavor_count = draw(st.integers(1, 2))
    cohorts = draw(cohort_trees(flavor_count, limits=limits, deep=deep))
    found = draw(queues(cohorts, flavor_count, limits=limits, borrow=borrow))
    fair_sharing = draw(st.booleans()) if fair is None else fair
    return world(
        found,
        cohorts=cohorts,
        pending=draw(workloads(len(found))),
        config=SchedulerConfig(fair_sharing=fair_sharing),
    )


__all__ = ["cohort", "worlds"]
