"""What task governance makes of compute quotas and scheduler configs: a status, and the cluster's Kueue objects."""

from __future__ import annotations

from twin.world import durations
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import Cluster, GovernanceItem, Spec

QUOTA = "compute-quota"
SCHEDULER = "cluster-scheduler-config"
ADDON = "amazon-sagemaker-hyperpod-taskgovernance"
IN_FORCE = frozenset({"Created", "Updated"})
_SETTLED = {"Creating": "Created", "Updating": "Updated", "Deleting": "Deleted"}
_FAILED = {"Creating": "CreateFailed", "Updating": "UpdateFailed", "Deleting": "Deleted"}


def timer_actions() -> dict[str, TimerAction]:
    return {"governance.settled": _settled}


def settle_later(sim: Simulation, item: GovernanceItem) -> None:
    delay = sim.between(durations.GOVERNANCE_CHANGE)
    sim.after(delay, "governance.settled", item=item.item_id, status=item.status)


def tell_cluster(sim: Simulation, cluster: Cluster) -> None:
    """Give the Kubernetes half everything that is in force."""
    if sim.workloads is None or cluster.eks_name is None:
        return
    items = [i for i in sim.world.governance.values() if i.cluster_arn == cluster.arn and i.status in IN_FORCE]
    quotas = tuple({"Name": item.name, **item.spec} for item in items if item.kind == QUOTA)
    scheduler: Spec | None = next((item.spec["SchedulerConfig"] for item in items if item.kind == SCHEDULER), None)
    sim.workloads.govern(cluster.eks_name, quotas, scheduler)


def _settled(sim: Simulation, args: dict[str, str]) -> None:
    item = sim.world.governance.get(args["item"])
    if item is None or item.status != args["status"]:
        return
    cluster = next((c for c in sim.world.clusters.values() if c.arn == item.cluster_arn), None)
    eks = sim.world.eks.get(cluster.eks_name or "") if cluster is not None else None
    addon = eks.addons.get(ADDON, {}) if eks is not None else {}
    if addon.get("status") in {"ACTIVE", "DEGRADED"}:
        item.status, item.failure = _SETTLED[item.status], ""
    else:
        item.status = _FAILED[item.status]
        item.failure = f"The EKS add-on {ADDON} is not active on the cluster."
    if cluster is not None:
        tell_cluster(sim, cluster)
