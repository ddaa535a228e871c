"""What all parts of EKS share: finding a cluster, and pages in EKS's spelling."""

from __future__ import annotations

from typing import TypeVar

from twin.aws.errors import AwsError
from twin.aws.paging import page
from twin.aws.params import Params
from twin.world.state import EksCluster, World

T = TypeVar("T")


def find(world: World, name: str) -> EksCluster:
    if name not in world.eks:
        raise AwsError("ResourceNotFoundException", f"No cluster found for name: {name}.", status=404)
    return world.eks[name]


def pages(items: list[T], params: Params) -> tuple[list[T], str | None]:
    return page(items, params, limit_key="maxResults", token_key="nextToken")
