"""A group that grows: what was said against what the group is, and how many nodes more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from core.choices import Choice, ChoiceKind, Origin
from core.cluster.clusters import CapacityMode, InstanceGroup
from core.json_value import JsonObject
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from tools.clusters import ClusterDetails
from tools.plans import TrainingPlan
from tools.reading import at, text
from tools.subnets import addresses_per_node
from workflows.catalogue.add_capacity.place import Place
from workflows.catalogue.create_cluster.params import MAX_NODES
from workflows.catalogue.create_cluster.shortage import find_plan
from workflows.catalogue.market import Market
from workflows.catalogue.options import capacity_options, zone_options
from workflows.operations import Draft, Missing, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Everything decided: `count` nodes more of this group, which may be new (`subnet_id`)."""

    group: str
    count: int
    zone_id: str
    zone_name: str
    narrows_zone: bool
    instance_type: str
    mode: CapacityMode
    plan_arn: str
    choices: tuple[Choice, ...]
    subnet_id: str = ""


class Words:
    """The draft's choices by part, empty where nothing was said."""

    def __init__(self, draft: Draft, market: Market) -> None:
        self.choices = draft.choices
        zone = self._text(ChoiceKind.AVAILABILITY_ZONE)
        found = market.zone(zone) if zone else None
        self.zone = found.zone_id if found is not None else zone
        kind = self._text(ChoiceKind.INSTANCE_TYPE)
        self.type = kind if not kind or kind.startswith("ml.") else f"ml.{kind}"
        capacity = draft.choices.get(ChoiceKind.CAPACITY)
        value = capacity.value if capacity is not None else None
        count = at(value, "count")
        self.count = count if isinstance(count, int) and not isinstance(count, bool) else None
        self.mode, self.plan = text(value, "mode"), text(value, "plan")

    def fit(self, group: InstanceGroup, zones: tuple[str, ...]) -> bool:
        """Whether nothing that was said speaks against growing this group."""
        return self.against(group, zones) is None

    def against(self, group: InstanceGroup, zones: tuple[str, ...]) -> Message | None:
        """What speaks against it."""
        if self.type and self.type not in group.instance_types:
            return _differs(group, self.type, ", ".join(group.instance_types))
        if self.zone and self.zone not in zones:
            return _differs(group, self.zone, ", ".join(zones) or "-")
        if self.mode and self.mode != group.capacity.value:
            return _differs(group, self.mode, group.capacity.value)
        if self.plan and self.plan not in {group.training_plan, (group.training_plan or "").rpartition("/")[2]}:
            return _differs(group, self.plan, group.training_plan or "-")
        return None

    def _text(self, kind: ChoiceKind) -> str:
        choice = self.choices.get(kind)
        return choice.value if choice is not None and isinstance(choice.value, str) else ""


Decision: TypeAlias = Growth | Missing | Refused


def choose_growth(
    draft: Draft, details: ClusterDetails, group: InstanceGroup, market: Market, place: Place, *, total: int | None
) -> Decision:
    """`total`: what was said is how many nodes the group shall have in the end."""
    words, zones = Words(draft, market), place.zones_of(group.name)
    why_not = words.against(group, zones)
    if why_not is not None:
        remedy = message("add_capacity.ask_for_new_group")
        return Refused(reason=RefusalReason.PARAMETER_INVALID, message=why_not, remedies=(remedy,))
    count = words.count if total is None else total - group.target_count
    if count is not None and not 1 <= count <= MAX_NODES:
        text = message("market.count_out_of_range", count=count, most=MAX_NODES)
        return Refused(reason=RefusalReason.COUNT_OUT_OF_RANGE, message=text)
    kind = words.type or group.instance_types[0]
    plan = find_plan(market, group.training_plan) if group.training_plan else None
    if count is None:
        return _ask_count(market, group, kind, plan)
    zone_id = words.zone or (zones[0] if len(zones) == 1 else "")
    if not zone_id:
        return _ask_zone(market, kind, count, zones, place, group)
    refusal = _refuse(market, group, kind, plan, count) or _addresses(market, place, group, kind, count, zone_id)
    if refusal is not None:
        return refusal
    zone = market.zone(zone_id)
    return Growth(
        group=group.name,
        count=count,
        zone_id=zone_id,
        zone_name=zone.name if zone is not None else zone_id,
        narrows_zone=len(zones) > 1,
        instance_type=kind,
        mode=group.capacity,
        plan_arn=group.training_plan or "",
        choices=_choices(draft, details, group, kind, zone_id, count),
    )


def _differs(group: InstanceGroup, said: str, has: str) -> Message:
    return message("add_capacity.group_differs", group=group.name, said=said, has=has)


def _ask_count(market: Market, group: InstanceGroup, kind: str, plan: TrainingPlan | None) -> Missing | Refused:
    said: JsonObject = {"mode": group.capacity.value, "count": None}
    options = capacity_options(market, said, kind, [plan] if plan is not None and plan.is_usable else [])
    if not options:
        return _nothing_left(market, kind, plan)
    return Missing(
        question=QuestionDraft(
            name=ChoiceKind.CAPACITY.value,
            kind=QuestionKind.CAPACITY,
            prompt=message("add_capacity.ask_count", group=group.name, type=kind),
            options=options,
            takes_other=True,
        )
    )


def _ask_zone(
    market: Market, kind: str, count: int, zones: tuple[str, ...], place: Place, group: InstanceGroup
) -> Missing:
    """The group may stand in several: which one gets the nodes is not HyperPod's to pick."""
    found = [zone for zone in market.zones() if zone.zone_id in zones]
    options = zone_options(
        market,
        found,
        kind,
        count,
        lambda zone: [message("market.free_addresses", free=place.free_for(group.name, zone.zone_id))],
    )
    return Missing(
        question=QuestionDraft(
            name=ChoiceKind.AVAILABILITY_ZONE.value,
            kind=QuestionKind.AVAILABILITY_ZONE,
            prompt=message("market.ask_zone", type=kind, count=count),
            options=options,
        )
    )


def _refuse(market: Market, group: InstanceGroup, kind: str, plan: TrainingPlan | None, count: int) -> Refused | None:
    if group.capacity is CapacityMode.TRAINING_PLAN:
        if plan is None or not plan.is_usable:
            name, status = group.training_plan or "-", plan.status if plan is not None else "-"
            text = message("market.plan_inactive", plan=name.rpartition("/")[2], status=status)
            return Refused(reason=RefusalReason.CAPACITY_SHORT, message=text)
        if plan.available < count:
            text = message("market.plan_short", plan=plan.name, count=count, left=plan.available)
            return Refused(reason=RefusalReason.CAPACITY_SHORT, message=text, remedies=_fewer(plan.available))
        return None
    left = market.quota_left(kind)
    if left >= count:
        return None
    return Refused(
        reason=RefusalReason.QUOTA_EXCEEDED,
        message=message("market.quota_short", type=kind, count=count, left=left),
        remedies=(*_fewer(left), message("market.ask_for_quota", type=kind)),
    )


def _addresses(
    market: Market, place: Place, group: InstanceGroup, kind: str, count: int, zone_id: str
) -> Refused | None:
    figures = market.figures(kind)
    if figures is None:
        return None
    wanted, free = addresses_per_node(figures) * count, place.free_for(group.name, zone_id)
    if free >= wanted:
        return None
    text = message("market.addresses_short", zone=zone_id, wanted=wanted, free=free)
    return Refused(reason=RefusalReason.CAPACITY_SHORT, message=text)


def _nothing_left(market: Market, kind: str, plan: TrainingPlan | None) -> Refused:
    if plan is not None:
        text = message("market.plan_short", plan=plan.name, count=1, left=plan.available)
        return Refused(reason=RefusalReason.CAPACITY_SHORT, message=text)
    return Refused(
        reason=RefusalReason.QUOTA_EXCEEDED,
        message=message("market.quota_none", type=kind, quota=market.quota(kind)),
        remedies=(message("market.ask_for_quota", type=kind),),
    )


def _fewer(left: int) -> tuple[Message, ...]:
    return (message("market.fewer", count=left),) if left > 0 else ()


def _choices(
    draft: Draft, details: ClusterDetails, group: InstanceGroup, kind: str, zone_id: str, count: int
) -> tuple[Choice, ...]:
    """What the requester chose, and what the group that they targeted fixes."""
    fixed = {ChoiceKind.AVAILABILITY_ZONE: zone_id, ChoiceKind.INSTANCE_TYPE: kind}
    found = []
    for choice_kind in ChoiceKind:
        said = draft.choices.get(choice_kind)
        if choice_kind is ChoiceKind.CAPACITY and said is not None:
            value = said.value if isinstance(said.value, dict) else {}
            found.append(replace(said, value={**value, "count": count, "mode": group.capacity.value}))
        elif said is not None:
            found.append(said)
        else:
            found.append(
                Choice(
                    kind=choice_kind,
                    value=fixed[choice_kind],
                    origin=Origin.EXISTING,
                    quote=group.name,
                    reference=details.cluster.arn,
                )
            )
    return tuple(found)
