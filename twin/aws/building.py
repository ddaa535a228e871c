"""From a specification to a world: its zones and plans, and the clusters that stand in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.ids import InstanceTypeName, ZoneId
from twin.aws import fsx
from twin.aws.context import Context
from twin.aws.eks.addons import make_addon
from twin.aws.eks.clusters import make_cluster
from twin.aws.moto_host import MotoHost
from twin.ports import SeedJob
from twin.world import governance
from twin.world.capacity import Grant
from twin.world.specification import ClusterSpec, Count, GroupSpec, PlanSpec, WorldSpec, zone_prefix
from twin.world.state import Cluster, GovernanceItem, Group, Plan, Spec, World, Zone

SCHEDULED_STARTS_IN_HOURS = 24
"""A world's plan that is Scheduled starts a day from the beginning."""
TEAM_PRIORITIES = (("high", 100), ("low", 10))
_LETTERS = "abcdefghij"
LIFECYCLE_SCRIPT = b"#!/bin/bash\nset -e\necho provisioned\n"
TASK_GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
ADDONS = ("eks-pod-identity-agent", "cert-manager", "amazon-sagemaker-hyperpod-training-operator")


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPart:
    """Ids and ARNs of one cluster's surroundings."""

    vpc: str
    subnets: dict[ZoneId, str]
    security_group: str
    execution_role: str
    control_plane_role: str
    script_source: str


def build_world(spec: WorldSpec, now: datetime) -> World:
    """Without clusters: those need the account around them."""
    offered = _with_second_zone(spec)
    names = _zone_names(spec.region, offered)
    zones = {
        ZoneId(zone_id): Zone(
            zone_id=ZoneId(zone_id),
            name=names[zone_id],
            free={InstanceTypeName(name): count for name, count in types.items()},
        )
        for zone_id, types in offered.items()
    }
    return World(
        region=spec.region,
        zones=zones,
        quotas={InstanceTypeName(name): limit for name, limit in spec.quotas.items()},
        plans={plan.id: _plan(plan, now) for plan in spec.plans},
    )


def populate_account(account: MotoHost, spec: WorldSpec) -> dict[str, AccountPart]:
    """What the world's clusters stand on in moto: the same ids for the same seed, so a restart repeats it."""
    return {
        cluster.name: _add_account_part(account, cluster, f"10.{100 + number}.0.0/16")
        for number, cluster in enumerate(spec.clusters)
    }


def populate_clusters(ctx: Context, spec: WorldSpec, parts: dict[str, AccountPart]) -> None:
    """The clusters of the world, healthy, with their nodes ready; and what its plans wait for."""
    for plan in ctx.sim.world.plans.values():
        kind, moment = ("plan.ends", plan.end) if plan.status == "Active" else ("plan.starts", plan.start)
        if plan.status in {"Active", "Scheduled"}:
            ctx.sim.after((moment - ctx.sim.now).total_seconds(), kind, plan=plan.name)
    for cluster in spec.clusters:
        _add_cluster(ctx, cluster, parts[cluster.name])


def _with_second_zone(spec: WorldSpec) -> dict[str, dict[str, Count]]:
    """No region has one zone, and EKS wants two: where the specification names one, another offers nothing."""
    if len(spec.zones) != 1:
        return spec.zones
    prefix = zone_prefix(spec.region)
    spare = next(zone for number in (1, 2) if (zone := f"{prefix}-az{number}") not in spec.zones)
    return {**spec.zones, spare: {}}


def _zone_names(region: str, zone_ids: Iterable[str]) -> dict[str, str]:
    """AWS maps letters to zones per account, not in order of the ids: the first two are exchanged here."""
    ordered = sorted(zone_ids)
    ordered[:2] = reversed(ordered[:2])
    return {zone_id: f"{region}{letter}" for zone_id, letter in zip(ordered, _LETTERS, strict=False)}


def _plan(spec: PlanSpec, now: datetime) -> Plan:
    start = now + timedelta(hours=SCHEDULED_STARTS_IN_HOURS if spec.status == "Scheduled" else 0)
    return Plan(
        name=spec.id,
        instance_type=InstanceTypeName(spec.type),
        count=spec.count,
        zone=ZoneId(spec.zone),
        status=spec.status,
        start=start,
        end=start + timedelta(hours=spec.hours_left),
    )


def _add_account_part(account: MotoHost, spec: ClusterSpec, cidr: str) -> AccountPart:
    vpc, subnets, security_group = account.add_network(cidr, spec.name)
    for storage in spec.storage:
        if storage.kind == "s3":
            account.add_object(storage.id, ".keep", b"")
    bucket = f"sagemaker-{spec.name}-lifecycle"
    account.add_object(bucket, "base/on_create.sh", LIFECYCLE_SCRIPT)
    return AccountPart(
        vpc=vpc,
        subnets=subnets,
        security_group=security_group,
        execution_role=account.add_role(f"{spec.name}-execution", "sagemaker.amazonaws.com"),
        control_plane_role=account.add_role(f"{spec.name}-control-plane", "eks.amazonaws.com"),
        script_source=f"s3://{bucket}/base/",
    )


def _add_cluster(ctx: Context, spec: ClusterSpec, part: AccountPart) -> None:
    sim, now = ctx.sim, ctx.sim.now
    cluster_id = sim.short_id()
    _add_storage(ctx, spec, part)
    network = {"SecurityGroupIds": [part.security_group], "Subnets": [part.subnets[ZoneId(spec.zone)]]}
    settings: Spec = {
        "VpcConfig": network,
        "NodeRecovery": spec.recovery,
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
    }
    if spec.orchestrator == "eks":
        settings["Orchestrator"] = {"Eks": {"ClusterArn": _add_control_plane(ctx, spec, part)}}
    cluster = Cluster(
        name=spec.name,
        cluster_id=cluster_id,
        arn=ctx.arn("sagemaker", f"cluster/{cluster_id}"),
        status="InService",
        created_at=now,
        listed_from=now,
        spec=settings,
        groups={group.name: _group(group, part, _mounts(ctx, spec)) for group in spec.groups},
    )
    sim.world.clusters[spec.name] = cluster
    _add_governance(ctx, spec, cluster)
    for each in cluster.groups.values():
        for node in ctx.provisioning.reconcile(sim, cluster, each):
            zone = ZoneId(spec.zone)
            grant = Grant(zone, InstanceTypeName(each.spec["InstanceType"]), part.subnets[zone])
            ctx.provisioning.make_running(sim, cluster, node, grant)
    _seed_workloads(ctx, spec, cluster)


def _group(spec: GroupSpec, part: AccountPart, mounts: list[Spec]) -> Group:
    return Group(
        name=spec.name,
        target=spec.count,
        status="InService",
        has_reached_minimum=True,
        spec={
            "InstanceGroupName": spec.name,
            "InstanceType": spec.type,
            "InstanceCount": spec.count,
            "ExecutionRole": part.execution_role,
            "LifeCycleConfig": {"SourceS3Uri": part.script_source, "OnCreate": "on_create.sh"},
            "ThreadsPerCore": 2,
            **({"InstanceStorageConfigs": mounts} if mounts else {}),
        },
    )


def _mounts(ctx: Context, spec: ClusterSpec) -> list[Spec]:
    """On Slurm nodes mount file systems themselves; on EKS pods do, through claims."""
    if spec.orchestrator == "eks":
        return []
    systems = ctx.sim.world.file_systems
    return [
        {
            "FsxLustreConfig": {
                "DnsName": f"{storage.id}.fsx.{ctx.sim.world.region}.amazonaws.com",
                "MountName": systems[storage.id].mount_name,
                "MountPath": storage.mount,
            }
        }
        for storage in spec.storage
        if storage.mount and storage.kind == "fsx_lustre"
    ]


def _add_control_plane(ctx: Context, spec: ClusterSpec, part: AccountPart) -> str:
    """An active EKS cluster with the add-ons that HyperPod jobs need; its ARN."""
    name = f"{spec.name}-eks"
    settings: Spec = {
        "roleArn": part.control_plane_role,
        "resourcesVpcConfig": {
            "subnetIds": list(part.subnets.values()),
            "securityGroupIds": [part.security_group],
        },
        "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
    }
    cluster = make_cluster(ctx.sim, ctx.arn("eks", f"cluster/{name}"), name, settings, "ACTIVE")
    addons = ADDONS + ((TASK_GOVERNANCE,) if spec.teams else ())
    cluster.addons = {addon: make_addon(ctx, cluster, addon, "ACTIVE") for addon in addons}
    return cluster.arn


def _add_governance(ctx: Context, spec: ClusterSpec, cluster: Cluster) -> None:
    """One compute quota per team, in accelerators of the first group's type, and two priority classes."""
    if not spec.teams:
        return
    classes = [{"Name": name, "Weight": weight} for name, weight in TEAM_PRIORITIES]
    _add_item(ctx, cluster, governance.SCHEDULER, "policy", {"SchedulerConfig": {"PriorityClasses": classes}})
    for team in spec.teams:
        sharing = {"Strategy": "LendAndBorrow", "BorrowLimit": team.borrow_percent}
        resource = {"InstanceType": spec.groups[0].type, "Accelerators": team.accelerators}
        quota: Spec = {
            "ComputeQuotaConfig": {
                "ComputeQuotaResources": [resource],
                "ResourceSharingConfig": sharing if team.borrow_percent else {"Strategy": "Lend"},
                "PreemptTeamTasks": "LowerPriority",
            },
            "ComputeQuotaTarget": {"TeamName": team.name, "FairShareWeight": 0},
            "ActivationState": "Enabled",
        }
        _add_item(ctx, cluster, governance.QUOTA, team.name, quota)


def _add_item(ctx: Context, cluster: Cluster, kind: str, name: str, spec: Spec) -> None:
    now, item_id = ctx.sim.now, ctx.sim.short_id()
    ctx.sim.world.governance[item_id] = GovernanceItem(
        kind=kind,
        item_id=item_id,
        name=name,
        cluster_arn=cluster.arn,
        version=1,
        status="Created",
        created_at=now,
        modified_at=now,
        spec=spec,
    )


def _add_storage(ctx: Context, spec: ClusterSpec, part: AccountPart) -> None:
    for storage in spec.storage:
        if storage.kind == "s3":
            continue
        zone = ZoneId(storage.zone or spec.zone)
        settings: Spec = {
            "StorageCapacity": storage.size_gib,
            "StorageType": "SSD",
            "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
        }
        subnet = (part.subnets[zone], part.vpc, zone)
        fsx.make_file_system(ctx.sim, storage.id, subnet, settings).status = "AVAILABLE"


def _seed_workloads(ctx: Context, spec: ClusterSpec, cluster: Cluster) -> None:
    """After the nodes: jobs of the world run on them."""
    governance.tell_cluster(ctx.sim, cluster)
    if ctx.sim.workloads is None or cluster.eks_name is None:
        return
    jobs = tuple(
        SeedJob(name=j.name, team=j.team, nodes=j.nodes, priority=j.priority, state=j.state, log=j.log)
        for j in spec.jobs
    )
    mounts = tuple(storage.mount for storage in spec.storage if storage.mount)
    ctx.sim.workloads.seed(cluster.eks_name, tuple(team.name for team in spec.teams), jobs, mounts)
