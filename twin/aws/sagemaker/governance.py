"""Compute quotas and cluster scheduler configs: versioned specifications, one name per cluster and kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.cluster.instance_types import find_instance_type
from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, validation
from twin.aws.paging import page
from twin.aws.params import Params, Reply
from twin.aws.sagemaker.clusters import find, set_tags
from twin.world import governance
from twin.world.state import Cluster, GovernanceItem, Spec, World


@dataclass(frozen=True, slots=True)
class Noun:
    """How one of the two kinds is spelled."""

    kind: str
    prefix: str
    """Of its members: `ComputeQuotaArn`, `ComputeQuotaId`, `ComputeQuotaVersion`."""
    members: tuple[str, ...]
    summary_key: str


QUOTA = Noun(
    governance.QUOTA,
    "ComputeQuota",
    ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState", "Description"),
    "ComputeQuotaSummaries",
)
SCHEDULER = Noun(
    governance.SCHEDULER,
    "ClusterSchedulerConfig",
    ("SchedulerConfig", "Description"),
    "ClusterSchedulerConfigSummaries",
)


def _create(noun: Noun) -> Handler:
    def create(ctx: Context, params: Params) -> Reply:
        cluster = find(ctx.sim.world, params.text("ClusterArn"))
        items = [item for item in _of(ctx.sim.world, noun) if item.cluster_arn == cluster.arn]
        if any(item.name == params.text("Name") for item in items):
            raise AwsError("ConflictException", f"{noun.prefix} {params.text('Name')} already exists in the cluster.")
        spec = _spec(noun, params, cluster)
        _check_team(noun, spec, items)
        item = GovernanceItem(
            kind=noun.kind,
            item_id=ctx.sim.short_id(),
            name=params.text("Name"),
            cluster_arn=cluster.arn,
            version=1,
            status="Creating",
            created_at=ctx.sim.now,
            modified_at=ctx.sim.now,
            spec={"ActivationState": "Enabled"} | spec if noun is QUOTA else spec,
        )
        ctx.sim.world.governance[item.item_id] = item
        set_tags(ctx, _arn(ctx, item), params)
        governance.settle_later(ctx.sim, item)
        return {f"{noun.prefix}Arn": _arn(ctx, item), f"{noun.prefix}Id": item.item_id}

    return create


def _update(noun: Noun) -> Handler:
    def update(ctx: Context, params: Params) -> Reply:
        """TargetVersion is the version that the caller read: an older one is a conflict."""
        item = _find(ctx.sim.world, noun, params)
        if params.integer("TargetVersion") != item.version:
            raise AwsError("ConflictException", f"TargetVersion must be {item.version}, the current version.")
        if item.status not in {"Created", "Updated", "CreateFailed", "UpdateFailed"}:
            raise AwsError("ConflictException", f"{noun.prefix} {item.name} is in status {item.status}.")
        spec = _spec(noun, params, find(ctx.sim.world, item.cluster_arn))
        _check_team(noun, spec, [each for each in _of(ctx.sim.world, noun) if each is not item])
        item.spec |= spec
        item.version, item.status, item.modified_at = item.version + 1, "Updating", ctx.sim.now
        governance.settle_later(ctx.sim, item)
        return {f"{noun.prefix}Arn": _arn(ctx, item), f"{noun.prefix}Version": item.version}

    return update


def _delete(noun: Noun) -> Handler:
    def delete(ctx: Context, params: Params) -> Reply:
        item = _find(ctx.sim.world, noun, params)
        item.status = "Deleting"
        governance.settle_later(ctx.sim, item)
        return {}

    return delete


def _describe(noun: Noun) -> Handler:
    def describe(ctx: Context, params: Params) -> Reply:
        item = _find(ctx.seen, noun, params)
        reply = {
            **_summary(ctx, noun, item),
            **{key: item.spec.get(key) for key in noun.members},
            "FailureReason": item.failure or None,
        }
        if noun is SCHEDULER:
            config = item.spec.get("SchedulerConfig", {})
            reply["StatusDetails"] = dict.fromkeys(config, item.status)
        return reply

    return describe


def _list(noun: Noun) -> Handler:
    def list_items(ctx: Context, params: Params) -> Reply:
        after, before = params.moment("CreatedAfter"), params.moment("CreatedBefore")
        found = [
            item
            for item in _of(ctx.seen, noun, with_deleted=True)
            if params.text("ClusterArn", item.cluster_arn) == item.cluster_arn
            and params.text("NameContains") in item.name
            and params.text("Status", item.status) == item.status
            and (after is None or item.created_at > after)
            and (before is None or item.created_at < before)
        ]
        found.sort(key=_ORDERS[params.text("SortBy", "CreationTime")])
        if params.text("SortOrder", "Descending") == "Descending":
            found.reverse()
        chosen, token = page(found, params)
        summaries = [_summary(ctx, noun, item) for item in chosen]
        if noun is QUOTA:
            summaries = [
                {**summary, **{key: item.spec.get(key) for key in noun.members if key != "Description"}}
                for summary, item in zip(summaries, chosen, strict=True)
            ]
        return {noun.summary_key: summaries, "NextToken": token}

    return list_items


OPERATIONS: dict[str, Handler] = {
    f"{verb}{noun.prefix}{'s' if verb == 'List' else ''}": make(noun)
    for noun in (QUOTA, SCHEDULER)
    for verb, make in (
        ("Create", _create),
        ("Update", _update),
        ("Delete", _delete),
        ("Describe", _describe),
        ("List", _list),
    )
}

_ORDERS: dict[str, Callable[[GovernanceItem], str]] = {
    "Name": lambda item: item.name,
    "CreationTime": lambda item: item.created_at.isoformat(),
    "Status": lambda item: item.status,
    "ClusterArn": lambda item: item.cluster_arn,
}


def _of(world: World, noun: Noun, *, with_deleted: bool = False) -> list[GovernanceItem]:
    return [
        item
        for item in world.governance.values()
        if item.kind == noun.kind and (with_deleted or item.status != "Deleted")
    ]


def _find(world: World, noun: Noun, params: Params) -> GovernanceItem:
    item_id = params.text(f"{noun.prefix}Id")
    item = world.governance.get(item_id)
    if item is None or item.kind != noun.kind or item.status == "Deleted":
        raise AwsError("ResourceNotFound", f"{noun.prefix} with id {item_id} not found.")
    return item


def _arn(ctx: Context, item: GovernanceItem) -> str:
    return ctx.arn("sagemaker", f"{item.kind}/{item.item_id}")


def _spec(noun: Noun, params: Params, cluster: Cluster) -> Spec:
    spec: Spec = {key: params[key] for key in noun.members if key in params}
    config = spec.get("ComputeQuotaConfig")
    if config is not None:
        sharing = Params(config).structure("ResourceSharingConfig")
        if "BorrowLimit" in sharing and sharing.text("Strategy") != "LendAndBorrow":
            raise validation("BorrowLimit can only be set with the strategy LendAndBorrow.")
        resources = Params(config).structures("ComputeQuotaResources")
        spec["ComputeQuotaConfig"] = {"PreemptTeamTasks": "LowerPriority"} | config
        spec["ComputeQuotaConfig"]["ComputeQuotaResources"] = [_filled(cluster, item) for item in resources]
    return spec


def _filled(cluster: Cluster, resource: Params) -> Spec:
    """What is not given follows from what is, in the ratio of the type: accelerators bring vCPUs and memory,
    vCPUs bring memory, memory brings vCPUs (documentation of ComputeQuotaResourceConfig).
    """
    name = resource.text("InstanceType")
    figures = find_instance_type(name)
    if not any(key in resource for key in ("Count", "Accelerators", "VCpu", "MemoryInGiB", "AcceleratorPartition")):
        raise validation(f"Specify at least one figure for {name}.")
    if all(group.spec.get("InstanceType") != name for group in cluster.groups.values()) and not any(
        name in group.spec.get("InstanceRequirements", {}).get("InstanceTypes", []) for group in cluster.groups.values()
    ):
        raise validation(f"Cluster {cluster.name} has no instance group of type {name}.")
    filled: Spec = resource.to_json()
    if figures is None or "Count" in resource:
        return filled
    if "Accelerators" in resource and figures.accelerators:
        share = resource.integer("Accelerators") / figures.accelerators
        filled.setdefault("VCpu", share * figures.vcpus)
        filled.setdefault("MemoryInGiB", share * figures.memory_gib)
    elif "VCpu" in resource:
        filled |= {"Accelerators": 0, "MemoryInGiB": filled["VCpu"] / figures.vcpus * figures.memory_gib}
    elif "MemoryInGiB" in resource:
        filled |= {"Accelerators": 0, "VCpu": filled["MemoryInGiB"] / figures.memory_gib * figures.vcpus}
    return filled


def _check_team(noun: Noun, spec: Spec, others: list[GovernanceItem]) -> None:
    team = spec.get("ComputeQuotaTarget", {}).get("TeamName")
    if noun is QUOTA and any(item.spec["ComputeQuotaTarget"]["TeamName"] == team for item in others):
        raise AwsError("ConflictException", f"Team {team} has a compute quota already.")


def _summary(ctx: Context, noun: Noun, item: GovernanceItem) -> dict[str, object]:
    return {
        f"{noun.prefix}Arn": _arn(ctx, item),
        f"{noun.prefix}Id": item.item_id,
        f"{noun.prefix}Version": item.version,
        "Name": item.name,
        "Status": item.status,
        "ClusterArn": item.cluster_arn,
        "CreationTime": item.created_at,
        "LastModifiedTime": item.modified_at,
    }
