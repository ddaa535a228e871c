"""How often to look while something takes its time, and how long it may take.

Budgets: an AWS specialist's public operating notes (a cluster in 15-25 min, nodes in 20-30 min, a failed
node is given up after 60-90 min without a new attempt) and the EKS guide; each is the upper figure with room.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

_SHORTEST: Final = timedelta(seconds=2)
_LONGEST: Final = timedelta(seconds=60)

CONTROL_PLANE_BUDGET: Final = timedelta(minutes=30)
NETWORK_BUDGET: Final = timedelta(minutes=15)
ADDON_BUDGET: Final = timedelta(minutes=20)
NODES_BUDGET: Final = timedelta(minutes=90)
REPLACEMENT_BUDGET: Final = timedelta(minutes=40)
DELETION_BUDGET: Final = timedelta(minutes=60)


def next_look(since: datetime, now: datetime) -> timedelta:
    """A fifth of the time waited so far, at least 2 s and at most a minute: quick things are seen quickly, and a
    cluster that takes half an hour is looked at some forty times (AWS's notes ask for 30 to 60 s between looks)."""
    return min(max((now - since) / 5, _SHORTEST), _LONGEST)
