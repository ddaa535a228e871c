"""Service Quotas for SageMaker: found by name, as their codes differ between accounts."""

from __future__ import annotations

import hashlib

from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.world.state import ACCOUNT, World

MAX_INSTANCES_PER_CLUSTER = 6758
MAX_CLUSTERS = 10


def list_service_quotas(ctx: Context, params: Params) -> Reply:
    service = params.text("ServiceCode")
    if service != "sagemaker":
        raise AwsError("NoSuchResourceException", f"The twin holds no quotas of service {service}.")
    quotas = sorted(_quotas(ctx.seen), key=lambda quota: ctx.sim.order(str(quota["QuotaName"])))
    chosen, token = page(quotas, params)
    return {"Quotas": chosen, "NextToken": token}


def get_service_quota(ctx: Context, params: Params) -> Reply:
    if params.text("ServiceCode") == "sagemaker":
        for quota in _quotas(ctx.seen):
            if quota["QuotaCode"] == params.text("QuotaCode"):
                return {"Quota": quota}
    raise AwsError("NoSuchResourceException", "The request failed because the specified service quota does not exist.")


def request_service_quota_increase(ctx: Context, params: Params) -> Reply:
    """AWS's people decide in days, not in a twin's time: it stays pending."""
    quota = get_service_quota(ctx, params)["Quota"]
    code = params.text("QuotaCode")
    if any(request["QuotaCode"] == code for request in ctx.sim.world.quota_requests):
        raise AwsError("ResourceAlreadyExistsException", f"A request for quota {code} is open already.")
    assert isinstance(quota, dict)
    request = {key: quota[key] for key in ("ServiceCode", "ServiceName", "QuotaCode", "QuotaName", "QuotaArn")} | {
        "Id": ctx.sim.hex(32),
        "DesiredValue": params["DesiredValue"],
        "Status": "PENDING",
        "Created": ctx.sim.now.timestamp(),
    }
    ctx.sim.world.quota_requests.append(request)
    return {"RequestedQuota": request}


def list_requested_changes(ctx: Context, params: Params) -> Reply:
    code = params.text("QuotaCode")
    chosen, token = page([item for item in ctx.seen.quota_requests if item["QuotaCode"] == code], params)
    return {"RequestedQuotas": chosen, "NextToken": token}


OPERATIONS: dict[str, Handler] = {
    "ListServiceQuotas": list_service_quotas,
    "GetServiceQuota": get_service_quota,
    "RequestServiceQuotaIncrease": request_service_quota_increase,
    "ListRequestedServiceQuotaChangeHistoryByQuota": list_requested_changes,
}


def _quotas(world: World) -> list[Reply]:
    named = {f"{name} for cluster usage": 0 for zone in world.zones.values() for name in zone.free}
    named |= {f"{name} for cluster usage": limit for name, limit in world.quotas.items()}
    named["Total number of instances allowed per SageMaker HyperPod cluster"] = MAX_INSTANCES_PER_CLUSTER
    named["Total number of SageMaker HyperPod clusters"] = MAX_CLUSTERS
    return [_quota(world, name, limit) for name, limit in sorted(named.items())]


def _quota(world: World, name: str, limit: int) -> Reply:
    code = f"L-{hashlib.sha256(name.encode()).hexdigest()[:8].upper()}"
    return {
        "ServiceCode": "sagemaker",
        "ServiceName": "Amazon SageMaker",
        "QuotaArn": f"arn:aws:servicequotas:{world.region}:{ACCOUNT}:sagemaker/{code}",
        "QuotaCode": code,
        "QuotaName": name,
        "Value": float(limit),
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }
