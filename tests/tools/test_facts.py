"""Prices, quotas, plans, zones and subnets read from their services."""

from __future__ import annotations

import json

import pytest

from core.cluster.instance_types import find_instance_type
from core.ids import InstanceTypeName
from core.json_value import JsonObject
from tests.fakes.aws import clients
from tools.arguments import NoArgs
from tools.ownership import part_name
from tools.prices import CENTS_PER_HOUR, PriceArgs
from tools.quotas import CLUSTER_QUOTAS
from tools.subnets import addresses_per_node


def product(usage: str, *prices: str, unit: str = "Hrs") -> str:
    dimensions = {str(n): {"unit": unit, "pricePerUnit": {"USD": price}} for n, price in enumerate(prices)}
    return json.dumps(
        {
            "product": {"attributes": {"usagetype": usage}},
            "terms": {"OnDemand": {"term": {"priceDimensions": dimensions}}},
        }
    )


@pytest.mark.parametrize(
    ("price_list", "cents"),
    [
        pytest.param([product("USW2-Cluster:ml.p5.48xlarge", "63.2960000000")], 6330, id="rounded up to a cent"),
        pytest.param([product("USW2-Cluster:x", "1.00"), product("USW2-Cluster:x", "2.00")], 200, id="the highest"),
        pytest.param([product("USW2-Train:ml.p5.48xlarge", "9.99")], None, id="another usage"),
        pytest.param([product("USW2-Cluster:x", "0.0000000000")], None, id="a price of nothing is none"),
        pytest.param([product("USW2-Cluster:x", "5", unit="Quantity")], None, id="not per hour"),
        pytest.param([product("USW2-Cluster:x", "NaN"), "{"], None, id="nonsense"),
        pytest.param([], None, id="no product"),
    ],
)
def test_a_price_is_whole_cents_or_unknown(price_list: list[str], cents: int | None) -> None:
    world = clients({"pricing:GetProducts": lambda params: {"PriceList": price_list}})

    assert CENTS_PER_HOUR.read(world, PriceArgs(instance_type="ml.p5.48xlarge")) == cents


def test_quotas_are_found_by_their_name() -> None:
    quotas: JsonObject = {
        "Quotas": [
            {"QuotaName": "ml.p5.48xlarge for cluster usage", "Value": 16.0},
            {"QuotaName": "ml.p5.48xlarge for training job usage", "Value": 99.0},
            {"QuotaName": "Total number of SageMaker HyperPod clusters", "Value": 10.0},
        ]
    }
    found = CLUSTER_QUOTAS.read(clients({"service-quotas:ListServiceQuotas": lambda params: quotas}), NoArgs())

    assert found.by_type == {"ml.p5.48xlarge": 16}
    assert found.of(InstanceTypeName("ml.g5.xlarge")) == 0


@pytest.mark.parametrize(
    ("name", "addresses"),
    [
        ("ml.p5.48xlarge", 81),
        ("ml.p4d.24xlarge", 51),
        ("ml.trn1.32xlarge", 57),
        ("ml.g5.48xlarge", 15),
        ("ml.m5.large", 15),
    ],
)
def test_a_node_takes_as_many_addresses_as_aws_says(name: str, addresses: int) -> None:
    kind = find_instance_type(name)

    assert kind is not None
    assert addresses_per_node(kind) == addresses


def test_a_long_name_is_cut_and_stays_its_own() -> None:
    one, other = "a" * 60 + "-1", "a" * 60 + "-2"

    assert len(part_name(one, "control-plane", limit=64)) <= 64
    assert part_name(one, "nodes") != part_name(other, "nodes")
    assert part_name("llama", "nodes") == "muster-llama-nodes"
