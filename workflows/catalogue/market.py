"""What can be had where, and for how much: the facts that options are ranked by and cards quote."""

from __future__ import annotations

import re
from typing import Final, Protocol, TypeVar

from core.cluster.instance_types import AcceleratorKind, InstanceType
from core.ids import InstanceTypeName, ZoneId
from core.messages.message import Message, message
from tools.arguments import ByName, NoArgs
from tools.clusters import TYPES_IN_USE
from tools.contract import ArgsT, ReadTool, ResultT
from tools.offers import OFFERED_TYPES, OFFERING_ZONES, TYPE_FIGURES, ZONES, OfferArgs, Zone
from tools.plans import TRAINING_PLANS, TrainingPlan
from tools.prices import CENTS_PER_HOUR, PriceArgs
from tools.quotas import CLUSTER_QUOTAS
from workflows.catalogue.money import dollars

ValueT = TypeVar("ValueT")

ZONE_ID: Final = re.compile(r"[a-z]{2,4}\d-az\d{1,2}")
ZONE_NAME: Final = re.compile(r"([a-z]{2}(?:-[a-z]+)+-\d)[a-z]")


class Reader(Protocol):
    """What a step's context and an operation's reads have in common."""

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT: ...


class Market:
    """One look at the world. Each fact is read once, when it is first asked for. Raises `ToolError`."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._zones: tuple[Zone, ...] | None = None
        self._quotas: dict[InstanceTypeName, int] | None = None
        self._in_use: dict[InstanceTypeName, int] | None = None
        self._plans: tuple[TrainingPlan, ...] | None = None
        self._prices: dict[str, int | None] = {}
        self._offering: dict[str, tuple[ZoneId, ...]] = {}

    def zones(self) -> tuple[Zone, ...]:
        if self._zones is None:
            self._zones = self._reader.read(ZONES, NoArgs())
        return self._zones

    def zone(self, id_or_name: str) -> Zone | None:
        """By zone id or by this account's zone name."""
        wanted = id_or_name.strip().lower()
        return next((zone for zone in self.zones() if wanted in {zone.zone_id, zone.name}), None)

    def is_of_other_region(self, id_or_name: str) -> bool:
        """Well-formed, and of a region that this one is not."""
        wanted = id_or_name.strip().lower()
        if ZONE_ID.fullmatch(wanted):
            return wanted.partition("-")[0] not in {zone.zone_id.partition("-")[0] for zone in self.zones()}
        name = ZONE_NAME.fullmatch(wanted)
        return name is not None and name[1] not in {zone.region for zone in self.zones()}

    def offering(self, instance_type: str) -> tuple[ZoneId, ...]:
        if instance_type not in self._offering:
            self._offering[instance_type] = self._reader.read(OFFERING_ZONES, OfferArgs(instance_type=instance_type))
        return self._offering[instance_type]

    def figures(self, instance_type: str) -> InstanceType | None:
        return self._reader.read(TYPE_FIGURES, OfferArgs(instance_type=instance_type))

    def quota(self, instance_type: str) -> int:
        if self._quotas is None:
            self._quotas = self._reader.read(CLUSTER_QUOTAS, NoArgs()).by_type
        return self._quotas.get(InstanceTypeName(instance_type), 0)

    def quota_left(self, instance_type: str) -> int:
        if self._in_use is None:
            self._in_use = self._reader.read(TYPES_IN_USE, NoArgs())
        return max(self.quota(instance_type) - self._in_use.get(InstanceTypeName(instance_type), 0), 0)

    def price(self, instance_type: str) -> int | None:
        """Cents per hour of one node; `None` when the price list has none."""
        if instance_type not in self._prices:
            self._prices[instance_type] = self._reader.read(CENTS_PER_HOUR, PriceArgs(instance_type=instance_type))
        return self._prices[instance_type]

    def plans(self) -> tuple[TrainingPlan, ...]:
        if self._plans is None:
            self._plans = self._reader.read(TRAINING_PLANS, NoArgs())
        return self._plans

    def accelerated_types(self, zone_id: str | None = None) -> tuple[InstanceType, ...]:
        """Types with accelerators that are offered (in that zone, or anywhere here) and have any quota left."""
        zones = [zone_id] if zone_id is not None else [zone.zone_id for zone in self.zones()]
        names = {name for zone in zones for name in self._reader.read(OFFERED_TYPES, ByName(name=zone))}
        candidates = [name for name in sorted(names) if self.quota(name) > 0 and self.quota_left(name) > 0]
        figures = (self.figures(name) for name in candidates)
        return tuple(found for found in figures if found is not None and found.accelerator is not AcceleratorKind.NONE)

    def price_text(self, instance_type: str, count: int = 1) -> Message:
        price = self.price(instance_type)
        if price is None:
            return message("market.price_unknown", type=instance_type)
        return message("market.price", amount=dollars(price * count), count=count, type=instance_type)

    def quota_text(self, instance_type: str) -> Message:
        left = self.quota_left(instance_type)
        return message("market.quota_left", type=instance_type, left=left, quota=self.quota(instance_type))
