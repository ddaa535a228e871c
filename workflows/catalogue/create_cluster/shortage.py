"""Not enough capacity: what a person is asked, and what their answer changes.

Nothing here chooses. The options are built from what the region offers; whichever is taken, the cluster and
what it already has stay, and the answer says what is given back.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.cluster.clusters import CapacityMode
from core.ids import StepName
from core.json_value import JsonObject, JsonValue
from core.messages.message import Message, message
from core.questions import Option, QuestionDraft, QuestionKind
from tools.groups import UPDATE_GROUPS, UpdateGroupsArgs
from tools.plans import TrainingPlan
from tools.reading import child, number, text
from workflows.catalogue.create_cluster.control_plane import group_of
from workflows.catalogue.create_cluster.network import has_room_for_zone, make_zone_subnet
from workflows.catalogue.create_cluster.params import MAX_NODES, WORKERS, CreateClusterParams, Target
from workflows.catalogue.market import Market
from workflows.catalogue.options import capacity_value, option, recommend_first, similar_types
from workflows.catalogue.pace import DELETION_BUDGET, next_look
from workflows.catalogue.trouble import Shortage
from workflows.definition import Ask, Next, Outcome, StepContext, Wait

WAIT_NODES: Final = StepName("wait_nodes")
_PATIENCE: Final = timedelta(minutes=90)
"""Who chose to wait is asked again after this long without the missing nodes."""


class CapacityAnswer(BaseModel):
    """An answer as it comes: what it does not name stays as it was planned."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: CapacityMode | None = None
    count: int | None = Field(default=None, ge=1, le=MAX_NODES)
    plan: str | None = None
    zone: str | None = None
    type: str | None = None


class CannotBe(Exception):
    """The answer asks for something that the world does not have."""

    def __init__(self, why: Message) -> None:
        super().__init__(why.english())
        self.why = why


def question_name(ctx: StepContext) -> str:
    """Each shortage of a run has a question of its own."""
    return f"capacity_{number(ctx.run.data, 'shortages_handled') + 1}"


def ask_for_capacity(ctx: StepContext, params: CreateClusterParams, target: Target, shortage: Shortage) -> Ask:
    prompt = message(
        "create_cluster.shortage",
        got=shortage.got,
        wanted=shortage.wanted,
        type=target.instance_type,
        zone=target.zone_id,
        name=params.name,
    )
    evidence = ctx.keep_evidence("capacity_event", shortage.said)
    details = (message("create_cluster.aws_said", text=shortage.said, evidence=evidence),)
    return Ask(question=_question(ctx, question_name(ctx), prompt, _options(ctx, target, shortage), details))


def change_capacity(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    """Carry out what was answered. An answer that cannot be is asked again, with the reason."""
    name, handled = question_name(ctx), number(ctx.run.data, "shortages_handled") + 1
    answer, target = ctx.answer(name), Target.read(ctx.run.data, params)
    if answer is None:
        return Next(to=WAIT_NODES)
    try:
        wanted = _new_target(ctx, target, answer.value, handled)
    except CannotBe as error:
        options = _options(ctx, target, Shortage(got=0, wanted=target.count, said=""))
        again = _question(ctx, f"capacity_{handled + 1}", error.why, options, ())
        return Ask(question=again, data={"shortages_handled": handled})
    network = _carry_out(ctx, params, target, wanted, handled)
    if isinstance(network, Wait):
        return network
    return Next(
        to=WAIT_NODES,
        data={
            "network": network,
            "target": wanted.to_json(),
            "shortages_handled": handled,
            "patient_until": (ctx.now + _PATIENCE).isoformat() if wanted == target else None,
        },
    )


def _carry_out(
    ctx: StepContext, params: CreateClusterParams, old: Target, new: Target, handled: int
) -> JsonObject | Wait:
    """The network afterwards; a `Wait` while the quota is still held by nodes that are being given back."""
    network = child(ctx.run.data, "network")
    if new == old:
        return network
    if new.group == old.group:
        counts = {new.group: new.count}
        ctx.perform(UPDATE_GROUPS, UpdateGroupsArgs(cluster=params.name, counts=counts, round=handled))
        return network
    # First give back, then ask anew: the quota rarely covers both.
    ctx.perform(UPDATE_GROUPS, UpdateGroupsArgs(cluster=params.name, removed=(old.group,), round=handled))
    is_free = new.mode is CapacityMode.TRAINING_PLAN or Market(ctx).quota_left(new.instance_type) >= new.count
    if not is_free and ctx.now - ctx.step_started_at < DELETION_BUDGET:
        why = message("create_cluster.waiting_for_quota", group=old.group, type=new.instance_type)
        return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)
    network = make_zone_subnet(ctx, params.name, new.zone_id)
    group = group_of(ctx, new, text(network, "subnets", new.zone_id), text(network, "security_group_id"))
    ctx.perform(UPDATE_GROUPS, UpdateGroupsArgs(cluster=params.name, added=(group,), round=handled))
    return network


def _new_target(ctx: StepContext, old: Target, value: JsonValue, handled: int) -> Target:
    """Raises `CannotBe`."""
    try:
        answer = CapacityAnswer.model_validate(value)
    except ValidationError as error:
        raise CannotBe(message("create_cluster.answer_unreadable", count=MAX_NODES)) from error
    market = Market(ctx)
    kind, count = answer.type or old.instance_type, answer.count or old.count
    mode, plan_arn, zone_id = _source(market, old, answer, kind)
    is_sold = mode is CapacityMode.TRAINING_PLAN or zone_id in market.offering(kind)
    if market.figures(kind) is None or not is_sold:
        raise CannotBe(message("create_cluster.not_offered_again", type=kind, zone=zone_id))
    own = old.count if kind == old.instance_type and old.mode is not CapacityMode.TRAINING_PLAN else 0
    left = market.quota_left(kind) + own
    if mode is not CapacityMode.TRAINING_PLAN and left < count:
        raise CannotBe(message("create_cluster.quota_short_again", type=kind, count=count, left=left))
    moves = (kind, zone_id, mode, plan_arn) != (old.instance_type, old.zone_id, old.mode, old.plan_arn)
    if not moves:
        return old.model_copy(update={"count": count})
    if zone_id != old.zone_id and not has_room_for_zone(ctx, zone_id):
        raise CannotBe(message("create_cluster.no_subnet_for_zone", zone=zone_id))
    return Target(
        group=f"{WORKERS}-{handled + 1}",
        zone_id=zone_id,
        instance_type=kind,
        count=count,
        mode=mode,
        plan_arn=plan_arn,
    )


def _source(market: Market, old: Target, answer: CapacityAnswer, kind: str) -> tuple[CapacityMode, str, str]:
    """Mode, plan and zone of an answer. A plan fixes its zone."""
    mode = answer.mode or old.mode
    if mode is not CapacityMode.TRAINING_PLAN:
        zone = market.zone(answer.zone) if answer.zone else None
        if answer.zone and zone is None:
            raise CannotBe(message("create_cluster.not_offered_again", type=kind, zone=answer.zone))
        return mode, "", zone.zone_id if zone is not None else old.zone_id
    if answer.plan is None and old.plan_arn:
        return mode, old.plan_arn, old.zone_id
    found = find_plan(market, answer.plan or "")
    if found is None or not found.is_usable or found.instance_type != kind:
        raise CannotBe(message("create_cluster.plan_unusable", plan=answer.plan or "-", type=kind))
    return mode, found.arn, found.zone_id


def find_plan(market: Market, name_or_arn: str) -> TrainingPlan | None:
    return next((plan for plan in market.plans() if name_or_arn in {plan.name, plan.arn}), None)


def _question(
    ctx: StepContext, name: str, prompt: Message, options: tuple[Option, ...], details: tuple[Message, ...]
) -> QuestionDraft:
    return QuestionDraft(
        name=name,
        kind=QuestionKind.CAPACITY,
        prompt=prompt,
        options=options,
        takes_other=True,
        details=details,
    )


def _options(ctx: StepContext, target: Target, shortage: Shortage) -> tuple[Option, ...]:
    market = Market(ctx)
    fewer = [_fewer(market, target, shortage)] if 0 < shortage.got < shortage.wanted else []
    return recommend_first(
        [
            *fewer,
            *_other_zones(ctx, market, target),
            *_other_types(market, target),
            *_plans(ctx, market, target),
            _wait(target),
        ]
    )


def _fewer(market: Market, target: Target, shortage: Shortage) -> Option:
    return option(
        capacity_value(target.mode, shortage.got),
        message("create_cluster.option_fewer", got=shortage.got, wanted=shortage.wanted),
        message("create_cluster.why_fewer", got=shortage.got, zone=target.zone_id),
        market.price_text(target.instance_type, shortage.got),
    )


def _other_zones(ctx: StepContext, market: Market, target: Target) -> list[Option]:
    zones = [zone for zone in market.offering(target.instance_type) if zone != target.zone_id]
    return [
        option(
            capacity_value(target.mode, target.count, zone=zone),
            message("create_cluster.option_zone", count=target.count, zone=zone),
            message("market.offered", type=target.instance_type, zone=zone),
            message("create_cluster.gives_back", group=target.group),
            market.price_text(target.instance_type, target.count),
        )
        for zone in zones
        if target.mode is not CapacityMode.TRAINING_PLAN and has_room_for_zone(ctx, zone)
    ]


def _other_types(market: Market, target: Target) -> list[Option]:
    if target.mode is CapacityMode.TRAINING_PLAN:
        return []
    return [
        option(
            capacity_value(target.mode, target.count, type=kind.name),
            message("create_cluster.option_type", count=target.count, type=kind.name, model=kind.gpu_model),
            market.quota_text(kind.name),
            message("create_cluster.gives_back", group=target.group),
            market.price_text(kind.name, target.count),
        )
        for kind in similar_types(market, target.instance_type, target.zone_id, target.count)
    ]


def _plans(ctx: StepContext, market: Market, target: Target) -> list[Option]:
    """Usable plans for this type that could hold at least one node."""
    return [
        option(
            capacity_value(
                CapacityMode.TRAINING_PLAN, min(target.count, plan.available), plan=plan.name, zone=plan.zone_id
            ),
            message("market.training_plan", count=min(target.count, plan.available), type=kind, plan=plan.name),
            message("market.plan_facts", status=plan.status, zone=plan.zone_id, available=plan.available),
            message("market.plan_hours", hours=plan.hours_left(ctx.now)),
        )
        for plan in market.plans()
        if plan.is_usable
        and plan.available > 0
        and (kind := plan.instance_type) == target.instance_type
        and plan.arn != target.plan_arn
        and has_room_for_zone(ctx, plan.zone_id)
    ]


def _wait(target: Target) -> Option:
    return option(
        capacity_value(target.mode, target.count),
        message("create_cluster.option_wait", count=target.count),
        message("create_cluster.why_wait", minutes=int(_PATIENCE.total_seconds() // 60)),
    )
