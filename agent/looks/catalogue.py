"""All read tools, in the order in which the model sees them."""

from __future__ import annotations

from typing import Final

from agent.looks.clusters import DESCRIBE_CLUSTER, LIST_CLUSTERS, LIST_EVENTS, LIST_NODES
from agent.looks.jobs import JOB_LOGS, LIST_JOBS
from agent.looks.rows import LIST_QUESTIONS, LIST_RUNS
from agent.toolbox.reads import LookTool

LOOK_TOOLS: Final[tuple[LookTool, ...]] = (
    LIST_CLUSTERS,
    DESCRIBE_CLUSTER,
    LIST_NODES,
    LIST_JOBS,
    JOB_LOGS,
    LIST_EVENTS,
    LIST_RUNS,
    LIST_QUESTIONS,
)
