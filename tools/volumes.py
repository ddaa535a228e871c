"""Volumes that workloads of a cluster hold claims on."""

from __future__ import annotations

from typing import Final

from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.errors import Conflict, TargetNotFound
from tools.reading import text

_CLAIMS: Final = "v1/persistentvolumeclaims"


class ClaimsArgs(ToolArgs):
    eks_name: str


def _claims(clients: Clients, args: ClaimsArgs) -> tuple[str, ...]:
    """`namespace/name`; none without a control plane that answers."""
    try:
        rows = clients.kubernetes.connect(args.eks_name).list(_CLAIMS)
    except (Conflict, TargetNotFound):
        return ()
    return tuple(sorted(f"{text(row, 'metadata', 'namespace')}/{text(row, 'metadata', 'name')}" for row in rows))


CLAIMS: Final[ReadTool[ClaimsArgs, tuple[str, ...]]] = ReadTool(name="claims", read=_claims)
