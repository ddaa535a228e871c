"""What a run of submit_job is given, frozen at approval."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from tools.jobs import team_namespace

NAME_PATTERN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
"""DNS label: the name becomes that of pods."""
MAX_NAME_LENGTH: Final = 50
"""63 less what the pods' names add (`-pod-` and an index)."""
SAMPLE_IMAGE: Final = "muster/sample-job"
"""Muster's own training script. The local twin has it; elsewhere somebody must have pushed it."""
DEFAULT_NAMESPACE: Final = "default"


class SubmitJobParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: str
    name: str
    image: str
    nodes: int = Field(ge=1)
    instance_type: str
    accelerator_resource: str = ""
    accelerators_per_node: int = Field(default=0, ge=0)
    efa_per_node: int = Field(default=0, ge=0)
    command: tuple[str, ...] = ()
    """Empty = the image's own."""
    team: str = ""
    """Empty = the default namespace."""
    priority_class: str = ""
    max_restarts: int | None = None

    @property
    def namespace(self) -> str:
        return team_namespace(self.team) if self.team else DEFAULT_NAMESPACE
