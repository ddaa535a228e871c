"""Whether anything in the twin still moves, as the end of a scenario asks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from core.ids import NodeLogicalId
from twin.ports import Workloads
from twin.world.events import find_cluster
from twin.world.state import Timer, World

HORIZON = timedelta(hours=1)
"""What is due later does not count."""
NEWS = frozenset({"node.listed", "event.second"})
"""Timers that only tell what has happened."""


def movements(world: World, now: datetime, workloads: Workloads | None, standing_jobs: Collection[str]) -> list[str]:
    """What keeps the twin from being quiet, empty when it is.

    Not counted: background retries of nodes that wait for capacity, and the jobs that the world began with.
    """
    return sorted({*_timers(world, now), *_jobs(world, workloads, standing_jobs)})


def _timers(world: World, now: datetime) -> Iterator[str]:
    for timer in world.timers:
        if timer.due <= now + HORIZON and timer.kind not in NEWS and not _is_retry(world, timer):
            yield timer.kind


def _is_retry(world: World, timer: Timer) -> bool:
    if timer.kind != "node.attempt":
        return False
    cluster = find_cluster(world, timer.args["cluster"])
    node = cluster.nodes.get(NodeLogicalId(timer.args["node"])) if cluster is not None else None
    return node is None or node.waits_for_capacity or str(node.attempt) != timer.args["attempt"]


def _jobs(world: World, workloads: Workloads | None, standing_jobs: Collection[str]) -> Iterator[str]:
    for cluster in world.clusters.values():
        if workloads is not None and cluster.eks_name is not None:
            for name, job in workloads.live_jobs(cluster.eks_name).items():
                if job["state"] == "Running" and name not in standing_jobs:
                    yield f"job {name}"
