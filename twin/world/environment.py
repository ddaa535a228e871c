"""What HyperPod looks at in the customer's account: subnets, security groups, roles, scripts in S3."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.ids import ZoneId
from twin.world.state import Cluster, Group


@dataclass(frozen=True, slots=True)
class Subnet:
    subnet_id: str
    vpc_id: str
    zone: ZoneId
    free_addresses: int


class Environment(Protocol):
    def subnet(self, subnet_id: str) -> Subnet | None: ...

    def hold_addresses(self, subnet_id: str, count: int) -> None:
        """Take `count` free addresses of the subnet; a negative one gives them back."""

    def has_security_group(self, group_id: str) -> bool: ...

    def has_role(self, role_arn: str) -> bool: ...

    def network_fault(self, cluster: Cluster, group: Group) -> str:
        """AWS's text of why the group's network lets no EFA traffic through, or empty."""

    def write_log(self, group: str, stream: str, moment: datetime, lines: list[str]) -> None:
        """Append to a CloudWatch Logs stream, which is made if it is missing."""

    def lifecycle_fault(self, group: Group) -> str:
        """AWS's text of why the group's lifecycle script cannot run, or empty."""
