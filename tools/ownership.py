"""How Muster marks what it makes, so that a retry, another run and a deletion recognise it.

A supporting part (a subnet, a role) belongs to one cluster and has one purpose: found again, it is used again.
What must exist once per intent (the cluster itself, a job) is told apart by the intent's token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict

from core.json_value import JsonObject
from core.messages.message import Message, message
from tools.clients.base import Clients
from tools.reading import text

CLUSTER_TAG: Final = "muster:cluster"
PART_TAG: Final = "muster:part"
TOKEN_TAG: Final = "muster:token"


class PartArgs(BaseModel):
    """`cluster` is the HyperPod cluster's name, `part` the purpose of this piece of it (`vpc`, `nat`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: str
    part: str


def marks(clients: Clients, args: PartArgs, token: str) -> dict[str, str]:
    """The tags of something new."""
    return {**clients.tags, CLUSTER_TAG: args.cluster, PART_TAG: args.part, TOKEN_TAG: token}


def is_part(tags: Mapping[str, str], args: PartArgs) -> bool:
    return tags.get(CLUSTER_TAG) == args.cluster and tags.get(PART_TAG) == args.part


def as_tag_list(tags: Mapping[str, str]) -> list[JsonObject]:
    """The spelling of SageMaker, EC2 and IAM."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def from_tag_list(tags: Iterable[JsonObject]) -> dict[str, str]:
    return {text(tag, "Key"): text(tag, "Value") for tag in tags}


def name_of_others(noun: str, name: str) -> Message:
    """For `CannotTell`: the name is taken by something that does not carry our marks."""
    return message("tools.name_of_others", noun=noun, name=name)


def part_name(cluster: str, suffix: str, *, limit: int = 63) -> str:
    """`muster-<cluster>-<suffix>`, with a digest in place of what does not fit into `limit` characters."""
    name = f"muster-{cluster}-{suffix}"
    if len(name) <= limit:
        return name
    digest = hashlib.sha256(cluster.encode()).hexdigest()[:8]
    room = limit - len(f"muster--{digest}-{suffix}")
    return f"muster-{cluster[:room]}-{digest}-{suffix}"
