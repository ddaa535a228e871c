"""What a run of reboot_node or replace_node is given."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from tools.node_batches import NodeRef


class NodeRepairParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: str
    nodes: tuple[NodeRef, ...] = Field(min_length=1)
    lost_jobs: tuple[str, ...] = ()
    """`namespace/job` on them that the approval names as interrupted."""
