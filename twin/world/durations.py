"""How long things take, in twin seconds: each drawn evenly from its bounds.

Sources: an AWS specialist's public operating notes (create 15-25 min, replace and scale-up 15-30 min, reboot
1-3 min, termination 15-20 min, views apart for seconds to minutes) and the EKS and FSx user guides. How a
total splits into phases is our own assumption.
"""

from __future__ import annotations

from typing import Final

MINUTE = 60.0
HOUR = 3600.0
Bounds = tuple[float, float]

CLUSTER_SETUP: Final[Bounds] = (4 * MINUTE, 6 * MINUTE)
CLUSTER_DELETION: Final[Bounds] = (8 * MINUTE, 12 * MINUTE)
CLASSIC_UPDATE: Final[Bounds] = (1 * MINUTE, 2 * MINUTE)
CAPACITY_SEARCH: Final[Bounds] = (30.0, 90.0)
CAPACITY_RETRY: Final[Bounds] = (9 * MINUTE, 13 * MINUTE)
"""Between two background attempts of a node that could not be given."""
NODE_LAUNCH: Final[Bounds] = (9 * MINUTE, 14 * MINUTE)
"""Instance start, image, lifecycle scripts and basic health checks."""
NODE_READY: Final[Bounds] = (20.0, 70.0)
"""From Running to Ready in the orchestrator."""
NODE_TERMINATION: Final[Bounds] = (15 * MINUTE, 20 * MINUTE)
NODE_REBOOT: Final[Bounds] = (1 * MINUTE, 3 * MINUTE)
NODE_DETACH: Final[Bounds] = (3 * MINUTE, 6 * MINUTE)
DEEP_HEALTH_CHECK: Final[Bounds] = (45 * MINUTE, 90 * MINUTE)
SOFTWARE_UPDATE_PER_BATCH: Final[Bounds] = (20 * MINUTE, 30 * MINUTE)
LIST_LAG: Final[Bounds] = (5.0, 60.0)
"""ListClusterNodes and ListClusters show a change later than describe does."""
SECOND_EVENT: Final[float] = 0.8
"""One fault writes two events, this far apart."""
AGENT_DETECTION: Final[Bounds] = (5.0, 30.0)
"""From a fault in a node's log to the agent's label."""
UNREACHABLE_DETECTION: Final[Bounds] = (4 * MINUTE, 8 * MINUTE)
RECOVERY_START: Final[Bounds] = (10.0, 40.0)
"""From the health label to HyperPod's own reboot or replacement."""
MINIMUM_DEADLINE: Final[float] = 3 * HOUR
"""A group that has not reached MinInstanceCount by then is rolled back (CreateCluster documentation)."""
TOKEN_LIFE: Final[float] = 8 * HOUR
ROLE_PROPAGATION: Final[Bounds] = (4.0, 12.0)

EKS_CREATE: Final[Bounds] = (8 * MINUTE, 12 * MINUTE)
EKS_DELETE: Final[Bounds] = (3 * MINUTE, 6 * MINUTE)
ADDON_CHANGE: Final[Bounds] = (40.0, 120.0)
GOVERNANCE_CHANGE: Final[Bounds] = (10.0, 40.0)
FILE_SYSTEM_CREATE: Final[Bounds] = (6 * MINUTE, 12 * MINUTE)
FILE_SYSTEM_DELETE: Final[Bounds] = (2 * MINUTE, 5 * MINUTE)
