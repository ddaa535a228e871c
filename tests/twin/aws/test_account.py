"""Offers, quotas, prices, and the zones that both halves of EC2 agree on."""

from __future__ import annotations

import json
from typing import Any

from tests.twin.aws.account import refusal
from tests.twin.aws.serving import TwinUnderTest


def offers(ec2: Any, kind: str, name: str) -> set[str]:
    answer = ec2.describe_instance_type_offerings(
        LocationType=kind, Filters=[{"Name": "instance-type", "Values": [name]}]
    )
    return {item["Location"] for item in answer["InstanceTypeOfferings"]}


def test_zone_ids_and_names_agree_between_offers_zones_and_subnets(twin: TwinUnderTest) -> None:
    ec2 = twin.client("ec2")
    names = {z["ZoneId"]: z["ZoneName"] for z in ec2.describe_availability_zones()["AvailabilityZones"]}
    subnets = {s["AvailabilityZoneId"]: s["AvailabilityZone"] for s in ec2.describe_subnets()["Subnets"]}

    by_id = offers(ec2, "availability-zone-id", "p5.48xlarge")

    assert names == subnets == {"usw2-az1": "us-west-2b", "usw2-az2": "us-west-2a"}
    assert {names[zone] for zone in by_id} == offers(ec2, "availability-zone", "p5.48xlarge")


def test_a_type_that_no_zone_has_is_not_offered(twin: TwinUnderTest) -> None:
    assert offers(twin.client("ec2"), "availability-zone-id", "p4d.24xlarge") == set()


def test_an_instance_type_tells_its_accelerators_and_its_network(twin: TwinUnderTest) -> None:
    described = twin.client("ec2").describe_instance_types(InstanceTypes=["p5.48xlarge"])["InstanceTypes"][0]

    assert described["GpuInfo"]["Gpus"][0]["Count"] == 8
    assert described["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"] == 32


def test_a_quota_is_found_by_its_name_and_read_by_its_code(twin: TwinUnderTest) -> None:
    quotas = twin.client("service-quotas")
    pages = quotas.get_paginator("list_service_quotas").paginate(
        ServiceCode="sagemaker", PaginationConfig={"PageSize": 2}
    )
    named = {quota["QuotaName"]: quota for page in pages for quota in page["Quotas"]}

    code = named["ml.p5.48xlarge for cluster usage"]["QuotaCode"]

    assert quotas.get_service_quota(ServiceCode="sagemaker", QuotaCode=code)["Quota"]["Value"] == 16.0


def test_a_price_is_a_json_text_per_product(twin: TwinUnderTest) -> None:
    answer = twin.client("pricing").get_products(
        ServiceCode="AmazonSageMaker",
        Filters=[{"Type": "TERM_MATCH", "Field": "instanceName", "Value": "ml.p5.48xlarge"}],
    )

    product = json.loads(answer["PriceList"][0])

    term = next(iter(product["terms"]["OnDemand"].values()))
    assert float(next(iter(term["priceDimensions"].values()))["pricePerUnit"]["USD"]) > 0


def test_a_dry_run_is_no_effect(twin: TwinUnderTest) -> None:
    code, _ = refusal(twin.client("ec2").create_vpc, CidrBlock="10.9.0.0/16", DryRun=True)

    assert code == "DryRunOperation"
    assert "ec2:CreateVpc" not in twin.effects()


def test_a_quota_increase_stays_pending_and_is_asked_for_once(twin: TwinUnderTest) -> None:
    quotas = twin.client("service-quotas")
    listed = quotas.list_service_quotas(ServiceCode="sagemaker")["Quotas"]
    code = next(q["QuotaCode"] for q in listed if q["QuotaName"] == "ml.p5.48xlarge for cluster usage")
    request = {"ServiceCode": "sagemaker", "QuotaCode": code, "DesiredValue": 32.0}
    quotas.request_service_quota_increase(**request)
    twin.advance(minutes=600)

    found = quotas.list_requested_service_quota_change_history_by_quota(ServiceCode="sagemaker", QuotaCode=code)

    assert [item["Status"] for item in found["RequestedQuotas"]] == ["PENDING"]
    assert refusal(quotas.request_service_quota_increase, **request)[0] == "ResourceAlreadyExistsException"


def test_lists_without_an_order_differ_by_seed(twin: TwinUnderTest) -> None:
    def names() -> list[str]:
        quotas = twin.client("service-quotas").list_service_quotas(ServiceCode="sagemaker")["Quotas"]
        return [quota["QuotaName"] for quota in quotas]

    first = names()
    orders = []
    for seed in range(1, 6):
        twin.reset(seed=seed)
        orders.append(names())

    assert any(order != first for order in orders)
    assert all(sorted(order) == sorted(first) for order in orders)
