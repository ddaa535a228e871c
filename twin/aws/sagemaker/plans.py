"""Training plans: searched, bought, extended. Buying and extending take no token: twice is twice the money."""

from __future__ import annotations

from datetime import datetime, timedelta

from core.cluster.instance_types import find_instance_type
from core.ids import InstanceTypeName
from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, NotInTwin, validation
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.aws.pricing import hourly_usd
from twin.aws.sagemaker.clusters import set_tags
from twin.world import capacity
from twin.world.state import Plan, Spec, World

DISCOUNT = 0.7
"""Of the on-demand price: made up, as no list is published."""
DEFAULT_DURATION_HOURS = 24
STARTS_IN_HOURS = (1, 24, 72)
MAX_COUNT = 64
EXTENSION_HOURS = (24, 168)


def search_training_plan_offerings(ctx: Context, params: Params) -> Reply:
    """One offering per zone that has the type, for each start within the wanted window."""
    if params.text("UltraServerType"):
        raise NotInTwin("training plans of UltraServers")
    if params.text("TrainingPlanArn"):
        plan = _find(ctx.sim.world, params.text("TrainingPlanArn"))
        extensions = [_extension_offering(ctx, plan, hours) for hours in EXTENSION_HOURS]
        return {"TrainingPlanOfferings": [], "TrainingPlanExtensionOfferings": extensions}
    name, count = InstanceTypeName(params.text("InstanceType")), params.integer("InstanceCount", 1)
    if not name:
        raise validation("InstanceType must be specified.")
    hours = params.integer("DurationHours", DEFAULT_DURATION_HOURS)
    after, before = params.moment("StartTimeAfter") or ctx.sim.now, params.moment("EndTimeBefore")
    starts = [start for wait in STARTS_IN_HOURS if (start := ctx.sim.now + timedelta(hours=wait)) >= after]
    offerings = [
        _offering(ctx, zone.zone_id, name, count, start, hours)
        for start in starts
        for zone in ctx.seen.zones.values()
        if name in zone.free and count <= MAX_COUNT and (before is None or start + timedelta(hours=hours) <= before)
    ]
    return {"TrainingPlanOfferings": [_describe_offering(ctx, offering) for offering in offerings]}


def create_training_plan(ctx: Context, params: Params) -> Reply:
    world, name = ctx.sim.world, params.text("TrainingPlanName")
    if name in world.plans:
        raise AwsError("ResourceInUse", f"Training plan {name} already exists.")
    offering = world.offerings.get(params.text("TrainingPlanOfferingId"))
    if offering is None or "plan" in offering:
        raise AwsError("ResourceNotFound", f"Offering {params.text('TrainingPlanOfferingId')} not found.")
    start = datetime.fromisoformat(offering["start"])
    plan = Plan(
        name=name,
        instance_type=offering["type"],
        count=offering["count"],
        zone=offering["zone"],
        status="Pending",
        start=start,
        end=start + timedelta(hours=offering["hours"]),
        offering_id=offering["id"],
        upfront_fee=offering["fee"],
    )
    world.plans[name] = plan
    ctx.sim.after(90, "plan.paid", plan=name)
    set_tags(ctx, _arn(ctx, plan), params)
    return {"TrainingPlanArn": _arn(ctx, plan)}


def describe_training_plan(ctx: Context, params: Params) -> Reply:
    return _describe(ctx, _find(ctx.seen, params.text("TrainingPlanName"))) | {
        "UnhealthyInstanceCount": 0,
        "AvailableSpareInstanceCount": 0,
    }


def list_training_plans(ctx: Context, params: Params) -> Reply:
    wanted = {item.text("Value") for item in params.structures("Filters")}
    after, before = params.moment("StartTimeAfter"), params.moment("StartTimeBefore")
    plans = [
        plan
        for plan in ctx.seen.plans.values()
        if (not wanted or plan.status in wanted)
        and (after is None or plan.start > after)
        and (before is None or plan.start < before)
    ]
    by = {"TrainingPlanName": "name", "StartTime": "start", "Status": "status"}[params.text("SortBy", "StartTime")]
    plans.sort(key=lambda plan: str(getattr(plan, by)), reverse=params.text("SortOrder") == "Descending")
    chosen, token = page(plans, params)
    return {"TrainingPlanSummaries": [_describe(ctx, plan) for plan in chosen], "NextToken": token}


def extend_training_plan(ctx: Context, params: Params) -> Reply:
    offering = ctx.sim.world.offerings.get(params.text("TrainingPlanExtensionOfferingId"))
    if offering is None or "plan" not in offering:
        raise AwsError("ResourceNotFound", "The extension offering was not found.")
    plan = ctx.sim.world.plans[offering["plan"]]
    begins, hours = plan.end, offering["hours"]
    plan.end += timedelta(hours=hours)
    zone = ctx.sim.world.zones[plan.zone]
    plan.extensions.append(
        {
            "TrainingPlanExtensionOfferingId": offering["id"],
            "ExtendedAt": ctx.sim.now.timestamp(),
            "StartDate": begins.timestamp(),
            "EndDate": plan.end.timestamp(),
            "Status": "Active",
            "PaymentStatus": "Paid",
            "AvailabilityZone": zone.name,
            "AvailabilityZoneId": zone.zone_id,
            "DurationHours": hours,
            "UpfrontFee": offering["fee"],
            "CurrencyCode": "USD",
        }
    )
    if plan.status in {"Active", "Expired"}:
        plan.status = "Active"
        ctx.sim.after((plan.end - ctx.sim.now).total_seconds(), "plan.ends", plan=plan.name)
    return {"TrainingPlanExtensions": plan.extensions}


def describe_training_plan_extension_history(ctx: Context, params: Params) -> Reply:
    chosen, token = page(_find(ctx.seen, params.text("TrainingPlanArn")).extensions, params)
    return {"TrainingPlanExtensions": chosen, "NextToken": token}


def describe_reserved_capacity(ctx: Context, params: Params) -> Reply:
    name = params.text("ReservedCapacityArn").rpartition("/")[2].removesuffix("-capacity")
    if name not in ctx.seen.plans:
        raise AwsError("ResourceNotFound", f"Reserved capacity {params.text('ReservedCapacityArn')} not found.")
    plan = ctx.seen.plans[name]
    in_use = capacity.plan_in_use(ctx.seen, plan)
    reserved = _reserved(ctx, plan)
    del reserved["AvailabilityZoneId"]
    return reserved | {"AvailableInstanceCount": plan.count - in_use, "InUseInstanceCount": in_use}


OPERATIONS: dict[str, Handler] = {
    "SearchTrainingPlanOfferings": search_training_plan_offerings,
    "CreateTrainingPlan": create_training_plan,
    "DescribeTrainingPlan": describe_training_plan,
    "ListTrainingPlans": list_training_plans,
    "ExtendTrainingPlan": extend_training_plan,
    "DescribeTrainingPlanExtensionHistory": describe_training_plan_extension_history,
    "DescribeReservedCapacity": describe_reserved_capacity,
}


def _offering(ctx: Context, zone: str, name: InstanceTypeName, count: int, start: datetime, hours: int) -> Spec:
    offering: Spec = {
        "id": f"tpo-{ctx.sim.short_id(16)}",
        "zone": zone,
        "type": name,
        "count": count,
        "start": start.isoformat(),
        "hours": hours,
        "fee": _fee(name, count, hours),
    }
    ctx.sim.world.offerings[offering["id"]] = offering
    return offering


def _describe_offering(ctx: Context, offering: Spec) -> Reply:
    start = datetime.fromisoformat(offering["start"])
    reserved = {
        "ReservedCapacityType": "Instance",
        "InstanceType": offering["type"],
        "InstanceCount": offering["count"],
        "AvailabilityZone": ctx.seen.zones[offering["zone"]].name,
        "DurationHours": offering["hours"],
        "StartTime": start,
        "EndTime": start + timedelta(hours=offering["hours"]),
    }
    return {
        "TrainingPlanOfferingId": offering["id"],
        "TargetResources": ["hyperpod-cluster"],
        "DurationHours": offering["hours"],
        "UpfrontFee": offering["fee"],
        "CurrencyCode": "USD",
        "ReservedCapacityOfferings": [reserved],
    }


def _extension_offering(ctx: Context, plan: Plan, hours: int) -> Reply:
    offering: Spec = {
        "id": f"tpeo-{ctx.sim.short_id(16)}",
        "plan": plan.name,
        "hours": hours,
        "fee": _fee(plan.instance_type, plan.count, hours),
    }
    ctx.sim.world.offerings[offering["id"]] = offering
    return {
        "TrainingPlanExtensionOfferingId": offering["id"],
        "AvailabilityZone": ctx.seen.zones[plan.zone].name,
        "StartDate": plan.end,
        "EndDate": plan.end + timedelta(hours=hours),
        "DurationHours": hours,
        "UpfrontFee": offering["fee"],
        "CurrencyCode": "USD",
    }


def _fee(name: InstanceTypeName, count: int, hours: int) -> str:
    kind = find_instance_type(name)
    return f"{(hourly_usd(kind) if kind is not None else 0.0) * DISCOUNT * count * hours:.2f}"


def _find(world: World, name_or_arn: str) -> Plan:
    name = name_or_arn.rpartition("/")[2]
    if name not in world.plans:
        raise AwsError("ResourceNotFound", f"Training plan {name_or_arn} not found.")
    return world.plans[name]


def _arn(ctx: Context, plan: Plan) -> str:
    return ctx.arn("sagemaker", f"training-plan/{plan.name}")


def _describe(ctx: Context, plan: Plan) -> dict[str, object]:
    in_use = capacity.plan_in_use(ctx.seen, plan)
    return {
        "TrainingPlanArn": _arn(ctx, plan),
        "TrainingPlanName": plan.name,
        "Status": plan.status,
        "DurationHours": int((plan.end - plan.start).total_seconds() // 3600),
        "StartTime": plan.start,
        "EndTime": plan.end,
        "UpfrontFee": plan.upfront_fee,
        "CurrencyCode": "USD",
        "TotalInstanceCount": plan.count,
        "AvailableInstanceCount": plan.count - in_use,
        "InUseInstanceCount": in_use,
        "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": [_reserved(ctx, plan)],
    }


def _reserved(ctx: Context, plan: Plan) -> dict[str, object]:
    return {
        "ReservedCapacityArn": ctx.arn("sagemaker", f"reserved-capacity/{plan.name}-capacity"),
        "ReservedCapacityType": "Instance",
        "InstanceType": plan.instance_type,
        "TotalInstanceCount": plan.count,
        "Status": plan.status,
        "AvailabilityZone": ctx.seen.zones[plan.zone].name,
        "AvailabilityZoneId": plan.zone,
        "DurationHours": int((plan.end - plan.start).total_seconds() // 3600),
        "StartTime": plan.start,
        "EndTime": plan.end,
    }
