"""From the human choices of a draft to a zone, a type and capacity that the world has, a question or a refusal.

Nothing is filled in here: a missing choice is asked, one that the world refuses is refused or asked again with
the reason. A training plan that was chosen fixes its zone and type (origin `existing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from core.choices import Choice, ChoiceKind, Origin
from core.cluster.clusters import CapacityMode
from core.cluster.instance_types import InstanceType
from core.json_value import JsonObject
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from tools.offers import Zone
from tools.plans import TrainingPlan
from tools.reading import at, text
from tools.subnets import addresses_per_node
from workflows.catalogue.create_cluster.params import MAX_NODES
from workflows.catalogue.create_cluster.shortage import find_plan
from workflows.catalogue.create_cluster.surroundings import Site, read_site
from workflows.catalogue.market import Market
from workflows.catalogue.options import capacity_options, type_options, zone_options
from workflows.operations import Draft, Reads, Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Everything that only a human chooses, checked. `choices` hold where each came from."""

    zone_id: str
    zone_name: str
    instance_type: str
    count: int
    mode: CapacityMode
    plan_arn: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    question: QuestionDraft


Decision: TypeAlias = Chosen | Undecided | Refused


def choose(draft: Draft, market: Market, reads: Reads, *, accelerator: str, vpc_id: str) -> Decision:
    """What was said is checked first, all of it; then the first thing that is missing is asked."""
    said = _Said(draft)
    zone = market.zone(said.zone) if said.zone else None
    plan = find_plan(market, said.plan) if said.plan else None
    kind = market.figures(said.type) if said.type else None
    refusal = _refuse(said, market, zone, kind, plan)
    if refusal is not None:
        return refusal
    if plan is not None:
        kind = market.figures(plan.instance_type)
    if kind is None:
        return _ask_type(market, said, zone, accelerator)
    if said.count is None or said.mode is None or (said.mode is CapacityMode.TRAINING_PLAN and plan is None):
        return _ask_capacity(market, said, kind)
    too_many = _more_than_quota(market, said, kind, plan)
    if too_many is not None:
        return too_many
    return _choose_zone(draft, market, reads, _Decided(kind, said.count, said.mode, plan), zone, vpc_id)


@dataclass(frozen=True, slots=True)
class _Decided:
    kind: InstanceType
    count: int
    mode: CapacityMode
    plan: TrainingPlan | None


class _Said:
    """The draft's choices by part. A part that nobody chose is absent."""

    def __init__(self, draft: Draft) -> None:
        self.choices = draft.choices
        self.zone = self._text(ChoiceKind.AVAILABILITY_ZONE)
        self.type = _as_hyperpod(self._text(ChoiceKind.INSTANCE_TYPE))
        capacity = draft.choices.get(ChoiceKind.CAPACITY)
        value = capacity.value if capacity is not None else None
        count, mode = at(value, "count"), text(value, "mode")
        self.count = count if isinstance(count, int) and not isinstance(count, bool) else None
        self.mode = CapacityMode(mode) if mode in set(CapacityMode) else None
        self.plan = text(value, "plan")

    @property
    def capacity(self) -> JsonObject:
        return {"mode": self.mode.value if self.mode is not None else None, "count": self.count}

    def _text(self, kind: ChoiceKind) -> str:
        choice = self.choices.get(kind)
        return choice.value if choice is not None and isinstance(choice.value, str) else ""


def _as_hyperpod(name: str) -> str:
    return name if not name or name.startswith("ml.") else f"ml.{name}"


def _refuse(
    said: _Said, market: Market, zone: Zone | None, kind: InstanceType | None, plan: TrainingPlan | None
) -> Refused | None:
    """What can be told to be impossible from what was said alone."""
    if said.count is not None and not 1 <= said.count <= MAX_NODES:
        return _no(RefusalReason.COUNT_OUT_OF_RANGE, "market.count_out_of_range", count=said.count, most=MAX_NODES)
    if said.type and kind is None:
        return _no(RefusalReason.INSTANCE_TYPE_UNKNOWN, "market.type_unknown", type=said.type)
    if said.zone and zone is None:
        if market.is_of_other_region(said.zone):
            region = market.zones()[0].region
            remedy = message("market.zones_here", zones=", ".join(zone.zone_id for zone in market.zones()))
            return Refused(
                reason=RefusalReason.ZONE_IN_OTHER_REGION,
                message=message("market.zone_elsewhere", zone=said.zone, region=region),
                remedies=(remedy,),
            )
        remedy = message("market.zones_here", zones=", ".join(zone.zone_id for zone in market.zones()))
        unknown = message("market.zone_unknown", zone=said.zone)
        return Refused(reason=RefusalReason.ZONE_UNKNOWN, message=unknown, remedies=(remedy,))
    if kind is not None and said.mode is not CapacityMode.TRAINING_PLAN and not market.offering(kind.name):
        return _no(
            RefusalReason.INSTANCE_TYPE_NOT_OFFERED,
            "market.not_offered_here",
            type=kind.name,
            region=market.zones()[0].region,
        )
    if said.plan and plan is None:
        return _no(RefusalReason.NAME_UNKNOWN, "market.plan_unknown", plan=said.plan)
    if plan is not None and not plan.is_usable:
        return _no(RefusalReason.CAPACITY_SHORT, "market.plan_inactive", plan=plan.name, status=plan.status)
    if plan is not None and kind is not None and plan.instance_type != kind.name:
        return _no(
            RefusalReason.CAPACITY_SHORT,
            "market.plan_of_other_type",
            plan=plan.name,
            type=plan.instance_type,
            wanted=kind.name,
        )
    return None


def _no(reason: RefusalReason, key: str, **params: str | int) -> Refused:
    return Refused(reason=reason, message=message(key, **params))


def _ask_type(market: Market, said: _Said, zone: Zone | None, accelerator: str) -> Decision:
    types = market.accelerated_types(zone.zone_id if zone is not None else None)
    options = type_options(market, types, wish=accelerator, count=said.count or 1)
    if not options:
        return _no(RefusalReason.QUOTA_EXCEEDED, "market.no_type_with_quota", region=market.zones()[0].region)
    return Undecided(
        question=QuestionDraft(
            name=ChoiceKind.INSTANCE_TYPE.value,
            kind=QuestionKind.INSTANCE_TYPE,
            prompt=message("market.ask_type"),
            options=options,
        )
    )


def _ask_capacity(market: Market, said: _Said, kind: InstanceType, prompt: Message | None = None) -> Decision:
    plans = [
        plan
        for plan in (market.plans() if said.mode in {None, CapacityMode.TRAINING_PLAN} else ())
        if plan.is_usable and plan.instance_type == kind.name and plan.available > 0
    ]
    options = capacity_options(market, said.capacity, kind.name, plans)
    if not options:
        return Refused(
            reason=RefusalReason.QUOTA_EXCEEDED,
            message=message("market.quota_none", type=kind.name, quota=market.quota(kind.name)),
            remedies=(message("market.ask_for_quota", type=kind.name),),
        )
    return Undecided(
        question=QuestionDraft(
            name=ChoiceKind.CAPACITY.value,
            kind=QuestionKind.CAPACITY,
            prompt=prompt or message("market.ask_capacity", type=kind.name),
            options=options,
            takes_other=True,
        )
    )


def _more_than_quota(market: Market, said: _Said, kind: InstanceType, plan: TrainingPlan | None) -> Decision | None:
    """Fewer can be asked for while the quota (or the plan) has any left; without any it is refused."""
    count = said.count or 0
    left = plan.available if plan is not None else market.quota_left(kind.name)
    if count <= left:
        return None
    if plan is not None:
        short = message("market.plan_short", plan=plan.name, count=count, left=left)
    else:
        short = message("market.quota_short", type=kind.name, count=count, left=left)
    return Refused(
        reason=RefusalReason.CAPACITY_SHORT if plan is not None else RefusalReason.QUOTA_EXCEEDED,
        message=short,
        remedies=(
            *([message("market.fewer", count=left)] if left > 0 else []),
            *([] if plan is not None else [message("market.ask_for_quota", type=kind.name)]),
        ),
    )


def _choose_zone(
    draft: Draft, market: Market, reads: Reads, decided: _Decided, said: Zone | None, vpc_id: str
) -> Decision:
    site = read_site(reads, vpc_id)
    candidates, prompt = _candidates(market, decided, said)
    choice = draft.choices.get(ChoiceKind.AVAILABILITY_ZONE)
    zone = said if said in candidates else None
    if said is None and decided.plan is not None and candidates:
        zone, choice = candidates[0], _fixed_by(decided.plan)
    if zone is None or choice is None:
        return _ask_zone(market, decided, candidates, prompt, site)
    wanted, free = addresses_per_node(decided.kind) * decided.count, site.free(zone.zone_id)
    if free < wanted:
        return _no(RefusalReason.CAPACITY_SHORT, "market.addresses_short", zone=zone.zone_id, wanted=wanted, free=free)
    by_kind = {**draft.choices, ChoiceKind.AVAILABILITY_ZONE: choice}
    if decided.plan is not None:
        by_kind.setdefault(ChoiceKind.INSTANCE_TYPE, _fixed_by(decided.plan, ChoiceKind.INSTANCE_TYPE))
    return Chosen(
        zone_id=zone.zone_id,
        zone_name=zone.name,
        instance_type=decided.kind.name,
        count=decided.count,
        mode=decided.mode,
        plan_arn=decided.plan.arn if decided.plan is not None else "",
        choices=tuple(by_kind[kind] for kind in ChoiceKind if kind in by_kind),
    )


def _candidates(market: Market, decided: _Decided, said: Zone | None) -> tuple[list[Zone], Message]:
    """Zones that can be, and what to ask: why the zone that was said is none of them, if so.

    A plan's capacity is where it is, whether the type is sold on demand there or not.
    """
    if (plan := decided.plan) is not None:
        zones = [zone for zone in market.zones() if zone.zone_id == plan.zone_id]
        shown = said.zone_id if said is not None else "-"
        return zones, message("market.plan_elsewhere", plan=plan.name, zone=plan.zone_id, said=shown)
    kind = decided.kind
    zones = [zone for zone in market.zones() if zone.zone_id in market.offering(kind.name)]
    if said is not None and said not in zones:
        return zones, message("market.not_offered_ask", type=kind.name, zone=said.zone_id)
    return zones, message("market.ask_zone", type=kind.name, count=decided.count)


def _ask_zone(market: Market, decided: _Decided, zones: list[Zone], prompt: Message, site: Site) -> Decision:
    """Zones with the network's file systems first: from elsewhere they are slow, and cost per byte."""
    ranked = sorted(zones, key=lambda zone: not site.has_file_system(zone.zone_id))
    return Undecided(
        question=QuestionDraft(
            name=ChoiceKind.AVAILABILITY_ZONE.value,
            kind=QuestionKind.AVAILABILITY_ZONE,
            prompt=prompt,
            options=zone_options(market, ranked, decided.kind.name, decided.count, site.facts),
        )
    )


def _fixed_by(plan: TrainingPlan, kind: ChoiceKind = ChoiceKind.AVAILABILITY_ZONE) -> Choice:
    value = plan.zone_id if kind is ChoiceKind.AVAILABILITY_ZONE else plan.instance_type
    return Choice(kind=kind, value=value, origin=Origin.EXISTING, quote=plan.name, reference=plan.arn)
