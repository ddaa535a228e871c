"""What a run of delete_cluster is given, frozen at approval."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class DeleteClusterParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    arn: str
    """The cluster that was approved: a new one of the same name is not it."""
    lost_jobs: tuple[str, ...] = ()
    """Unfinished jobs that the approver saw."""
