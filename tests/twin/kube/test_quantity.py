"""Resource quantities."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from twin.kube.quantity import requests_of, thousandths


@pytest.mark.parametrize(
    ("written", "value"),
    [("500m", 500), ("2", 2_000), (2, 2_000), ("0.5", 500), ("1k", 1_000_000), ("1Ki", 1_024_000), ("1e3", 1_000_000)],
)
def test_a_quantity_is_read_in_thousandths(written: str | int, value: int) -> None:
    assert thousandths(written) == value


@pytest.mark.parametrize("written", ["", "many", "1X", "1.2.3", "-", None, True, "1e999999999"])
def test_what_is_no_quantity_is_refused(written: str | bool | None) -> None:
    with pytest.raises(ValueError, match="no resource quantity"):
        thousandths(written)


def test_a_limit_counts_as_a_request_where_none_is_made() -> None:
    resources: JsonObject = {"limits": {"cpu": "4", "nvidia.com/gpu": 8}, "requests": {"cpu": "500m"}}
    pod: JsonObject = {"spec": {"containers": [{"name": "a", "resources": resources}, {"name": "b"}]}}

    assert requests_of(pod) == {"pods": 1_000, "cpu": 500, "nvidia.com/gpu": 8_000}
