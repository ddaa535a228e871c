"""What a run of stop_job, resume_job or resize_job is given."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class JobControlParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: str
    namespace: str
    name: str
    uid: str
    """Another job of the same name is another job."""
    nodes: int = Field(default=0, ge=0)
    """For resize_job: how many it shall have."""
