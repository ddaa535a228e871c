"""EKS control planes and what is installed on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.twin.aws.account import Account, make_control_plane, refusal
from tests.twin.aws.serving import TwinUnderTest


@pytest.fixture
def eks(twin: TwinUnderTest) -> Any:
    return twin.client("eks")


def test_an_active_cluster_says_where_its_api_is(twin: TwinUnderTest, account: Account, eks: Any) -> None:
    cluster = eks.describe_cluster(name="llama-eks")["cluster"]

    assert (cluster["status"], cluster["endpoint"]) == ("ACTIVE", f"{twin.endpoint}/k8s/llama-eks")


def test_the_same_token_is_answered_with_the_same_cluster(twin: TwinUnderTest, account: Account, eks: Any) -> None:
    request = {
        "name": "again",
        "roleArn": account.role,
        "resourcesVpcConfig": {"subnetIds": list(account.subnets.values())},
        "clientRequestToken": "t1",
    }
    eks.create_cluster(**request)

    assert eks.create_cluster(**request)["cluster"]["name"] == "again"
    assert refusal(eks.create_cluster, **request | {"clientRequestToken": "t2"})[0] == "ResourceInUseException"
    assert twin.effects()["eks:CreateCluster"] == 2  # one of them is the account's own


def test_subnets_in_one_zone_are_refused(account: Account, eks: Any) -> None:
    code, message = refusal(
        eks.create_cluster,
        name="narrow",
        roleArn=account.role,
        resourcesVpcConfig={"subnetIds": [account.subnets["usw2-az1"]]},
    )

    assert (code, "two different AZs" in message) == ("InvalidParameterException", True)


def test_a_missing_cluster_is_a_404_of_the_service(twin: TwinUnderTest, eks: Any) -> None:
    assert refusal(eks.describe_cluster, name="nobody")[0] == "ResourceNotFoundException"


def test_an_add_on_is_installed_after_a_while(twin: TwinUnderTest, account: Account, eks: Any) -> None:
    eks.create_addon(clusterName="llama-eks", addonName="cert-manager")
    twin.advance(minutes=3)

    assert eks.describe_addon(clusterName="llama-eks", addonName="cert-manager")["addon"]["status"] == "ACTIVE"


def test_the_training_operator_needs_cert_manager(twin: TwinUnderTest, account: Account, eks: Any) -> None:
    name = "amazon-sagemaker-hyperpod-training-operator"
    eks.create_addon(clusterName="llama-eks", addonName=name)
    twin.advance(minutes=3)

    addon = eks.describe_addon(clusterName="llama-eks", addonName=name)["addon"]

    assert addon["status"] == "CREATE_FAILED"
    assert "cert-manager" in addon["health"]["issues"][0]["message"]


def test_an_access_entry_carries_its_policies(account: Account, eks: Any) -> None:
    policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
    eks.create_access_entry(clusterName="llama-eks", principalArn=account.role)
    for _ in range(2):  # put-like
        eks.associate_access_policy(
            clusterName="llama-eks", principalArn=account.role, policyArn=policy, accessScope={"type": "cluster"}
        )

    listed = eks.list_associated_access_policies(clusterName="llama-eks", principalArn=account.role)

    assert [item["policyArn"] for item in listed["associatedAccessPolicies"]] == [policy]
    assert (
        refusal(eks.create_access_entry, clusterName="llama-eks", principalArn=account.role)[0]
        == "ResourceInUseException"
    )


def test_a_pod_identity_is_found_by_namespace_and_account(account: Account, eks: Any) -> None:
    eks.create_pod_identity_association(
        clusterName="llama-eks", namespace="vision", serviceAccount="train", roleArn=account.role
    )

    found = eks.list_pod_identity_associations(clusterName="llama-eks", namespace="vision")["associations"]

    assert [item["serviceAccount"] for item in found] == ["train"]


def test_a_control_plane_that_a_hyperpod_cluster_uses_is_not_deleted(
    account: Account, eks: Any, sagemaker: Any
) -> None:
    sagemaker.create_cluster(**account.cluster())

    assert refusal(eks.delete_cluster, name="llama-eks")[0] == "ResourceInUseException"


def test_authentication_is_widened_one_way(twin: TwinUnderTest, account: Account, eks: Any) -> None:
    make_control_plane(eks, "old", account.role, list(account.subnets.values()), mode="CONFIG_MAP")
    twin.advance(minutes=13)
    wanted = {"name": "old", "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"}}
    update = eks.update_cluster_config(**wanted)["update"]["id"]
    twin.advance(minutes=3)

    assert eks.describe_update(name="old", updateId=update)["update"]["status"] == "Successful"
    assert eks.describe_cluster(name="old")["cluster"]["accessConfig"]["authenticationMode"] == "API_AND_CONFIG_MAP"
    assert refusal(eks.update_cluster_config, **wanted)[0] == "InvalidRequestException"
