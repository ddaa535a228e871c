"""Effect tools over the fake platform: one per way in which an effect can be recognised."""

from __future__ import annotations

from pydantic import BaseModel

from core.json_value import JsonObject
from core.messages.message import message
from core.risk import Risk
from tools.clients.base import Clients
from tools.contract import Absent, CannotTell, EffectTool, Found, Intent, Observation, ReadTool


class Thing(BaseModel):
    name: str = "thing"


class Units(BaseModel):
    count: int
    name: str = "units"


def things(clients: Clients) -> list[JsonObject]:
    listed = clients.aws.call("things", "List", {})["things"]
    assert isinstance(listed, list)
    return listed


def _created(clients: Clients, args: Thing, operation: str) -> Observation:
    for thing in things(clients):
        if thing["operation"] == operation and thing["name"] == args.name:
            return Found({"id": thing["id"]})
    return Absent()


def _act(operation: str, clients: Clients, args: BaseModel, token: str) -> JsonObject:
    return clients.aws.call("things", operation, {**args.model_dump(), "token": token})


def _units(clients: Clients) -> int:
    return sum(count for thing in things(clients) if isinstance(count := thing.get("count"), int))


def _units_before(clients: Clients, args: Units) -> JsonObject:
    return {"units": _units(clients)}


def _units_added(clients: Clients, args: Units, intent: Intent) -> Observation:
    before, now = intent.before["units"], _units(clients)
    assert isinstance(before, int)
    if now == before:
        return Absent()
    if now == before + args.count:
        return Found({"units": now})
    return CannotTell(message("general.text", text=f"There were {before} units and now there are {now}."))


LIST: ReadTool[Thing, list[JsonObject]] = ReadTool(name="list_things", read=lambda clients, args: things(clients))

CREATE: EffectTool[Thing] = EffectTool(
    name="create_thing",
    call="things:Create",
    risk=Risk.REVERSIBLE,
    act=lambda clients, args, token: _act("Create", clients, args, token),
    observe=lambda clients, args, intent: _created(clients, args, "Create"),
)
"""Known by its name; the platform would make a second one."""

CREATE_ONCE: EffectTool[Thing] = EffectTool(
    name="create_once",
    call="things:CreateOnce",
    risk=Risk.REVERSIBLE,
    act=lambda clients, args, token: _act("CreateOnce", clients, args, token),
    observe=lambda clients, args, intent: Absent(),
    honours_token=True,
)
"""Cannot be looked up at all: only its token makes a repeated call safe."""

ADD: EffectTool[Units] = EffectTool(
    name="add_units",
    call="things:Add",
    risk=Risk.SPENDING,
    act=lambda clients, args, token: _act("Add", clients, args, token),
    observe=_units_added,
    before=_units_before,
)
"""An increment: told by counting, which somebody else may disturb."""

BUY: EffectTool[Thing] = EffectTool(
    name="buy_plan",
    call="things:Buy",
    risk=Risk.SPENDING,
    act=lambda clients, args, token: _act("Buy", clients, args, token),
    observe=lambda clients, args, intent: _created(clients, args, "Buy"),
    may_repeat=False,
)
"""Spends money without a token."""

SLOW_TO_SHOW: EffectTool[Thing] = EffectTool(
    name="create_slowly",
    call="things:CreateSlowly",
    risk=Risk.REVERSIBLE,
    act=lambda clients, args, token: _act("CreateSlowly", clients, args, token),
    observe=lambda clients, args, intent: _created(clients, args, "CreateSlowly"),
    settle_seconds=60.0,
)
"""The platform's list lags by up to a minute."""
