"""create_cluster against the twin, over the wire."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from core.reasons import FailureClass
from state.records import EffectStatus, RunStatus
from state.repository import Repository
from tests.fakes.losing_clients import Losses, losing
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.runs import Bench

LLAMA: JsonObject = {"name": "llama", "zone_id": "usw2-az2", "instance_type": "ml.p5.48xlarge", "count": 4}


def test_a_cluster_with_ready_nodes_comes_of_an_empty_account(twin: WholeTwin, bench: Bench) -> None:
    run = bench.work(bench.start("create_cluster", LLAMA, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    live = twin.live()["clusters"]["llama"]
    assert live["nodes_ready"] == 4
    assert live["zone"] == "usw2-az2"
    assert live["recovery"] == "Automatic"
    assert live["groups"] == {"workers": {"type": "ml.p5.48xlarge", "running": 4, "target": 4}}
    assert run.data["nodes_ready"] == 4


@pytest.mark.parametrize("offset", range(4), ids=lambda offset: f"every fourth answer from {offset} on")
def test_whatever_answers_are_lost_there_is_one_of_everything(twin: WholeTwin, rows: Repository, offset: int) -> None:
    losses = Losses(lambda call, number: number % 4 == offset)
    bench = Bench(twin, rows, losing(twin.clients, losses))
    run = bench.work(bench.start("create_cluster", LLAMA, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    assert len(losses.lost) >= 5
    effects = twin.effects()
    assert effects["sagemaker:CreateCluster"] == 1
    assert effects["eks:CreateCluster"] == 1
    assert effects["ec2:CreateVpc"] == 1
    assert effects["ec2:CreateNatGateway"] == 1
    assert effects["ec2:CreateSubnet"] == 3
    assert effects["iam:CreateRole"] == 2
    ledger = rows.list_effects(run.id)
    assert {effect.status for effect in ledger} == {EffectStatus.APPLIED}
    assert len(ledger) == sum(effects.values())


def test_a_name_that_was_taken_meanwhile_fails_before_anything_is_made(twin: WholeTwin, bench: Bench) -> None:
    bench.work(bench.start("create_cluster", LLAMA, cluster="llama"))
    made = twin.effects()
    run = bench.work(bench.start("create_cluster", LLAMA, cluster="llama"))

    assert run.status is RunStatus.FAILED
    assert run.failure is not None
    assert run.failure.message.key == "create_cluster.name_taken"
    assert twin.effects() == made


def test_a_quota_that_shrank_meanwhile_fails_before_anything_is_made(twin: WholeTwin, bench: Bench) -> None:
    run = bench.work(bench.start("create_cluster", {**LLAMA, "count": 17}, cluster="llama"))

    assert run.failure is not None
    assert run.failure.failure_class is FailureClass.QUOTA
    assert twin.effects() == {}


def test_a_cluster_may_stand_in_a_network_that_exists(twin: WholeTwin, bench: Bench) -> None:
    vpc = twin.aws.call("ec2", "CreateVpc", {"CidrBlock": "10.8.0.0/16"})["Vpc"]
    assert isinstance(vpc, dict)
    for zone, cidr in (("usw2-az1", "10.8.0.0/18"), ("usw2-az2", "10.8.64.0/18")):
        subnet: JsonObject = {"VpcId": vpc["VpcId"], "AvailabilityZoneId": zone, "CidrBlock": cidr}
        twin.aws.call("ec2", "CreateSubnet", subnet)
    before = twin.effects()
    run = bench.work(bench.start("create_cluster", {**LLAMA, "vpc_id": vpc["VpcId"]}, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    assert twin.live()["clusters"]["llama"]["zone"] == "usw2-az2"
    after = twin.effects()
    assert (after["ec2:CreateVpc"], after["ec2:CreateSubnet"]) == (before["ec2:CreateVpc"], before["ec2:CreateSubnet"])
    assert "ec2:CreateNatGateway" not in after


def test_a_named_role_may_use_the_cluster(twin: WholeTwin, rows: Repository) -> None:
    role = "arn:aws:iam::123456789012:role/researchers"
    calls = ("eks:CreateAccessEntry", "eks:AssociateAccessPolicy")
    losses = Losses(lambda call, number: call in calls)
    bench = Bench(twin, rows, losing(twin.clients, losses))
    run = bench.work(bench.start("create_cluster", {**LLAMA, "admin_role_arn": role}, cluster="llama"))

    assert run.status is RunStatus.DONE, run.failure
    assert losses.lost == list(calls)
    assert [twin.effects()[call] for call in calls] == [1, 1]
    query: JsonObject = {"clusterName": "llama-eks", "principalArn": role}
    (policy,) = twin.aws.pages("eks", "ListAssociatedAccessPolicies", query, "associatedAccessPolicies")
    assert str(policy["policyArn"]).endswith("AmazonEKSClusterAdminPolicy")
