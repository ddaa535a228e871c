"""An account in which every subnet is healthy and roomy."""

from __future__ import annotations

from datetime import datetime

from core.ids import ZoneId
from twin.world.environment import Subnet
from twin.world.state import Cluster, Group


class FakeEnvironment:
    """A subnet's id is its zone's; `held` counts the addresses that nodes hold."""

    def __init__(self) -> None:
        self.held = 0
        self.lines: list[str] = []

    def subnet(self, subnet_id: str) -> Subnet | None:
        return Subnet(subnet_id, "vpc-1", ZoneId(subnet_id), 10_000)

    def hold_addresses(self, subnet_id: str, count: int) -> None:
        self.held += count

    def has_security_group(self, group_id: str) -> bool:
        return True

    def has_role(self, role_arn: str) -> bool:
        return True

    def network_fault(self, cluster: Cluster, group: Group) -> str:
        return ""

    def write_log(self, group: str, stream: str, moment: datetime, lines: list[str]) -> None:
        self.lines += lines

    def lifecycle_fault(self, group: Group) -> str:
        return ""
