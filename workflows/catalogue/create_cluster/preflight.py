"""The last look before anything is made: what was true when the plan was approved may have changed."""

from __future__ import annotations

from core.cluster.clusters import CapacityMode
from core.messages.message import Message, message
from core.reasons import FailureClass
from tools.arguments import ByName, NoArgs
from tools.clusters import DESCRIBE_CLUSTER
from tools.identity import PLACE
from tools.lifecycle import HAS_BUCKET, bucket_name
from tools.subnets import addresses_per_node
from workflows.catalogue.create_cluster.network import choose_zones
from workflows.catalogue.create_cluster.params import CreateClusterParams
from workflows.catalogue.create_cluster.surroundings import read_site
from workflows.catalogue.failures import fail
from workflows.catalogue.market import Market
from workflows.definition import Next, Outcome, StepContext


def check(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    if ctx.read(DESCRIBE_CLUSTER, ByName(name=params.name)) is not None:
        return fail(FailureClass.CONFIG, message("create_cluster.name_taken", name=params.name))
    market = Market(ctx)
    if market.zone(params.zone_id) is None:
        return fail(FailureClass.CONFIG, message("market.zone_unknown", zone=params.zone_id))
    if params.mode is not CapacityMode.TRAINING_PLAN:
        if params.zone_id not in market.offering(params.instance_type):
            text = message("market.not_offered", type=params.instance_type, zone=params.zone_id)
            return fail(FailureClass.CONFIG, text)
        left = market.quota_left(params.instance_type)
        if left < params.count:
            text = message("market.quota_short", type=params.instance_type, count=params.count, left=left)
            return fail(FailureClass.QUOTA, text)
    short = _addresses_short(ctx, market, params)
    if short is not None:
        return fail(FailureClass.CAPACITY, short)
    zones = choose_zones(ctx, params)
    if len(zones) < 2:
        return fail(FailureClass.CONFIG, message("create_cluster.needs_two_zones"))
    ctx.report(message("create_cluster.preflight_passed", name=params.name))
    place = ctx.read(PLACE, NoArgs())
    bucket = bucket_name(place.account, place.region)
    # The bucket is shared by all clusters of the account: whether it is ours to make is settled here, once.
    return Next(data={"zones": zones, "bucket": bucket, "has_bucket": ctx.read(HAS_BUCKET, ByName(name=bucket))})


def _addresses_short(ctx: StepContext, market: Market, params: CreateClusterParams) -> Message | None:
    """In an existing network others may have taken addresses since."""
    kind = market.figures(params.instance_type)
    if kind is None:
        return None
    wanted, free = addresses_per_node(kind) * params.count, read_site(ctx, params.vpc_id).free(params.zone_id)
    if free >= wanted:
        return None
    return message("market.addresses_short", zone=params.zone_id, wanted=wanted, free=free)
