"""When a scenario may end: nothing moves any more."""

from __future__ import annotations

from typing import Any

from tests.twin.aws.account import Account
from tests.twin.aws.serving import WORLD, TwinUnderTest
from twin.world.specification import ClusterSpec, GroupSpec, StorageSpec


def moving(twin: TwinUnderTest) -> list[str]:
    answer = twin.control("GET", "quiet")
    assert answer["quiet"] == (not answer["moving"])
    return list(answer["moving"])


def test_a_fresh_world_is_quiet(twin: TwinUnderTest) -> None:
    assert moving(twin) == []


def test_nodes_that_start_are_not(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster())
    at_once = moving(twin)
    twin.advance(minutes=10)
    launching = moving(twin)
    twin.advance(minutes=20)

    assert (at_once, launching, moving(twin)) == (["cluster.setup"], ["node.launched"], [])


def test_retries_for_capacity_do_not_count(twin: TwinUnderTest, account: Account, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster(account.group(InstanceCount=3), zone="usw2-az1"))
    twin.advance(minutes=40)

    assert moving(twin) == []


def test_a_fault_within_the_hour_counts(twin: TwinUnderTest) -> None:
    fault = {"kind": "capacity_gain", "zone": "usw2-az1", "type": "ml.p5.48xlarge", "to": 9}
    twin.control("POST", "faults", [fault | {"at": "seconds:7000"}])
    early = moving(twin)
    twin.advance(minutes=60)

    assert (early, moving(twin)) == ([], ["fault.due"])


def test_a_slurm_cluster_mounts_through_its_groups(twin: TwinUnderTest) -> None:
    storage = StorageSpec(kind="fsx_lustre", id="fs-0a1b2c3d4e5f60718", mount="/fsx")
    group = GroupSpec(name="workers", type="ml.p5.48xlarge", count=0)
    cluster = ClusterSpec(name="hpc", orchestrator="slurm", zone="usw2-az2", groups=(group,), storage=(storage,))
    twin.reset(WORLD.model_copy(update={"clusters": (cluster,)}))

    live = twin.control("GET", "state")["clusters"]["hpc"]

    assert (live["orchestrator"], live["zone"], live["mounts"], live["jobs"]) == ("slurm", "usw2-az2", ["/fsx"], {})
