"""Whose account this is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools.arguments import NoArgs
from tools.clients.base import Clients
from tools.contract import ReadTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where everything happens: shown on every plan, so that nobody mistakes the twin for the cloud."""

    account: str
    region: str
    is_local: bool


def _place(clients: Clients, args: NoArgs) -> Place:
    return Place(account=clients.aws.account, region=clients.aws.region, is_local=clients.aws.is_local)


PLACE: Final[ReadTool[NoArgs, Place]] = ReadTool(name="place", read=_place)
