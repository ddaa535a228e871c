"""Training plans."""

from __future__ import annotations

from typing import Any

import pytest

from tests.twin.aws.account import Account, make_account, refusal
from tests.twin.aws.serving import WORLD, TwinUnderTest
from twin.world.specification import PlanSpec

PLAN = PlanSpec(id="plan-a", type="ml.p5.48xlarge", count=3, zone="usw2-az1", hours_left=10)


@pytest.fixture
def planned(twin: TwinUnderTest) -> Account:
    """A world with an active plan of three nodes in az1."""
    twin.reset(WORLD.model_copy(update={"plans": (PLAN,)}))
    return make_account(twin)


def buy(sagemaker: Any, name: str = "mine") -> str:
    offerings = sagemaker.search_training_plan_offerings(
        InstanceType="ml.p5.48xlarge", InstanceCount=2, DurationHours=24, TargetResources=["hyperpod-cluster"]
    )["TrainingPlanOfferings"]
    answer = sagemaker.create_training_plan(
        TrainingPlanName=name, TrainingPlanOfferingId=offerings[0]["TrainingPlanOfferingId"]
    )
    return str(answer["TrainingPlanArn"])


def status(sagemaker: Any, name: str) -> str:
    return str(sagemaker.describe_training_plan(TrainingPlanName=name)["Status"])


def test_a_plan_is_paid_then_scheduled_then_active(twin: TwinUnderTest, sagemaker: Any) -> None:
    buy(sagemaker)
    seen = [status(sagemaker, "mine")]
    for minutes in (2, 60):
        twin.advance(minutes=minutes)
        seen.append(status(sagemaker, "mine"))

    assert seen == ["Pending", "Scheduled", "Active"]


def test_buying_the_same_name_again_is_refused(twin: TwinUnderTest, sagemaker: Any) -> None:
    buy(sagemaker)
    offering = sagemaker.search_training_plan_offerings(
        InstanceType="ml.p5.48xlarge", InstanceCount=2, DurationHours=24, TargetResources=["hyperpod-cluster"]
    )["TrainingPlanOfferings"][0]["TrainingPlanOfferingId"]

    code, _ = refusal(sagemaker.create_training_plan, TrainingPlanName="mine", TrainingPlanOfferingId=offering)

    assert code == "ResourceInUse"
    assert twin.effects()["sagemaker:CreateTrainingPlan"] == 1


def test_an_extension_that_is_bought_twice_costs_twice(twin: TwinUnderTest, planned: Account, sagemaker: Any) -> None:
    arn = sagemaker.describe_training_plan(TrainingPlanName="plan-a")["TrainingPlanArn"]
    offering = sagemaker.search_training_plan_offerings(TrainingPlanArn=arn)["TrainingPlanExtensionOfferings"][0]
    wanted = {"TrainingPlanExtensionOfferingId": offering["TrainingPlanExtensionOfferingId"]}

    sagemaker.extend_training_plan(**wanted)
    sagemaker.extend_training_plan(**wanted)

    history = sagemaker.describe_training_plan_extension_history(TrainingPlanArn=arn)["TrainingPlanExtensions"]
    assert len(history) == 2


def test_nodes_of_a_plan_take_nothing_from_on_demand(twin: TwinUnderTest, planned: Account, sagemaker: Any) -> None:
    arn = sagemaker.describe_training_plan(TrainingPlanName="plan-a")["TrainingPlanArn"]
    group = planned.group(InstanceCount=3, TrainingPlanArn=arn)
    sagemaker.create_cluster(**planned.cluster(group, zone="usw2-az1"))
    twin.advance(minutes=25)

    plan = sagemaker.describe_training_plan(TrainingPlanName="plan-a")

    assert (plan["InUseInstanceCount"], plan["AvailableInstanceCount"]) == (3, 0)
    assert twin.control("GET", "state")["free"]["usw2-az1"]["ml.p5.48xlarge"] == 2


def test_a_subnet_in_another_zone_than_the_plans_finds_no_capacity(
    twin: TwinUnderTest, planned: Account, sagemaker: Any
) -> None:
    arn = sagemaker.describe_training_plan(TrainingPlanName="plan-a")["TrainingPlanArn"]
    group = planned.group(InstanceCount=1, TrainingPlanArn=arn)
    sagemaker.create_cluster(**planned.cluster(group, zone="usw2-az2"))
    twin.advance(minutes=10)

    nodes = sagemaker.list_cluster_nodes(ClusterName="llama", IncludeNodeLogicalIds=True)["ClusterNodeSummaries"]

    assert nodes[0]["InstanceStatus"]["Message"].startswith("No subnets in the capacity AZ")


def test_capacity_ends_with_the_plan(twin: TwinUnderTest, planned: Account, sagemaker: Any) -> None:
    arn = sagemaker.describe_training_plan(TrainingPlanName="plan-a")["TrainingPlanArn"]
    group = planned.group(InstanceCount=1, TrainingPlanArn=arn)
    sagemaker.create_cluster(**planned.cluster(group, zone="usw2-az1"))
    twin.advance(minutes=11 * 60)

    assert status(sagemaker, "plan-a") == "Expired"
    assert sagemaker.describe_cluster(ClusterName="llama")["InstanceGroups"][0]["CurrentCount"] == 0
