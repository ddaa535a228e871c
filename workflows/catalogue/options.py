"""The options of the three human choices, built by code and ranked, each with its evidence and one recommended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from core.cluster.clusters import CapacityMode
from core.cluster.instance_types import InstanceType
from core.json_value import JsonObject, JsonValue, digest
from core.messages.message import Message, message
from core.questions import Option
from tools.offers import Zone
from tools.plans import TrainingPlan
from workflows.catalogue.market import Market

MAX_TYPES = 8
MAX_SIMILAR_TYPES = 3
_COUNTS = (1, 2, 4, 8, 16, 32, 64)


def option(value: JsonValue, label: Message, *evidence: Message) -> Option:
    """The id follows from the value: the same choice keeps its id when the list is drawn again."""
    return Option(id=f"o-{digest(value)[:10]}", value=value, label=label, evidence=evidence)


def recommend_first(options: Iterable[Option]) -> tuple[Option, ...]:
    return tuple(replace(item, is_recommended=position == 0) for position, item in enumerate(options))


def zone_options(
    market: Market, zones: Sequence[Zone], instance_type: str, count: int, facts: Callable[[Zone], Sequence[Message]]
) -> tuple[Option, ...]:
    """Zones that offer the type, in the given order but for those that AWS calls impaired. `facts` of a zone."""
    ranked = sorted(zones, key=lambda zone: zone.state != "available")
    return recommend_first(
        option(
            zone.zone_id,
            message("market.zone", zone=zone.zone_id, name=zone.name),
            message("market.offered", type=instance_type, zone=zone.zone_id),
            *([] if zone.state == "available" else [message("market.zone_state", state=zone.state)]),
            market.quota_text(instance_type),
            *facts(zone),
            market.price_text(instance_type, count),
        )
        for zone in ranked
    )


def type_options(market: Market, types: Sequence[InstanceType], *, wish: str, count: int) -> tuple[Option, ...]:
    """Types that carry the wished accelerator first, then those whose quota covers the count, then by price."""
    wished = wish.upper()

    def rank(kind: InstanceType) -> tuple[bool, bool, int, str]:
        price = market.price(kind.name)
        return (
            bool(wished) and kind.gpu_model.upper() != wished,
            market.quota_left(kind.name) < max(count, 1),
            price if price is not None else 10**9,
            kind.name,
        )

    ranked = sorted(types, key=rank)[:MAX_TYPES]
    return recommend_first(
        option(
            kind.name,
            message("market.type", type=kind.name, accelerators=kind.accelerators, model=kind.gpu_model),
            message("market.zones_offering", zones=", ".join(market.offering(kind.name))),
            market.quota_text(kind.name),
            market.price_text(kind.name, max(count, 1)),
        )
        for kind in ranked
    )


def similar_types(market: Market, instance_type: str, zone_id: str, count: int) -> list[InstanceType]:
    """Of the same kind of accelerator, in the same zone, with quota for `count`; the same model first, then size."""
    own = market.figures(instance_type)
    if own is None:
        return []

    def rank(kind: InstanceType) -> tuple[bool, int, int]:
        price, own_price = market.price(kind.name) or 0, market.price(own.name) or 0
        return kind.gpu_model != own.gpu_model, abs(kind.accelerators - own.accelerators), abs(price - own_price)

    fitting = [
        kind
        for kind in market.accelerated_types(zone_id)
        if kind.name != own.name and kind.accelerator is own.accelerator and market.quota_left(kind.name) >= count
    ]
    return sorted(fitting, key=rank)[:MAX_SIMILAR_TYPES]


def capacity_options(
    market: Market, said: JsonObject, instance_type: str, plans: Sequence[TrainingPlan]
) -> tuple[Option, ...]:
    """What was said stays; the rest is offered: how many nodes, from where."""
    mode, count = said.get("mode"), said.get("count")
    left = market.quota_left(instance_type)
    counts = [count] if isinstance(count, int) else [number for number in _COUNTS if number <= left][:5]
    found: list[Option] = []
    if mode in {None, CapacityMode.TRAINING_PLAN.value}:
        found += [_from_plan(plan, number) for plan in plans for number in counts or [plan.available]]
    for kind in (CapacityMode.ON_DEMAND, CapacityMode.SPOT):
        if mode in {None, kind.value}:
            found += [_from_market(market, kind, number, instance_type) for number in counts if number <= left]
    return recommend_first(found)


def capacity_value(mode: CapacityMode, count: int, **more: str) -> JsonObject:
    return {"mode": mode.value, "count": count, **more}


def _from_market(market: Market, mode: CapacityMode, count: int, instance_type: str) -> Option:
    label = message(f"market.{mode.value}", count=count, type=instance_type)
    warning = [message("market.spot_warning")] if mode is CapacityMode.SPOT else []
    evidence = [market.quota_text(instance_type), market.price_text(instance_type, count), *warning]
    return option(capacity_value(mode, count), label, *evidence)


def _from_plan(plan: TrainingPlan, count: int) -> Option:
    number = min(count, plan.available)
    label = message("market.training_plan", count=number, type=plan.instance_type, plan=plan.name)
    facts = message("market.plan_facts", status=plan.status, zone=plan.zone_id, available=plan.available)
    return option(capacity_value(CapacityMode.TRAINING_PLAN, number, plan=plan.name), label, facts)
