"""add_capacity as it is asked for: choices from people or from the group, questions and refusals."""

from __future__ import annotations

import pytest

from core.choices import Choice, ChoiceKind, Origin
from core.json_value import JsonObject
from core.reasons import RefusalReason
from core.risk import Risk
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.add_capacity.test_add import WORLD
from tests.workflows.catalogue.reads import ClientReads, draft, said
from twin.world.specification import GroupSpec
from workflows.catalogue.add_capacity.operation import AddCapacity
from workflows.operations import Missing, Preparation, Ready, Refused

ZONE, TYPE, CAPACITY = ChoiceKind.AVAILABILITY_ZONE, ChoiceKind.INSTANCE_TYPE, ChoiceKind.CAPACITY


@pytest.fixture
def base(twin: WholeTwin) -> WholeTwin:
    twin.reset(WORLD)
    return twin


def count(number: int, mode: str | None = None) -> Choice:
    return said(CAPACITY, {"mode": mode, "count": number, "plan": None}, f"{number} nodes")


def prepare(twin: WholeTwin, *choices: Choice, params: JsonObject | None = None) -> Preparation:
    return AddCapacity().prepare(draft(params or {}, *choices), ClientReads(twin.clients), {})


def test_a_count_alone_grows_the_only_group_which_fixes_the_rest(base: WholeTwin) -> None:
    ready = prepare(base, count(2))

    assert isinstance(ready, Ready)
    assert (ready.run_params["group"], ready.run_params["is_new_group"]) == ("workers", False)
    assert ready.risk is Risk.SPENDING
    assert ready.cost_cents_per_hour > 0
    choices = ready.run_params["choices"]
    assert isinstance(choices, dict)
    assert {kind: choice["origin"] for kind, choice in choices.items()} == {
        "availability_zone": Origin.EXISTING,
        "instance_type": Origin.EXISTING,
        "capacity": Origin.SAID,
    }
    assert ready.card[0].params["before"] == 4
    assert ready.card[0].params["after"] == 6


def test_a_total_says_how_many_there_are_in_the_end(base: WholeTwin) -> None:
    ready = prepare(base, count(6), params={"total": 6})

    assert isinstance(ready, Ready)
    assert ready.run_params["count"] == 2


def test_how_many_is_asked_when_nobody_said_it(base: WholeTwin) -> None:
    missing = prepare(base)

    assert isinstance(missing, Missing)
    assert missing.question.name == CAPACITY.value
    assert {option.value["mode"] for option in missing.question.options if isinstance(option.value, dict)} == {
        "on_demand"
    }


def test_two_groups_that_fit_are_asked_about_and_none_is_recommended(twin: WholeTwin) -> None:
    (cluster,) = WORLD.clusters
    two = cluster.model_copy(
        update={"groups": (*cluster.groups, GroupSpec(name="others", type="ml.g5.12xlarge", count=1))}
    )
    twin.reset(WORLD.model_copy(update={"clusters": (two,)}))
    missing = prepare(twin, count(2))

    assert isinstance(missing, Missing)
    assert missing.question.name == "params.group"
    assert not any(option.is_recommended for option in missing.question.options)


def test_another_type_than_any_group_has_makes_a_new_group_and_asks_its_zone(base: WholeTwin) -> None:
    missing = prepare(base, count(2, "on_demand"), said(TYPE, "ml.g5.48xlarge"))

    assert isinstance(missing, Missing)
    assert missing.question.name == ZONE.value


def test_a_new_group_takes_all_three_choices(base: WholeTwin) -> None:
    ready = prepare(base, count(2, "on_demand"), said(TYPE, "ml.g5.48xlarge"), said(ZONE, "usw2-az1"))

    assert isinstance(ready, Ready)
    assert (ready.run_params["group"], ready.run_params["is_new_group"]) == ("workers-2", True)
    assert ready.run_params["subnet_id"]


def test_what_contradicts_the_named_group_is_refused(base: WholeTwin) -> None:
    refused = prepare(base, count(2), said(TYPE, "ml.g5.48xlarge"), params={"group": "workers"})

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.PARAMETER_INVALID


def test_more_than_the_quota_is_refused_with_what_is_left(base: WholeTwin) -> None:
    refused = prepare(base, count(17))

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.QUOTA_EXCEEDED
    assert refused.remedies[0].params["count"] == 16


def test_an_unknown_cluster_is_refused(base: WholeTwin) -> None:
    refused = prepare(base, count(1), params={"cluster": "ghost"})

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.NAME_UNKNOWN
