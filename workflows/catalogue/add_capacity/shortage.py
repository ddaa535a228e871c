"""Not enough capacity for the new nodes: what came is used, and a person says what becomes of the rest."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.cluster.clusters import CapacityMode
from core.ids import StepName
from core.json_value import JsonValue
from core.messages.message import Message, message
from core.questions import Option, QuestionDraft, QuestionKind
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER
from tools.nodes import CLUSTER_NODES, NodesArgs
from tools.reading import number, text
from workflows.catalogue.add_capacity.params import AddCapacityParams, Change, Goal, Source
from workflows.catalogue.add_capacity.place import Place, read_place
from workflows.catalogue.create_cluster.params import MAX_NODES
from workflows.catalogue.create_cluster.shortage import CannotBe, find_plan
from workflows.catalogue.market import Market
from workflows.catalogue.options import capacity_value, option, recommend_first, similar_types
from workflows.catalogue.trouble import Shortage
from workflows.definition import Ask, Next, Outcome, StepContext

WAIT_NODES, DECIDE = StepName("wait_nodes"), StepName("decide")
PATIENCE: Final = timedelta(minutes=90)
"""Who chose to wait is asked again after this long without the missing nodes."""


class Answer(BaseModel):
    """An answer as it comes. Alone, `count` is how many nodes it shall be in all; with another zone, type or
    source it is how many come from there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: CapacityMode | None = None
    count: int | None = Field(default=None, ge=0, le=MAX_NODES)
    plan: str | None = None
    zone: str | None = None
    type: str | None = None


def question_name(ctx: StepContext) -> str:
    """Each shortage of a run has a question of its own."""
    return f"capacity_{number(ctx.run.data, 'shortages_handled') + 1}"


def ask_for_capacity(ctx: StepContext, params: AddCapacityParams, goal: Goal, shortage: Shortage) -> Ask:
    prompt = message(
        "add_capacity.shortage",
        got=shortage.got,
        wanted=shortage.wanted,
        type=goal.source.instance_type,
        zone=goal.source.zone_id,
        name=params.cluster,
    )
    evidence = ctx.keep_evidence("capacity_event", shortage.said)
    details = (
        message("create_cluster.aws_said", text=shortage.said, evidence=evidence),
        message("add_capacity.usable_now", got=shortage.got),
    )
    options = _options(ctx, params, goal, shortage.got)
    return Ask(question=_question(question_name(ctx), prompt, options, details), data={"got": shortage.got})


def decide(ctx: StepContext, params: AddCapacityParams) -> Outcome:
    """Make the answer exact: what is given back, what comes instead. An answer that cannot be is asked again."""
    name, handled = question_name(ctx), number(ctx.run.data, "shortages_handled") + 1
    answer, goal = ctx.answer(name), Goal.read(ctx.run.data, params)
    if answer is None:
        return Next(to=WAIT_NODES)
    try:
        change = _change(ctx, params, goal, answer.value, handled)
    except CannotBe as error:
        options = _options(ctx, params, goal, number(ctx.run.data, "got"))
        again = _question(f"capacity_{handled + 1}", error.why, options, ())
        return Ask(question=again, data={"shortages_handled": handled})
    return Next(data={"change": change.model_dump(mode="json"), "shortages_handled": handled})


def _change(ctx: StepContext, params: AddCapacityParams, goal: Goal, value: JsonValue, handled: int) -> Change:
    """Raises `CannotBe`."""
    try:
        answer = Answer.model_validate(value)
    except ValidationError as error:
        raise CannotBe(message("create_cluster.answer_unreadable", count=MAX_NODES)) from error
    old, market = goal.source, Market(ctx)
    source = _source(market, old, answer, params, handled)
    missing = _missing(ctx, params, goal)
    moves = source != old
    if not moves:
        wanted = goal.wanted if answer.count is None else answer.count
        if wanted > goal.wanted:
            raise CannotBe(message("add_capacity.no_more_than_planned", count=goal.wanted))
        give_back = missing[: goal.wanted - wanted]
        if len(give_back) < goal.wanted - wanted:
            raise CannotBe(message("add_capacity.nodes_came", got=goal.wanted - len(missing)))
        return Change(wanted=wanted, give_back=give_back, source=old, waits=wanted == goal.wanted)
    more = len(missing) if answer.count is None else answer.count
    subnet_id = _check_source(ctx, params, market, source, more, old)
    wanted = goal.wanted - len(missing) + more
    return Change(wanted=wanted, give_back=missing, source=source, more=more, subnet_id=subnet_id)


def _source(market: Market, old: Source, answer: Answer, params: AddCapacityParams, handled: int) -> Source:
    """Raises `CannotBe`. A plan fixes its zone."""
    mode, kind = answer.mode or old.mode, answer.type or old.instance_type
    zone_id, plan_arn = old.zone_id, old.plan_arn if mode is old.mode else ""
    if answer.zone:
        zone = market.zone(answer.zone)
        if zone is None:
            raise CannotBe(message("create_cluster.not_offered_again", type=kind, zone=answer.zone))
        zone_id = zone.zone_id
    if mode is CapacityMode.TRAINING_PLAN and (answer.plan is not None or not plan_arn):
        plan = find_plan(market, answer.plan or "")
        if plan is None or not plan.is_usable or plan.instance_type != kind:
            raise CannotBe(message("create_cluster.plan_unusable", plan=answer.plan or "-", type=kind))
        zone_id, plan_arn = plan.zone_id, plan.arn
    same = (kind, zone_id, mode, plan_arn) == (old.instance_type, old.zone_id, old.mode, old.plan_arn)
    group = old.group if same else f"{params.group}-m{handled + 1}"
    return Source(group=group, zone_id=zone_id, instance_type=kind, mode=mode, plan_arn=plan_arn)


def _check_source(
    ctx: StepContext, params: AddCapacityParams, market: Market, source: Source, more: int, old: Source
) -> str:
    """The subnet of the new group. Raises `CannotBe`."""
    if more < 1:
        raise CannotBe(message("create_cluster.answer_unreadable", count=MAX_NODES))
    kind, is_plan = source.instance_type, source.mode is CapacityMode.TRAINING_PLAN
    if market.figures(kind) is None or not (is_plan or source.zone_id in market.offering(kind)):
        raise CannotBe(message("create_cluster.not_offered_again", type=kind, zone=source.zone_id))
    returned = more if kind == old.instance_type and old.mode is not CapacityMode.TRAINING_PLAN else 0
    left = market.quota_left(kind) + returned
    if not is_plan and left < more:
        raise CannotBe(message("create_cluster.quota_short_again", type=kind, count=more, left=left))
    place = _place(ctx, params)
    subnet = place.subnet_for(source.zone_id) if place is not None else None
    if subnet is None:
        raise CannotBe(message("create_cluster.no_subnet_for_zone", zone=source.zone_id))
    return subnet.subnet_id


def _missing(ctx: StepContext, params: AddCapacityParams, goal: Goal) -> tuple[str, ...]:
    """Our nodes that have no instance. Frozen with the decision: a node that comes later is not given back."""
    nodes = ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.cluster, eks_name=text(ctx.run.data, "eks_name")))
    return tuple(
        str(node.logical_id)
        for node in nodes.nodes
        if goal.owns(node.group, node.logical_id) and node.instance_id is None
    )


def _place(ctx: StepContext, params: AddCapacityParams) -> Place | None:
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.cluster))
    return read_place(ctx, details) if details is not None else None


def _question(name: str, prompt: Message, options: tuple[Option, ...], details: tuple[Message, ...]) -> QuestionDraft:
    return QuestionDraft(
        name=name, kind=QuestionKind.CAPACITY, prompt=prompt, options=options, takes_other=True, details=details
    )


def _options(ctx: StepContext, params: AddCapacityParams, goal: Goal, got: int) -> tuple[Option, ...]:
    market, place, source, missing = Market(ctx), _place(ctx, params), goal.source, goal.wanted - got
    zones = place.zone_ids if place is not None else frozenset()
    return recommend_first(
        [
            _fewer(market, goal, got),
            *_other_zones(market, source, missing, zones),
            *_other_types(market, source, missing),
            *_plans(ctx, market, source, missing, zones),
            _wait(goal),
        ]
        if got > 0
        else [
            *_other_zones(market, source, missing, zones),
            *_other_types(market, source, missing),
            *_plans(ctx, market, source, missing, zones),
            _wait(goal),
            _fewer(market, goal, got),
        ]
    )


def _fewer(market: Market, goal: Goal, got: int) -> Option:
    """What came stays; the rest is no longer asked for. With nothing, the cluster is as it was."""
    source = goal.source
    if got == 0:
        return option(capacity_value(source.mode, 0), message("add_capacity.option_none"))
    return option(
        capacity_value(source.mode, got),
        message("create_cluster.option_fewer", got=got, wanted=goal.wanted),
        message("create_cluster.why_fewer", got=got, zone=source.zone_id),
        market.price_text(source.instance_type, got),
    )


def _other_zones(market: Market, source: Source, missing: int, zones: frozenset[str]) -> list[Option]:
    if source.mode is CapacityMode.TRAINING_PLAN:
        return []
    return [
        option(
            capacity_value(source.mode, missing, zone=zone),
            message("add_capacity.option_zone", count=missing, zone=zone),
            message("market.offered", type=source.instance_type, zone=zone),
            message("add_capacity.keeps_what_came"),
            market.price_text(source.instance_type, missing),
        )
        for zone in market.offering(source.instance_type)
        if zone != source.zone_id and zone in zones
    ]


def _other_types(market: Market, source: Source, missing: int) -> list[Option]:
    if source.mode is CapacityMode.TRAINING_PLAN:
        return []
    return [
        option(
            capacity_value(source.mode, missing, type=kind.name),
            message("add_capacity.option_type", count=missing, type=kind.name, model=kind.gpu_model),
            market.quota_text(kind.name),
            message("add_capacity.keeps_what_came"),
            market.price_text(kind.name, missing),
        )
        for kind in similar_types(market, source.instance_type, source.zone_id, missing)
    ]


def _plans(ctx: StepContext, market: Market, source: Source, missing: int, zones: frozenset[str]) -> list[Option]:
    return [
        option(
            capacity_value(CapacityMode.TRAINING_PLAN, count, plan=plan.name, zone=plan.zone_id),
            message("market.training_plan", count=count, type=plan.instance_type, plan=plan.name),
            message("market.plan_facts", status=plan.status, zone=plan.zone_id, available=plan.available),
            message("market.plan_hours", hours=plan.hours_left(ctx.now)),
        )
        for plan in market.plans()
        if plan.is_usable
        and (count := min(missing, plan.available)) > 0
        and plan.instance_type == source.instance_type
        and plan.arn != source.plan_arn
        and plan.zone_id in zones
    ]


def _wait(goal: Goal) -> Option:
    return option(
        capacity_value(goal.source.mode, goal.wanted),
        message("create_cluster.option_wait", count=goal.wanted),
        message("create_cluster.why_wait", minutes=int(PATIENCE.total_seconds() // 60)),
    )
