"""add_capacity as something to ask for: a group that grows, or a new one, never with a choice that nobody made.

A group that grows fixes zone, type and source (origin `existing`); what is said must agree with it. A new group
is chosen like the first group of a new cluster.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.choices import ChoiceKind
from core.cluster.clusters import CapacityMode, InstanceGroup
from core.ids import ClusterName
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from core.risk import Risk
from tools.clusters import ClusterDetails
from workflows.catalogue.add_capacity.growth import Growth, Words, choose_growth
from workflows.catalogue.add_capacity.params import GROUP_PATTERN, MAX_GROUP_NAME, AddCapacityParams
from workflows.catalogue.add_capacity.place import Place, read_place
from workflows.catalogue.create_cluster.choices import Chosen, Undecided, choose
from workflows.catalogue.market import Market
from workflows.catalogue.money import dollars
from workflows.catalogue.options import option
from workflows.catalogue.preparing import choice_lines, choices_json, reading
from workflows.catalogue.targets import find_target, refuse_unusable
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused


class AddCapacityRequest(BaseModel):
    """What the model may fill in. How many nodes, of which type, where and from what source are choices."""

    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster that gets more nodes.")
    group: str | None = Field(
        default=None, description="Instance group to grow or to make, when the requester named one."
    )
    total: int | None = Field(
        default=None, description="How many nodes the group shall have in the end (`up to 8`), when that was said."
    )
    is_new_group: bool | None = Field(default=None, description="True when the requester asked for a new group.")
    accelerator: str | None = Field(
        default=None, description="GPU model that was named instead of an instance type, such as `H100`."
    )


class AddCapacity:
    """`workflows.operations.Operation`."""

    name: Final = "add_capacity"
    description: Final = (
        "Add nodes to an existing HyperPod cluster: grow an instance group by a number of nodes, or make a new group,"
        " and wait until the new nodes are ready. The capacity says how many nodes more, and from where."
    )
    params: Final[type[BaseModel]] = AddCapacityRequest
    human_choices: Final = frozenset(ChoiceKind)

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        return reading(lambda: _prepare(draft, reads, planned))


def _prepare(draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    request = AddCapacityRequest.model_validate(draft.params)
    target = find_target(request.cluster, reads, planned)
    if isinstance(target, Missing | Refused):
        return target
    if isinstance(target, PlannedCluster):
        text = message("add_capacity.still_planned", name=target.name)
        return Refused(reason=RefusalReason.TARGET_IN_WRONG_STATE, message=text)
    refusal = refuse_unusable(target) or _refuse_name(request.group)
    if refusal is not None:
        return refusal
    market, place = Market(reads), read_place(reads, target)
    group = _which_group(draft, request, target, place, market)
    if isinstance(group, Missing | Refused):
        return group
    if group is None:
        return _new_group(draft, request, target, market, place, reads)
    growth = choose_growth(draft, target, group, market, place, total=request.total)
    if isinstance(growth, Missing | Refused):
        return growth
    return _ready(target, growth, market)


def _refuse_name(group: str | None) -> Refused | None:
    if group is None or (len(group) <= MAX_GROUP_NAME and re.fullmatch(GROUP_PATTERN, group)):
        return None
    text = message("add_capacity.group_invalid", name=group[:80], longest=MAX_GROUP_NAME)
    return Refused(reason=RefusalReason.NAME_INVALID, message=text)


def _which_group(
    draft: Draft, request: AddCapacityRequest, details: ClusterDetails, place: Place, market: Market
) -> InstanceGroup | Missing | Refused | None:
    """The group to grow; `None` for a new one, which no group that is there is like."""
    groups = details.cluster.groups
    named = next((group for group in groups if group.name == request.group), None)
    if named is not None and request.is_new_group is True:
        text = message("add_capacity.group_taken", group=named.name, name=details.cluster.name)
        return Refused(reason=RefusalReason.NAME_TAKEN, message=text)
    if named is not None:
        return named
    if request.group is not None or request.is_new_group is True:
        return None
    words = Words(draft, market)
    fitting = [group for group in groups if words.fit(group, place.zones_of(group.name))]
    if len(fitting) > 1:
        return Missing(question=_ask_group(fitting, place))
    return fitting[0] if fitting else None


def _ask_group(groups: Sequence[InstanceGroup], place: Place) -> QuestionDraft:
    """None is recommended: which of them shall grow, only the requester knows."""
    return QuestionDraft(
        name="params.group",
        kind=QuestionKind.TARGET,
        prompt=message("add_capacity.ask_group"),
        options=tuple(
            option(
                group.name,
                message(
                    "add_capacity.group_option",
                    group=group.name,
                    count=group.current_count,
                    type=", ".join(group.instance_types),
                    zones=", ".join(place.zones_of(group.name)) or "-",
                ),
            )
            for group in groups
        ),
    )


def _new_group(
    draft: Draft,
    request: AddCapacityRequest,
    details: ClusterDetails,
    market: Market,
    place: Place,
    reads: Reads,
) -> Preparation:
    if not place.models or not place.vpc_id:
        text = message("add_capacity.no_model", name=details.cluster.name)
        return Refused(reason=RefusalReason.NOT_SUPPORTED, message=text)
    chosen = choose(draft, market, reads, accelerator=request.accelerator or "", vpc_id=place.vpc_id)
    if isinstance(chosen, Refused):
        return chosen
    if isinstance(chosen, Undecided):
        return Missing(question=chosen.question)
    subnet = place.subnet_for(chosen.zone_id)
    if subnet is None:
        text = message("add_capacity.no_subnet", name=details.cluster.name, zone=chosen.zone_id)
        return Refused(reason=RefusalReason.CAPACITY_SHORT, message=text)
    return _ready(details, _as_growth(chosen, request.group or _free_name(details), subnet.subnet_id), market)


def _as_growth(chosen: Chosen, group: str, subnet_id: str) -> Growth:
    return Growth(
        group=group,
        subnet_id=subnet_id,
        count=chosen.count,
        zone_id=chosen.zone_id,
        zone_name=chosen.zone_name,
        narrows_zone=False,
        instance_type=chosen.instance_type,
        mode=chosen.mode,
        plan_arn=chosen.plan_arn,
        choices=chosen.choices,
    )


def _free_name(details: ClusterDetails) -> str:
    """Nobody has to name a group."""
    taken = {group.name for group in details.cluster.groups}
    number = len(taken) + 1
    while f"workers-{number}" in taken:
        number += 1
    return f"workers-{number}"


def _ready(details: ClusterDetails, growth: Growth, market: Market) -> Ready:
    price = None if growth.mode is CapacityMode.TRAINING_PLAN else market.price(growth.instance_type)
    is_new = all(group.name != growth.group for group in details.cluster.groups)
    params = AddCapacityParams(
        cluster=details.cluster.name,
        group=growth.group,
        is_new_group=is_new,
        count=growth.count,
        zone_id=growth.zone_id,
        zone_name=growth.zone_name,
        narrows_zone=growth.narrows_zone,
        instance_type=growth.instance_type,
        mode=growth.mode,
        plan_arn=growth.plan_arn,
        subnet_id=growth.subnet_id,
        price_cents_per_hour=price,
        choices=choices_json(growth.choices),
    )
    return Ready(
        run_params=params.model_dump(mode="json"),
        cluster=details.cluster.name,
        risk=Risk.SPENDING,
        card=(*_card(params, details), *_cost(params, price), *choice_lines(growth.choices)),
        cost_cents_per_hour=(price or 0) * params.count,
    )


def _card(params: AddCapacityParams, details: ClusterDetails) -> tuple[Message, ...]:
    what: dict[str, str | int] = {
        "name": params.cluster,
        "group": params.group,
        "count": params.count,
        "type": params.instance_type,
        "zone": params.zone_id,
    }
    if params.is_new_group:
        others = len(details.cluster.groups)
        return (
            message("add_capacity.card_new", **what),
            message("add_capacity.card_subnet", subnet=params.subnet_id, others=others),
            message("add_capacity.card_shortage"),
        )
    target = next(group.target_count for group in details.cluster.groups if group.name == params.group)
    return (
        message("add_capacity.card_grow", **what, before=target, after=target + params.count),
        message("add_capacity.card_shortage"),
    )


def _cost(params: AddCapacityParams, price: int | None) -> tuple[Message, ...]:
    if params.mode is CapacityMode.TRAINING_PLAN:
        return (message("add_capacity.card_cost_plan", plan=params.plan_arn.rpartition("/")[2]),)
    if price is None:
        return (message("market.price_unknown", type=params.instance_type),)
    spot = (message("market.spot_warning"),) if params.mode is CapacityMode.SPOT else ()
    total = dollars(price * params.count)
    return (message("add_capacity.card_cost", total=total, each=dollars(price), count=params.count), *spot)
