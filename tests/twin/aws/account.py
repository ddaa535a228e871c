"""What a cluster needs before it can be created: network, roles, lifecycle script, control plane."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.twin.aws.serving import TwinUnderTest


@dataclass(frozen=True, slots=True)
class Account:
    subnets: dict[str, str]
    """Zone id -> subnet."""
    security_group: str
    role: str
    eks_arn: str

    def group(self, **changes: object) -> dict[str, object]:
        """An instance group of four nodes of `ml.p5.48xlarge`, with `changes`; `None` removes a member."""
        group: dict[str, object] = {
            "InstanceGroupName": "workers",
            "InstanceCount": 4,
            "InstanceType": "ml.p5.48xlarge",
            "ExecutionRole": self.role,
            "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/", "OnCreate": "on_create.sh"},
        } | changes
        return {key: value for key, value in group.items() if value is not None}

    def cluster(
        self, *groups: dict[str, object], name: str = "llama", zone: str = "usw2-az2", **changes: object
    ) -> dict[str, object]:
        """A CreateCluster request under Continuous provisioning on EKS."""
        request: dict[str, object] = {
            "ClusterName": name,
            "Orchestrator": {"Eks": {"ClusterArn": self.eks_arn}},
            "NodeProvisioningMode": "Continuous",
            "VpcConfig": {"SecurityGroupIds": [self.security_group], "Subnets": [self.subnets[zone]]},
            "InstanceGroups": list(groups) or [self.group()],
        } | changes
        return {key: value for key, value in request.items() if value is not None}


def make_account(twin: TwinUnderTest) -> Account:
    ec2, iam, s3, eks = (twin.client(name) for name in ("ec2", "iam", "s3", "eks"))
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnets = {
        zone["ZoneId"]: ec2.create_subnet(
            VpcId=vpc, CidrBlock=f"10.1.{16 * number}.0/20", AvailabilityZoneId=zone["ZoneId"]
        )["Subnet"]["SubnetId"]
        for number, zone in enumerate(ec2.describe_availability_zones()["AvailabilityZones"])
    }
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=itself)
    role = iam.create_role(RoleName="nodes", AssumeRolePolicyDocument=json.dumps(_TRUST))["Role"]["Arn"]
    s3.create_bucket(Bucket="sagemaker-scripts", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    s3.put_object(Bucket="sagemaker-scripts", Key="on_create.sh", Body=b"#!/bin/bash\n")
    arn = make_control_plane(eks, "llama-eks", role, list(subnets.values()))
    twin.advance(minutes=13)
    return Account(subnets, group, role, arn)


def make_control_plane(eks: Any, name: str, role: str, subnets: list[str], mode: str = "API") -> str:
    cluster = eks.create_cluster(
        name=name,
        roleArn=role,
        resourcesVpcConfig={"subnetIds": subnets},
        accessConfig={"authenticationMode": mode},
    )["cluster"]
    return str(cluster["arn"])


_TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


def refusal(call: Any, **request: object) -> tuple[str, str]:
    """Code and message of the error that `call` gets."""
    with pytest.raises(ClientError) as caught:
        call(**request)
    error = caught.value.response["Error"]
    return error["Code"], error["Message"]
