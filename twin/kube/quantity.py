"""Resource quantities: `500m`, `2`, `64Gi`, and what a pod asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from core.json_value import JsonValue
from twin.kube.objects import Obj, mapping, objects

_FORM: Final = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_FACTORS: Final[Mapping[str, Decimal]] = {
    "m": Decimal("0.001"),
    **{unit: Decimal(1000) ** power for power, unit in enumerate(("", "k", "M", "G", "T", "P", "E"))},
    **{unit: Decimal(1024) ** power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}


def thousandths(quantity: JsonValue) -> int:
    """A quantity in thousandths of its unit. ValueError for what is none."""
    match = _FORM.fullmatch(str(quantity))
    if match is None:
        raise ValueError(f"{quantity!r} is no resource quantity")
    try:
        return int(Decimal(match[1]) * _FACTORS[match[2] or ""] * 1000)
    except ArithmeticError:  # such as `1.2.3`, or an exponent beyond all bounds
        raise ValueError(f"{quantity!r} is no resource quantity") from None


def requests_of(pod: Obj) -> dict[str, int]:
    """What the containers ask for together, in thousandths; a limit without a request counts as one."""
    total: dict[str, int] = {"pods": 1000}
    for container in objects(pod, "spec", "containers"):
        limits, requests = mapping(container, "resources", "limits"), mapping(container, "resources", "requests")
        for name, quantity in {**limits, **requests}.items():
            total[name] = total.get(name, 0) + thousandths(quantity)
    return total


def room_on(node: Obj, pods: Iterable[Obj]) -> dict[str, int]:
    """What is left of the node's allocatable resources beside these pods, in thousandths."""
    free = {name: thousandths(quantity) for name, quantity in mapping(node, "status", "allocatable").items()}
    for pod in pods:
        for name, amount in requests_of(pod).items():
            free[name] = free.get(name, 0) - amount
    return free
