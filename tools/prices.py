"""On-demand prices of cluster instances, in whole cents per hour. A price that is not found is absent, never 0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import ROUND_UP, Decimal, InvalidOperation
from typing import Final

from core.json_value import JsonObject, JsonValue
from tools.arguments import ToolArgs
from tools.clients.base import Clients
from tools.contract import ReadTool
from tools.reading import child, text

_HOUR: Final = "Hrs"


class PriceArgs(ToolArgs):
    instance_type: str


def _price(clients: Clients, args: PriceArgs) -> int | None:
    """The highest of the list prices that match, rounded up: an estimate must not be too low."""
    filters = {"regionCode": clients.aws.region, "instanceName": args.instance_type}
    query: JsonObject = {
        "ServiceCode": "AmazonSageMaker",
        "Filters": [{"Type": "TERM_MATCH", "Field": key, "Value": value} for key, value in filters.items()],
    }
    prices = [
        cents
        for page in clients.aws.pages("pricing", "GetProducts", query, "PriceList")
        for cents in _cents_per_hour(text(page, "value"))
    ]
    return max(prices, default=None)


def _cents_per_hour(product: str) -> Iterator[int]:
    """`product` is one JSON text of the price list; only cluster usage counts."""
    try:
        parsed: JsonValue = json.loads(product)
    except ValueError:
        return
    if "Cluster" not in text(parsed, "product", "attributes", "usagetype"):
        return
    for term in child(parsed, "terms", "OnDemand").values():
        for dimension in child(term, "priceDimensions").values():
            if text(dimension, "unit") == _HOUR:
                yield from _to_cents(text(dimension, "pricePerUnit", "USD"))


def _to_cents(dollars: str) -> Iterator[int]:
    try:
        value = Decimal(dollars)
    except InvalidOperation:
        return
    if value.is_finite() and value > 0:
        yield int((value * 100).to_integral_value(ROUND_UP))


CENTS_PER_HOUR: Final[ReadTool[PriceArgs, int | None]] = ReadTool(name="cents_per_hour", read=_price)
