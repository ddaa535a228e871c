"""What the demo asks for, and what must be there in the end."""

from __future__ import annotations

from core.ids import ClusterName
from core.messages.message import Message, message

CLUSTER = ClusterName("demo-train")
NODES = 4
INSTANCE_TYPE = "ml.g5.12xlarge"
JOB_NODES = 2
TIME_FACTOR = 180.0
"""Twenty-five minutes of the real service in less than ten seconds."""
LEASE_SECONDS = 5.0
DEADLINE_SECONDS = 90.0
"""When the demo gives up on the plan, and then on the work; both together are meant to need a third of this."""


def the_wish() -> Message:
    return message("demo.request", cluster=CLUSTER, nodes=NODES, type=INSTANCE_TYPE, job_nodes=JOB_NODES)
