"""What a run of add_capacity is given, frozen at approval, and what it keeps about the nodes that it waits for."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.cluster.clusters import CapacityMode
from core.json_value import JsonObject
from workflows.catalogue.create_cluster.params import MAX_NODES

GROUP_PATTERN: Final = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"
"""InstanceGroupName of SageMaker's model."""
MAX_GROUP_NAME: Final = 63


class AddCapacityParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: str
    group: str
    is_new_group: bool
    count: int = Field(ge=1, le=MAX_NODES)
    """Nodes more than now."""
    zone_id: str
    zone_name: str
    narrows_zone: bool = False
    """The group may stand in several zones, and this one was chosen."""
    instance_type: str
    mode: CapacityMode
    plan_arn: str = ""
    subnet_id: str = ""
    """Of a new group."""
    price_cents_per_hour: int | None = None
    choices: dict[str, object] = Field(default_factory=dict)


class Source(BaseModel):
    """Where the nodes that are still missing are to come from; a human's answer to a shortage changes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str
    zone_id: str
    instance_type: str
    mode: CapacityMode
    plan_arn: str = ""


class Goal(BaseModel):
    """`wanted` new nodes: those with these logical ids, and all nodes of these new groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wanted: int
    nodes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    source: Source

    @classmethod
    def read(cls, data: JsonObject, params: AddCapacityParams) -> Goal:
        stored = data.get("goal")
        return cls.first(params) if stored is None else cls.model_validate(stored)

    @classmethod
    def first(cls, params: AddCapacityParams) -> Goal:
        source = Source(
            group=params.group,
            zone_id=params.zone_id,
            instance_type=params.instance_type,
            mode=params.mode,
            plan_arn=params.plan_arn,
        )
        groups = (params.group,) if params.is_new_group else ()
        return cls(wanted=params.count, groups=groups, source=source)

    def owns(self, group: str, logical_id: str) -> bool:
        return group in self.groups or logical_id in self.nodes

    def to_json(self) -> JsonObject:
        return self.model_dump(mode="json")


class Change(BaseModel):
    """An answer, made exact before anything is changed: what is given back, and what comes instead."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wanted: int
    give_back: tuple[str, ...] = ()
    """Logical ids of nodes that never came."""
    source: Source
    more: int = 0
    """Nodes of a new group, `source.group`; 0 = no new group."""
    subnet_id: str = ""
    waits: bool = False
