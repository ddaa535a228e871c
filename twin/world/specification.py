"""What a world begins with: the `world` block of a scenario, checked; an unknown key is an error."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Count: TypeAlias = Annotated[int, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlanSpec(_Strict):
    id: str
    type: str
    count: Count
    zone: str
    hours_left: Annotated[float, Field(ge=0)]
    status: Literal["Pending", "Active", "Scheduled", "Expired", "Failed"] = "Active"


class GroupSpec(_Strict):
    name: str
    type: str
    count: Count


class StorageSpec(_Strict):
    kind: Literal["fsx_lustre", "s3"]
    id: str
    zone: str = ""
    size_gib: Count = 1200
    mount: str = ""
    """Empty: it exists and is not mounted."""


class TeamSpec(_Strict):
    name: str
    accelerators: Count
    borrow_percent: Count = 50
    """0 = lends and does not borrow."""


class JobSpec(_Strict):
    name: str
    team: str = ""
    nodes: Annotated[int, Field(ge=1)]
    priority: Literal["high", "low"] = "low"
    state: Literal["Pending", "Running", "Suspended", "Succeeded", "Failed", "Stopped"] = "Running"
    log: str = ""


class ClusterSpec(_Strict):
    name: str
    orchestrator: Literal["eks", "slurm"] = "eks"
    zone: str
    recovery: Literal["Automatic", "None"] = "Automatic"
    groups: tuple[GroupSpec, ...] = ()
    storage: tuple[StorageSpec, ...] = ()
    teams: tuple[TeamSpec, ...] = ()
    jobs: tuple[JobSpec, ...] = ()


class WorldSpec(_Strict):
    region: str
    zones: dict[str, dict[str, Count]]
    """Zone id -> instance type -> instances that on-demand capacity can still give; not listed = not offered."""
    quotas: dict[str, Count] = {}
    """Type -> limit of "<type> for cluster usage"; not listed = 0."""
    plans: tuple[PlanSpec, ...] = ()
    clusters: tuple[ClusterSpec, ...] = ()
    governance: dict[str, object] = {}
    """The organisation's boundary: the product's business, accepted and not used here."""


DEFAULT_REGION = "us-west-2"
_DEFAULT_ZONES: dict[str, dict[str, Count]] = {
    "az1": {"ml.p5.48xlarge": 4, "ml.g5.12xlarge": 20, "ml.g5.2xlarge": 40, "ml.m5.2xlarge": 50},
    "az2": {"ml.p5.48xlarge": 16, "ml.p5en.48xlarge": 8, "ml.g5.12xlarge": 20, "ml.m5.2xlarge": 50},
    "az3": {"ml.p4d.24xlarge": 12, "ml.g5.2xlarge": 40, "ml.trn1.32xlarge": 8, "ml.m5.2xlarge": 50},
}
_DEFAULT_QUOTAS: dict[str, Count] = {
    "ml.p5.48xlarge": 16,
    "ml.p5en.48xlarge": 8,
    "ml.p4d.24xlarge": 8,
    "ml.g5.12xlarge": 20,
    "ml.g5.2xlarge": 20,
    "ml.trn1.32xlarge": 4,
    "ml.m5.2xlarge": 20,
}


def default_world(region: str = "") -> WorldSpec:
    """Enough to try every operation: scarce and plentiful types, three zones that differ."""
    region = region or DEFAULT_REGION
    zones = {f"{zone_prefix(region)}-{number}": types for number, types in _DEFAULT_ZONES.items()}
    return WorldSpec(region=region, zones=zones, quotas=_DEFAULT_QUOTAS)


def zone_prefix(region: str) -> str:
    """`usw2` of `us-west-2`, `apse1` of `ap-southeast-1`."""
    area, *directions, number = region.split("-")
    initials = "".join(re.sub(r"(north|south)(east|west)", r"\1-\2", word) for word in directions)
    return area + "".join(word[0] for word in initials.split("-")) + number
