"""Reads of a twin, for the preparation of operations."""

from __future__ import annotations

from collections.abc import Mapping

from core.choices import Choice, ChoiceKind, Origin
from core.governance.principals import Principal
from core.json_value import JsonObject, JsonValue
from tests.builders.people import person
from tools.access import ToolAccess
from tools.clients.base import Clients
from tools.contract import ArgsT, ReadTool, ResultT
from workflows.operations import Draft


class ClientReads:
    """`workflows.operations.Reads` over clients."""

    def __init__(self, clients: Clients) -> None:
        self._clients, self._tools = clients, ToolAccess(clients)

    @property
    def region(self) -> str:
        return self._clients.aws.region

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT:
        return self._tools.read(tool, args)


def said(kind: ChoiceKind, value: JsonValue, quote: str = "") -> Choice:
    return Choice(kind=kind, value=value, origin=Origin.SAID, quote=quote or str(value), reference="entry-1")


def draft(params: JsonObject, *choices: Choice, requested_by: Principal | None = None, node_id: str = "n1") -> Draft:
    by_kind: Mapping[ChoiceKind, Choice] = {choice.kind: choice for choice in choices}
    return Draft(node_id=node_id, params=params, choices=by_kind, requested_by=requested_by or person())
