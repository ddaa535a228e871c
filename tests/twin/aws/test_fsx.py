"""FSx for Lustre."""

from __future__ import annotations

from typing import Any

import pytest

from tests.twin.aws.account import Account, refusal
from tests.twin.aws.serving import TwinUnderTest


@pytest.fixture
def fsx(twin: TwinUnderTest) -> Any:
    return twin.client("fsx")


def request(account: Account, size: int = 1200, **lustre: object) -> dict[str, object]:
    return {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": size,
        "SubnetIds": [account.subnets["usw2-az2"]],
        "ClientRequestToken": "t1",
        "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250} | lustre,
    }


def test_a_file_system_becomes_available_and_has_a_mount_name(twin: TwinUnderTest, account: Account, fsx: Any) -> None:
    made = fsx.create_file_system(**request(account))["FileSystem"]
    twin.advance(minutes=13)

    found = fsx.describe_file_systems(FileSystemIds=[made["FileSystemId"]])["FileSystems"][0]

    assert (made["Lifecycle"], found["Lifecycle"]) == ("CREATING", "AVAILABLE")
    assert len(found["LustreConfiguration"]["MountName"]) == 8
    assert found["DNSName"] == f"{made['FileSystemId']}.fsx.us-west-2.amazonaws.com"


def test_the_same_token_makes_one_file_system(twin: TwinUnderTest, account: Account, fsx: Any) -> None:
    first = fsx.create_file_system(**request(account))["FileSystem"]["FileSystemId"]

    assert fsx.create_file_system(**request(account))["FileSystem"]["FileSystemId"] == first
    assert twin.control("GET", "state")["file_systems"] == 1
    assert twin.effects()["fsx:CreateFileSystem"] == 1


def test_the_same_token_for_another_size_is_refused(account: Account, fsx: Any) -> None:
    fsx.create_file_system(**request(account))

    assert refusal(fsx.create_file_system, **request(account, size=2400))[0] == "IncompatibleParameterError"


@pytest.mark.parametrize(
    ("size", "lustre", "code"),
    [
        pytest.param(1300, {}, "BadRequest", id="a size that is not sold"),
        pytest.param(1200, {"PerUnitStorageThroughput": 200}, "InvalidPerUnitStorageThroughput", id="a speed of P1"),
        pytest.param(1200, {"DeploymentType": "SCRATCH_2"}, "BadRequest", id="scratch with a speed"),
    ],
)
def test_what_is_not_sold_is_refused(
    account: Account, fsx: Any, size: int, lustre: dict[str, object], code: str
) -> None:
    assert refusal(fsx.create_file_system, **request(account, size, **lustre))[0] == code


def test_a_missing_file_system_is_not_an_empty_list(twin: TwinUnderTest, fsx: Any) -> None:
    code, _ = refusal(fsx.describe_file_systems, FileSystemIds=["fs-0123456789abcdef0"])

    assert code == "FileSystemNotFound"


def test_a_creation_can_fail(twin: TwinUnderTest, account: Account, fsx: Any) -> None:
    twin.control("POST", "faults", [{"kind": "fsx_fails"}])
    made = fsx.create_file_system(**request(account))["FileSystem"]["FileSystemId"]
    twin.advance(minutes=13)

    found = fsx.describe_file_systems(FileSystemIds=[made])["FileSystems"][0]

    assert found["Lifecycle"] == "FAILED"
    assert found["FailureDetails"]["Message"]
