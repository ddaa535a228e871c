"""A twin that ends and starts again on its folder, and one that is reset."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

from tests.twin.aws.account import make_account
from tests.twin.aws.serving import SLOW, TOKEN, WORLD, TwinUnderTest, serving
from twin.server import TwinConfig


def test_a_reset_leaves_nothing_of_the_old_world(twin: TwinUnderTest) -> None:
    account = make_account(twin)
    twin.client("sagemaker").create_cluster(**account.cluster())

    twin.reset()

    assert twin.control("GET", "state")["clusters"] == {}
    assert twin.effects() == {}
    assert twin.client("s3").list_buckets()["Buckets"] == []


def test_the_same_seed_gives_the_same_ids(twin: TwinUnderTest) -> None:
    first = make_account(twin)
    twin.reset(seed=0)
    again = make_account(twin)
    twin.reset(seed=1)

    other = make_account(twin)

    assert first == again
    assert other.subnets != first.subnets


def test_a_restart_goes_on_with_the_world_and_the_account(tmp_path: Path, twin: TwinUnderTest) -> None:
    """Another twin on a folder, while the first one of this process rests: moto's state is shared by both."""
    config = TwinConfig(folder=tmp_path, port=0, token=TOKEN, time_factor=SLOW, seed=5, world=WORLD)

    with serving(config) as other:
        other.client("sagemaker").create_cluster(**make_account(other).cluster())
        before = describe_everything(other)

    with serving(config) as other:
        assert describe_everything(other) == before


def test_a_killed_twin_finds_the_same_ids_in_its_journal(tmp_path: Path) -> None:
    """In processes of their own: what moto makes at a service's first request stays for the life of a process."""
    made = run_moto(tmp_path / "journal.jsonl", looks_first=True, action="CreateVpc", CidrBlock="10.9.0.0/16")
    after = run_moto(tmp_path / "journal.jsonl", looks_first=False, action="DescribeVpcs")

    assert VPC_ID.findall(made)[0] in VPC_ID.findall(after)


VPC_ID = re.compile(r"vpc-[0-9a-f]+")
ASK_MOTO = """
import json, sys
from pathlib import Path
from twin.aws.moto_host import MotoHost
from twin.aws.wire import Request

journal, forms = Path(sys.argv[1]), json.loads(sys.argv[2])
host = MotoHost(journal)
host.begin("us-west-2", (), 0, lambda: None)
for form in forms:
    headers = {
        "host": "ec2.us-west-2.amazonaws.com",
        "content-type": "application/x-www-form-urlencoded",
        "authorization": "AWS4-HMAC-SHA256 Credential=A/20261130/us-west-2/ec2/aws4_request, SignedHeaders=host",
    }
    request = Request(method="POST", path="/", query="", headers=headers, body=form.encode(), service="ec2")
    answer = host.call(request, changes="Create" in form)
print(answer.body.decode())
"""


def run_moto(journal: Path, *, looks_first: bool, action: str, **fields: str) -> str:
    """The answer to the last call of a process that has no other."""
    wanted = [{"Action": "DescribeVpcs"}] * looks_first + [{"Action": action, **fields}]
    forms = json.dumps([urlencode({**form, "Version": "2016-11-15"}) for form in wanted])
    command = [sys.executable, "-c", ASK_MOTO, str(journal), forms]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def describe_everything(twin: TwinUnderTest) -> object:
    cluster = twin.client("sagemaker").describe_cluster(ClusterName="llama")
    subnets = twin.client("ec2").describe_subnets()["Subnets"]
    roles = twin.client("iam").list_roles()["Roles"]
    return (
        cluster["ClusterArn"],
        cluster["ClusterStatus"],
        sorted(subnet["SubnetId"] for subnet in subnets),
        [role["RoleId"] for role in roles],
        twin.effects(),
    )


def test_the_address_file_is_private_and_goes_with_the_twin(tmp_path: Path, twin: TwinUnderTest) -> None:
    config = TwinConfig(folder=tmp_path, port=0, token=TOKEN, time_factor=SLOW, seed=0, world=WORLD)
    path = tmp_path / "twin.json"

    with serving(config):
        mode, content = path.stat().st_mode & 0o777, json.loads(path.read_text())

    assert mode == 0o600
    assert (content["token"], content["pid"]) == (TOKEN, os.getpid())
    assert not path.exists()
