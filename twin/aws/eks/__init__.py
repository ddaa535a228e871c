"""EKS: control planes, who may enter them, and what is installed on them."""

from __future__ import annotations

from twin.aws.context import Handler
from twin.aws.eks import access, addons, clusters, updates
from twin.world.simulation import TimerAction

OPERATIONS: dict[str, Handler] = {**clusters.OPERATIONS, **access.OPERATIONS, **addons.OPERATIONS}


def timer_actions() -> dict[str, TimerAction]:
    return clusters.timer_actions() | updates.timer_actions() | addons.timer_actions()
