"""HyperPod's own care for nodes, in a world that begins with a healthy cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.orchestration import FakeKubernetes, FakeNode
from tests.twin.aws.serving import WORLD, TwinUnderTest
from twin.world.specification import ClusterSpec, GroupSpec


def world_with(**changes: str) -> Any:
    cluster = ClusterSpec.model_validate(
        {"name": "base", "zone": "usw2-az2", "groups": [GroupSpec(name="workers", type="ml.p5.48xlarge", count=4)]}
        | changes
    )
    return WORLD.model_copy(update={"clusters": (cluster,)})


def nodes(twin: TwinUnderTest) -> list[dict[str, Any]]:
    summaries = twin.client("sagemaker").list_cluster_nodes(ClusterName="base", IncludeNodeLogicalIds=True)
    return list(summaries["ClusterNodeSummaries"])


def joined(twin: TwinUnderTest) -> list[FakeNode]:
    """Nodes as the Kubernetes half was told of them."""
    kubernetes = twin.running.twin.kubernetes
    assert isinstance(kubernetes, FakeKubernetes)
    return list(kubernetes.orchestration.planes["base-eks"].values())


def test_a_world_begins_with_its_clusters_running_and_ready(twin: TwinUnderTest) -> None:
    twin.reset(world_with())

    state = twin.control("GET", "state")["clusters"]["base"]

    assert (state["status"], state["nodes_running"], state["nodes_ready"]) == ("InService", 4, 4)


@pytest.mark.parametrize(
    ("code", "replaced", "rebooted"),
    [
        pytest.param(74, 1, 0, id="74 replaces"),
        pytest.param(73, 0, 1, id="73 reboots"),
        pytest.param(31, 0, 0, id="31"),
    ],
)
def test_an_xid_is_acted_on_by_its_code(twin: TwinUnderTest, code: int, replaced: int, rebooted: int) -> None:
    twin.reset(world_with())
    twin.control("POST", "faults", [{"kind": "xid", "cluster": "base", "node": 1, "code": code}])

    twin.advance(minutes=30)

    state = twin.control("GET", "state")["clusters"]["base"]
    assert (state["nodes_replaced"], state["nodes_rebooted"], state["nodes_running"]) == (replaced, rebooted, 4)


def test_a_replacement_keeps_the_logical_id_and_changes_the_instance(twin: TwinUnderTest) -> None:
    twin.reset(world_with())
    before = {node["NodeLogicalId"]: node["InstanceId"] for node in nodes(twin)}
    twin.control("POST", "faults", [{"kind": "xid", "cluster": "base", "node": 0, "code": 74}])
    twin.advance(minutes=30)

    after = {node["NodeLogicalId"]: node["InstanceId"] for node in nodes(twin)}

    assert after.keys() == before.keys()
    assert sum(after[name] != before[name] for name in after) == 1


def test_without_recovery_the_label_stays_and_nothing_happens(twin: TwinUnderTest) -> None:
    twin.reset(world_with(recovery="None"))
    twin.control("POST", "faults", [{"kind": "xid", "cluster": "base", "node": 0, "code": 74}])
    twin.advance(minutes=30)

    labels = [node.labels for node in joined(twin)]

    assert twin.control("GET", "state")["clusters"]["base"]["nodes_replaced"] == 0
    assert sorted(each["sagemaker.amazonaws.com/node-health-status"] for each in labels) == [
        "Schedulable",
        "Schedulable",
        "Schedulable",
        "UnschedulablePendingReplacement",
    ]


def test_a_node_that_waits_for_recovery_is_tainted_and_says_why(twin: TwinUnderTest) -> None:
    twin.reset(world_with(recovery="None"))
    twin.control("POST", "faults", [{"kind": "xid", "cluster": "base", "node": 0, "code": 74}])
    twin.advance(minutes=1)

    marked = [node for node in joined(twin) if node.taints]

    assert [node.taints for node in marked] == [{"sagemaker.amazonaws.com/node-health-status": "Unschedulable"}]
    assert marked[0].labels["sagemaker.amazonaws.com/fault-reasons"] == "XidHardwareFailure"


def test_the_agents_finding_is_in_the_nodes_log(twin: TwinUnderTest) -> None:
    twin.reset(world_with())
    twin.control("POST", "faults", [{"kind": "xid", "cluster": "base", "node": 0, "code": 74}])
    logs = twin.client("logs")
    group = logs.describe_log_groups(logGroupNamePrefix="/aws/sagemaker/Clusters/base/")["logGroups"][0]["logGroupName"]

    lines = [event["message"] for event in logs.filter_log_events(logGroupName=group)["events"]]

    assert any("Xid (PCI:0000:53:00): 74" in line for line in lines)
    assert any("HealthMonitoringAgentDetectionEvent" in line for line in lines)


def test_a_label_that_a_person_sets_starts_the_same_recovery(twin: TwinUnderTest) -> None:
    twin.reset(world_with())
    name = f"hyperpod-{nodes(twin)[0]['InstanceId']}"
    label = "sagemaker.amazonaws.com/node-health-status"
    twin.running.twin.label_changed("base-eks", name, label, "UnschedulablePendingReboot")

    twin.advance(minutes=10)

    assert twin.control("GET", "state")["clusters"]["base"]["nodes_rebooted"] == 1
