"""The long wait: nodes counted until as many are Running *and* Ready as were wanted, and then proved.

A cluster that is InService may have no node at all. So this step counts, reads the events for reasons, and
tells three kinds of trouble apart: no capacity (a person decides), a fault that came back (the step fails with
its evidence), and silence (nobody tries any more: escalate).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.cluster.clusters import ClusterStatus, InstanceStatus, Node
from core.ids import StepName
from core.messages.message import Message, message
from core.reasons import FailureClass
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER, ClusterDetails
from tools.eks import ACTIVE, ADDONS, AddonsArgs
from tools.events import classify
from tools.nodes import CLUSTER_NODES, ClusterNodes, NodesArgs
from tools.reading import moment
from workflows.catalogue.create_cluster.control_plane import DEPENDENCIES, addon_failure
from workflows.catalogue.create_cluster.params import CreateClusterParams, Target
from workflows.catalogue.create_cluster.shortage import ask_for_capacity, question_name
from workflows.catalogue.failures import fail
from workflows.catalogue.pace import ADDON_BUDGET, NODES_BUDGET, next_look
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

VERIFY, CHANGE_CAPACITY = StepName("verify"), StepName("change_capacity")

_GONE_WRONG: Final = frozenset({ClusterStatus.FAILED, ClusterStatus.ROLLING_BACK, ClusterStatus.DELETING})


def wait_for_nodes(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    if ctx.answer(question_name(ctx)) is not None:
        return Next(to=CHANGE_CAPACITY)
    target = Target.read(ctx.run.data, params)
    details = ctx.read(DESCRIBE_CLUSTER, ByName(name=params.name))
    if details is None or details.cluster.status in _GONE_WRONG:
        return _cluster_failed(ctx, params, details)
    nodes = ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.name, eks_name=details.eks_name))
    own = [node for node in nodes.nodes if node.group == target.group]
    usable = sum(node.is_usable for node in own)
    running = sum(node.status is InstanceStatus.RUNNING for node in own)
    ctx.report(
        message("create_cluster.nodes_progress", ready=usable, running=running, total=target.count),
        done=usable,
        total=target.count,
    )
    if usable >= target.count:
        return Next(to=VERIFY)
    return _look_for_trouble(ctx, params, target, details, running)


def verify(ctx: StepContext, params: CreateClusterParams) -> Outcome:
    """Counts again, and wants every add-on active now that there are nodes for its pods."""
    target = Target.read(ctx.run.data, params)
    nodes = ctx.read(CLUSTER_NODES, NodesArgs(cluster=params.name, eks_name=params.eks_name))
    usable = [node for node in nodes.nodes if node.group == target.group and node.is_usable]
    if len(usable) < target.count:
        if ctx.now - ctx.step_started_at > ADDON_BUDGET:
            evidence = ctx.keep_evidence("nodes", _list_nodes(nodes.nodes))
            text = message("create_cluster.nodes_lost", ready=len(usable), total=target.count)
            return fail(FailureClass.UNKNOWN, text, evidence)
        return _look_again(ctx, message("create_cluster.waiting_for_nodes", count=target.count))
    addons = ctx.read(ADDONS, AddonsArgs(eks_name=params.eks_name, names=DEPENDENCIES))
    waiting = [addon for addon in addons if addon.status != ACTIVE]
    if waiting or len(addons) < len(DEPENDENCIES):
        if ctx.now - ctx.step_started_at > ADDON_BUDGET:
            return addon_failure(ctx, waiting)
        names = ", ".join(addon.name for addon in waiting)
        return _look_again(ctx, message("create_cluster.waiting_for_addons", addons=names))
    ctx.report(
        message("create_cluster.verified", ready=len(usable), accelerators=_accelerators(nodes), name=params.name),
        done=len(usable),
        total=target.count,
    )
    return Done(data={"nodes_ready": len(usable), "zone_id": target.zone_id, "instance_type": target.instance_type})


def _look_for_trouble(
    ctx: StepContext, params: CreateClusterParams, target: Target, details: ClusterDetails, running: int
) -> Outcome:
    # The step begins anew after a human's answer and after a retry: what went wrong before is over then.
    since = ctx.step_started_at
    errors = errors_of(ctx, params.name, target.group, since)
    patient_until = moment(ctx.run.data, "patient_until")
    shortage = find_shortage(errors, wanted=target.count, running=running, now=ctx.now, patient_until=patient_until)
    if shortage is not None:
        return ask_for_capacity(ctx, params, target, shortage)
    fault = lasting_fault(errors)
    if fault is not None:
        text = message("create_cluster.node_failed", group=fault.group, reason=said(fault))
        return node_failed(ctx, params.name, details.cluster.arn, fault, text)
    waited = ctx.now - since
    if waited > NODES_BUDGET and not somebody_tries(ctx, params.name):
        evidence = keep_events(ctx, errors)
        text = message("create_cluster.nodes_given_up", total=target.count, minutes=int(waited.total_seconds() // 60))
        return fail(FailureClass.UNKNOWN, text, evidence)
    why = message("create_cluster.waiting_for_nodes", count=target.count)
    if errors:
        why = message("create_cluster.node_tried_again", reason=said(errors[-1]))
    return Wait(delay=next_look(since, ctx.now), why=why)


def _cluster_failed(ctx: StepContext, params: CreateClusterParams, details: ClusterDetails | None) -> Outcome:
    if details is None:
        return fail(FailureClass.UNKNOWN, message("create_cluster.cluster_gone", name=params.name))
    cluster = details.cluster
    evidence = ctx.keep_evidence("cluster", f"{cluster.name} {cluster.status}: {cluster.failure_message}")
    text = message(
        "create_cluster.cluster_failed",
        name=params.name,
        status=cluster.status.value,
        reason=cluster.failure_message or "-",
    )
    return fail(classify(cluster.failure_message), text, evidence)


def _look_again(ctx: StepContext, why: Message) -> Wait:
    return Wait(delay=next_look(ctx.step_started_at, ctx.now), why=why)


def _list_nodes(nodes: Sequence[Node]) -> str:
    return "\n".join(f"{node.logical_id} {node.status} ready={node.is_ready} {node.message}" for node in nodes)


def _accelerators(nodes: ClusterNodes) -> int:
    return sum(sum(by_resource.values()) for by_resource in nodes.allocatable.values())
