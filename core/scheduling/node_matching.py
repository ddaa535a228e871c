"""Whether pods may stand on a flavor or a node: taints, selectors and affinity (Kubernetes' rules)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from core.scheduling.world import (
    NodeRequirement,
    PodSetRequest,
    ResourceFlavor,
    SelectorOperator,
    Taint,
    TaintEffect,
    Toleration,
    TolerationOperator,
)


def untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> Taint | None:
    """The first taint that keeps pods away; `PreferNoSchedule` never does."""
    known = tuple(tolerations)
    for taint in taints:
        if taint.effect is not TaintEffect.PREFER_NO_SCHEDULE and not any(_tolerates(t, taint) for t in known):
            return taint
    return None


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect is not None and toleration.effect is not taint.effect:
        return False
    if toleration.key is not None and toleration.key != taint.key:
        return False
    if toleration.operator is TolerationOperator.EXISTS:
        return True
    return toleration.key is not None and toleration.value == taint.value


def matches_labels(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in selector.items())


def matches_affinity(labels: Mapping[str, str], terms: tuple[tuple[NodeRequirement, ...], ...]) -> bool:
    """One term must hold. No terms at all ask for nothing; a term without expressions matches no node."""
    return not terms or any(term and all(_holds(labels, e) for e in term) for term in terms)


def _holds(labels: Mapping[str, str], requirement: NodeRequirement) -> bool:
    value = labels.get(requirement.key)
    operator = requirement.operator
    match operator:
        case SelectorOperator.IN:
            return value in requirement.values
        case SelectorOperator.NOT_IN:
            return value not in requirement.values
        case SelectorOperator.EXISTS:
            return value is not None
        case SelectorOperator.DOES_NOT_EXIST:
            return value is None
        case SelectorOperator.GT | SelectorOperator.LT:
            return _compares(value, requirement)
        case _:
            assert_never(operator)


def _compares(value: str | None, requirement: NodeRequirement) -> bool:
    if value is None or len(requirement.values) != 1:
        return False
    try:
        left, right = int(value), int(requirement.values[0])
    except ValueError:
        return False
    return left > right if requirement.operator is SelectorOperator.GT else left < right


def flavor_selects(flavor: ResourceFlavor, podset: PodSetRequest, keys: frozenset[str]) -> bool:
    """Whether the flavor's labels satisfy the podset, looking only at label keys that the flavor defines.

    `keys` are those keys. Other keys of the podset are dropped: they are for the nodes to judge. An affinity
    term that is left without expressions makes the whole affinity match.
    """
    labels = flavor.labels
    selector = {key: value for key, value in podset.node_selector.items() if key in keys}
    if not matches_labels(labels, selector):
        return False
    terms: list[tuple[NodeRequirement, ...]] = []
    for term in podset.affinity:
        kept = tuple(requirement for requirement in term if requirement.key in keys)
        if not kept:
            return True
        terms.append(kept)
    return matches_affinity(labels, tuple(terms))
