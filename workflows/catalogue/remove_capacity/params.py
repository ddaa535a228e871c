"""What a run of remove_capacity is given: the very nodes, frozen at approval."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from tools.node_batches import NodeRef


class RemoveCapacityParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: str
    nodes: tuple[NodeRef, ...] = Field(min_length=1)
    lost_jobs: tuple[str, ...] = ()
    """`namespace/job` that the approval names as lost."""
