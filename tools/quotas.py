"""SageMaker's service quotas for clusters, found by name: their codes differ between public sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from core.ids import InstanceTypeName
from tools.arguments import NoArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.reading import at, text

_SUFFIX: Final = " for cluster usage"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterQuotas:
    """Instances that this account may run in clusters, by type. A type that is not listed has no quota."""

    by_type: dict[InstanceTypeName, int]

    def of(self, instance_type: InstanceTypeName) -> int:
        return self.by_type.get(instance_type, 0)


def _cluster_quotas(clients: Clients, args: NoArgs) -> ClusterQuotas:
    found: dict[InstanceTypeName, int] = {}
    for quota in clients.aws.pages("service-quotas", "ListServiceQuotas", {"ServiceCode": "sagemaker"}, "Quotas"):
        name, value = text(quota, "QuotaName"), at(quota, "Value")
        if name.endswith(_SUFFIX) and isinstance(value, int | float):
            found[InstanceTypeName(name.removesuffix(_SUFFIX))] = int(value)
    return ClusterQuotas(by_type=found)


CLUSTER_QUOTAS: Final[ReadTool[NoArgs, ClusterQuotas]] = ReadTool(name="cluster_quotas", read=_cluster_quotas)
