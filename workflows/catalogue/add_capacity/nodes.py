"""Steps that add nodes and count the new ones until each of them is Running *and* Ready."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.cluster.clusters import CapacityMode, ClusterStatus, InstanceStatus, Node
from core.ids import StepName
from core.json_value import canonical_json
from core.messages.message import message
from core.reasons import FailureClass
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER, ClusterDetails
from tools.groups import UPDATE_GROUPS, GroupArgs, UpdateGroupsArgs, group_specification
from tools.node_batches import ADD_NODES, MAX_PER_CALL, AddNodesArgs
from tools.nodes import CLUSTER_NODES, NodesArgs
from tools.reading import moment, number, text, texts
from workflows.catalogue.add_capacity.params import AddCapacityParams, Goal, Source
from workflows.catalogue.add_capacity.place import read_place
from workflows.catalogue.add_capacity.shortage import DECIDE, ask_for_capacity, question_name
from workflows.catalogue.failures import fail
from workflows.catalogue.market import Market
from workflows.catalogue.pace import NODES_BUDGET, next_look
from workflows.catalogue.trouble import (
    errors_of,
    find_shortage,
    keep_events,
    lasting_fault,
    node_failed,
    said,
    somebody_tries,
)
from workflows.definition import Done, Next, Outcome, StepContext, Wait

VERIFY: Final = StepName("verify")


def check(ctx: StepContext, params: AddCapacityParams) -> Outcome:
    """What was true at approval may have changed; what the effects need is frozen here."""
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.cluster))
    if details is None or details.cluster.status is not ClusterStatus.IN_SERVICE:
        status = details.cluster.status.value if details is not None else "absent"
        return fail(FailureClass.CONFIG, message("targets.wrong_status", name=params.cluster, status=status))
    group = next((group for group in details.cluster.groups if group.name == params.group), None)
    if (group is None) != params.is_new_group:
        key = "add_capacity.group_taken" if params.is_new_group else "add_capacity.group_gone"
        return fail(FailureClass.CONFIG, message(key, group=params.group, name=params.cluster))
    if params.mode is not CapacityMode.TRAINING_PLAN:
        left = Market(ctx).quota_left(params.instance_type)
        if left < params.count:
            short = message("market.quota_short", type=params.instance_type, count=params.count, left=left)
            return fail(FailureClass.QUOTA, short)
    place = read_place(ctx, details)
    model = place.models[0] if place.models else None
    if params.is_new_group and model is None:
        return fail(FailureClass.CONFIG, message("add_capacity.no_model", name=params.cluster))
    nodes = ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.cluster, eks_name=details.eks_name))
    return Next(
        data={
            "eks_name": details.eks_name,
            "cluster_arn": details.cluster.arn,
            "is_continuous": details.is_continuous,
            "target_before": group.target_count if group is not None else 0,
            "nodes_before": [str(node.logical_id) for node in nodes.nodes],
            "model": model.model_dump(mode="json") if model is not None else {},
        }
    )


def add(ctx: StepContext, params: AddCapacityParams) -> Outcome:
    goal = Goal.first(params)
    if params.is_new_group:
        make_group(ctx, params.cluster, goal.source, params.count, params.subnet_id)
        return Next(data={"goal": goal.to_json()})
    if ctx.run.data.get("is_continuous") is not True:
        # Without Continuous provisioning there are no increments, only a new target.
        target = number(ctx.run.data, "target_before") + params.count
        ctx.perform(UPDATE_GROUPS, UpdateGroupsArgs(cluster=params.cluster, counts={params.group: target}))
        return Next(data={"goal": goal.to_json()})
    added: list[str] = []
    for part, count in enumerate(_parts(params.count)):
        args = AddNodesArgs(
            cluster=params.cluster,
            group=params.group,
            count=count,
            zone=params.zone_name if params.narrows_zone else "",
            part=part,
        )
        added += texts(ctx.perform(ADD_NODES, args), "nodes")
    return Next(data={"goal": goal.model_copy(update={"nodes": tuple(added)}).to_json()})


def make_group(
    ctx: StepContext, cluster: str, source: Source, count: int, subnet_id: str, *, round_number: int = 0
) -> None:
    """With role, scripts and security groups of a group that is there. Other groups are not in the request."""
    model = ctx.run.data["model"]
    group = GroupArgs(
        name=source.group,
        instance_types=(source.instance_type,),
        count=count,
        execution_role=text(model, "execution_role"),
        lifecycle_uri=text(model, "lifecycle_uri"),
        on_create=text(model, "on_create"),
        threads_per_core=number(model, "threads_per_core"),
        capacity=source.mode,
        training_plan_arn=source.plan_arn,
        subnet_ids=(subnet_id,),
        security_group_ids=tuple(texts(model, "security_group_ids")),
    )
    ctx.keep_evidence("update_cluster", f"+ {canonical_json(group_specification(group))}")
    ctx.perform(UPDATE_GROUPS, UpdateGroupsArgs(cluster=cluster, added=(group,), round=round_number))


def wait_for_nodes(ctx: StepContext, params: AddCapacityParams) -> Outcome:
    if ctx.answer(question_name(ctx)) is not None:
        return Next(to=DECIDE)
    goal = Goal.read(ctx.run.data, params)
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.cluster))
    if details is None:
        return fail(FailureClass.UNKNOWN, message("create_cluster.cluster_gone", name=params.cluster))
    own = own_nodes(ctx, params, goal)
    usable = sum(node.is_usable for node in own)
    running = sum(node.status is InstanceStatus.RUNNING for node in own)
    ctx.report(
        message("add_capacity.progress", name=params.cluster, ready=usable, running=running, total=goal.wanted),
        done=usable,
        total=goal.wanted,
    )
    if usable >= goal.wanted:
        return Next(to=VERIFY)
    return _look_for_trouble(ctx, params, goal, details, own)


def verify(ctx: StepContext, params: AddCapacityParams) -> Outcome:
    """Counts again: the run says what is there, not what was wished."""
    goal = Goal.read(ctx.run.data, params)
    own = own_nodes(ctx, params, goal)
    usable = [node for node in own if node.is_usable]
    if len(usable) < goal.wanted:
        if ctx.now - ctx.step_started_at > NODES_BUDGET:
            evidence = ctx.keep_evidence("nodes", _list_nodes(own))
            lost = message("create_cluster.nodes_lost", ready=len(usable), total=goal.wanted)
            return fail(FailureClass.UNKNOWN, lost, evidence)
        why = message("create_cluster.waiting_for_nodes", count=goal.wanted)
        return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)
    ctx.report(
        message("add_capacity.verified", name=params.cluster, ready=len(usable)), done=len(usable), total=goal.wanted
    )
    return Done(data={"nodes_ready": len(usable), "groups": sorted({node.group for node in usable})})


def own_nodes(ctx: StepContext, params: AddCapacityParams, goal: Goal) -> list[Node]:
    """The new nodes. Where no increment named them: those of the group that were not there before."""
    found = ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.cluster, eks_name=text(ctx.run.data, "eks_name"))).nodes
    if goal.nodes or goal.groups:
        return [node for node in found if goal.owns(node.group, node.logical_id)]
    before = set(texts(ctx.run.data, "nodes_before"))
    return [node for node in found if node.group == params.group and str(node.logical_id) not in before]


def _look_for_trouble(
    ctx: StepContext, params: AddCapacityParams, goal: Goal, details: ClusterDetails, own: Sequence[Node]
) -> Outcome:
    since, group = ctx.step_started_at, goal.source.group
    errors = errors_of(ctx, params.cluster, group, since)
    shortage = find_shortage(
        errors,
        wanted=goal.wanted,
        running=sum(node.status is InstanceStatus.RUNNING for node in own),
        now=ctx.now,
        patient_until=moment(ctx.run.data, "patient_until"),
    )
    if shortage is not None:
        return ask_for_capacity(ctx, params, goal, shortage)
    fault = lasting_fault(errors)
    if fault is not None:
        why = message("create_cluster.node_failed", group=fault.group, reason=said(fault))
        return node_failed(ctx, params.cluster, details.cluster.arn, fault, why)
    waited = ctx.now - since
    if waited > NODES_BUDGET and not somebody_tries(ctx, params.cluster):
        minutes = int(waited.total_seconds() // 60)
        given_up = message("create_cluster.nodes_given_up", total=goal.wanted, minutes=minutes)
        return fail(FailureClass.UNKNOWN, given_up, keep_events(ctx, errors))
    why = message("create_cluster.waiting_for_nodes", count=goal.wanted)
    if errors:
        why = message("create_cluster.node_tried_again", reason=said(errors[-1]))
    return Wait(delay=next_look(since, ctx.now), why=why)


def _parts(count: int) -> list[int]:
    """As few calls as AWS allows."""
    full, rest = divmod(count, MAX_PER_CALL)
    return [MAX_PER_CALL] * full + ([rest] if rest else [])


def _list_nodes(nodes: Sequence[Node]) -> str:
    return "\n".join(f"{node.logical_id} {node.status} ready={node.is_ready} {node.message}" for node in nodes)
