"""What a run of create_cluster is given, frozen at approval."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.cluster.clusters import CapacityMode, NodeRecovery
from core.json_value import JsonObject
from tools.eks import eks_name_of

NAME_PATTERN: Final = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"
"""ClusterName of SageMaker's model."""
MAX_NAME_LENGTH: Final = 63
MAX_NODES: Final = 6758
"""ClusterInstanceCount's maximum in SageMaker's model."""
WORKERS: Final = "workers"
"""The first instance group of a new cluster."""
VPC_CIDR: Final = "10.192.0.0/16"
NODE_CIDRS: Final = ("10.192.0.0/18", "10.192.64.0/18", "10.192.128.0/18")
"""One per zone, in the order in which zones come into use."""
PUBLIC_CIDR: Final = "10.192.192.0/24"
ADDRESSES_PER_SUBNET: Final = 2**14 - 5
"""AWS keeps five addresses of each subnet."""


class CreateClusterParams(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    zone_id: str
    instance_type: str
    count: int = Field(ge=1, le=MAX_NODES)
    mode: CapacityMode = CapacityMode.ON_DEMAND
    plan_arn: str = ""
    node_recovery: NodeRecovery = NodeRecovery.AUTOMATIC
    vpc_id: str = ""
    """An existing network to stand in; empty = a new one."""
    kubernetes_version: str = ""
    admin_role_arn: str = ""
    """An IAM role that administers the Kubernetes side besides Muster; empty = none."""
    price_cents_per_hour: int | None = None
    """Of one node, as quoted on the card; absent = the price list has none."""
    choices: dict[str, object] = Field(default_factory=dict)
    """Each human choice with its origin and words."""

    @property
    def eks_name(self) -> str:
        return eks_name_of(self.name)


class Target(BaseModel):
    """What the nodes are to become; a human's answer to a shortage changes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    group: str
    zone_id: str
    instance_type: str
    count: int
    mode: CapacityMode
    plan_arn: str = ""

    @classmethod
    def first(cls, params: CreateClusterParams) -> Target:
        return cls(
            group=WORKERS,
            zone_id=params.zone_id,
            instance_type=params.instance_type,
            count=params.count,
            mode=params.mode,
            plan_arn=params.plan_arn,
        )

    @classmethod
    def read(cls, data: JsonObject, params: CreateClusterParams) -> Target:
        """The target in the run's data, the plan's own before anything changed it."""
        stored = data.get("target")
        return cls.first(params) if stored is None else cls.model_validate(stored)

    def to_json(self) -> JsonObject:
        return self.model_dump(mode="json")
