"""The CloudWatch Logs streams that HyperPod keeps for each node."""

from __future__ import annotations

from twin.world.environment import Environment
from twin.world.simulation import Simulation
from twin.world.state import Cluster, Node


def write(environment: Environment, sim: Simulation, cluster: Cluster, node: Node, kind: str, lines: list[str]) -> None:
    """`kind`: LifecycleConfig, SagemakerHealthMonitoringAgent or DeepHealthCheckResults."""
    group = f"/aws/sagemaker/Clusters/{cluster.name}/{cluster.cluster_id}"
    environment.write_log(group, f"{kind}/{node.group}/{node.instance_id}", sim.now, lines)
