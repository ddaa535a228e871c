"""Price list: HyperPod instance hours, so that a plan can say what it costs.

Figures are rounded list prices in USD per hour as public pages gave them; the twin's purpose is that prices
exist and differ, not that a bill can be predicted. The region does not change them here.
"""

from __future__ import annotations

import json
import zlib

from core.cluster.instance_types import INSTANCE_TYPES, AcceleratorKind, InstanceType
from core.ids import InstanceTypeName
from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError
from twin.aws.paging import page
from twin.aws.params import Params, Reply

_USD_PER_HOUR = {
    "ml.p4d.24xlarge": 25.25, "ml.p4de.24xlarge": 31.56, "ml.p5.4xlarge": 7.91, "ml.p5.48xlarge": 63.30,
    "ml.p5e.48xlarge": 66.40, "ml.p5en.48xlarge": 72.80, "ml.p6-b200.48xlarge": 130.93, "ml.p6-b300.48xlarge": 164.40,
    "ml.p6e-gb200.36xlarge": 87.55, "ml.trn1.32xlarge": 24.73, "ml.trn1n.32xlarge": 28.50, "ml.trn2.48xlarge": 53.70,
}  # fmt: skip
# Of types without a row: per GPU or Neuron device, per vCPU without one.
_USD_PER_ACCELERATOR_HOUR = {"T4": 0.75, "A10G": 1.60, "L4": 1.30, "L40S": 2.80, "Trainium2": 3.40}
_USD_PER_VCPU_HOUR = 0.055
ON_DEMAND_TERM = "JRTCKXETXF"


def get_products(ctx: Context, params: Params) -> Reply:
    """Each item of PriceList is a JSON text."""
    if params.text("ServiceCode") != "AmazonSageMaker":
        raise AwsError("NotFoundException", f"The twin holds no prices of service {params.text('ServiceCode')}.")
    products = [product for kind in INSTANCE_TYPES.values() if _matches(product := _attributes(ctx, kind), params)]
    chosen, token = page(products, params)
    return {
        "FormatVersion": "aws_v1",
        "PriceList": [json.dumps(_product(attributes)) for attributes in chosen],
        "NextToken": token,
    }


OPERATIONS: dict[str, Handler] = {"GetProducts": get_products}


def hourly_usd(kind: InstanceType) -> float:
    """One instance for one hour, on demand."""
    if kind.name in _USD_PER_HOUR:
        return _USD_PER_HOUR[kind.name]
    if kind.accelerator is AcceleratorKind.NONE:
        return round(kind.vcpus * _USD_PER_VCPU_HOUR, 4)
    return round(kind.accelerators * _USD_PER_ACCELERATOR_HOUR[kind.gpu_model] + kind.vcpus * 0.02, 4)


def _attributes(ctx: Context, kind: InstanceType) -> dict[str, str]:
    return {
        "servicecode": "AmazonSageMaker",
        "instanceName": kind.name,
        "instanceType": kind.name,
        "regionCode": ctx.seen.region,
        "component": "Cluster",
        "platoinstancetype": kind.ec2_name,
        "usagetype": f"{ctx.seen.region}-Cluster:{kind.name}",
        "vCpu": str(kind.vcpus),
        "memory": f"{kind.memory_gib} GiB",
    }


def _matches(attributes: dict[str, str], params: Params) -> bool:
    return all(_holds(item, attributes) for item in params.structures("Filters"))


def _holds(item: Params, attributes: dict[str, str]) -> bool:
    actual, value = attributes.get(item.text("Field"), ""), item.text("Value")
    match item.text("Type"):
        case "TERM_MATCH" | "EQUALS":
            return actual == value
        case "CONTAINS":
            return value in actual
        case "ANY_OF":
            return actual in value.split(",")
        case "NONE_OF":
            return actual not in value.split(",")
        case other:
            raise AwsError("InvalidParameterException", f"Filter type {other} is not supported.")


def _product(attributes: dict[str, str]) -> dict[str, object]:
    kind = INSTANCE_TYPES[InstanceTypeName(attributes["instanceName"])]
    sku = f"TWIN{zlib.crc32(kind.name.encode()):08X}"
    rate = {"unit": "Hrs", "description": f"{kind.name} on demand", "pricePerUnit": {"USD": f"{hourly_usd(kind):.10f}"}}
    term = {
        "sku": sku,
        "offerTermCode": ON_DEMAND_TERM,
        "priceDimensions": {f"{sku}.{ON_DEMAND_TERM}.6YS6EN2CT7": rate},
    }
    return {
        "product": {"productFamily": "ML Instance", "attributes": attributes, "sku": sku},
        "serviceCode": "AmazonSageMaker",
        "terms": {"OnDemand": {f"{sku}.{ON_DEMAND_TERM}": term}},
        "version": "1",
    }
