"""The guards: each looks at one proposal and the fleet, and says nothing or why not.

Together they are what no surveyed tool has all of: a breaker on the share of nodes taken, a delay after a storm, a
budget per node, and a stop when the same code appears on many nodes at once. Order does not matter: all of them
are asked, so that a person sees every reason at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from core.health.faults import Confidence, Fault, Remediation
from core.health.remediation.fleet import MUSTER, BreakerState, Fleet, FleetNode
from core.health.remediation.refusals import RefusalCause, RemediationRefusal, refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What is meant to be done to which node, and why."""

    fault: Fault
    remediation: Remediation
    node: FleetNode
    confirmations: int = 1
    """How often the fault was sampled."""


Guard: TypeAlias = Callable[[Proposal, Fleet], RemediationRefusal | None]


def refusals(proposal: Proposal, fleet: Fleet) -> tuple[RemediationRefusal, ...]:
    """Every guard's objection. Only remediations that take the node are guarded."""
    if not proposal.remediation.takes_node:
        return ()
    return tuple(objection for guard in GUARDS if (objection := guard(proposal, fleet)) is not None)


def not_paused(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    return refusal(RefusalCause.PAUSED) if fleet.is_paused else None


def managed(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """A person took the node out of Muster's care."""
    if proposal.node.is_managed:
        return None
    return refusal(RefusalCause.NODE_UNMANAGED, node=proposal.node.identity.host)


def not_the_controller(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """BatchReplaceClusterNodes is not for the Slurm controller; a reboot of it stops every job's bookkeeping."""
    if not proposal.node.is_controller:
        return None
    return refusal(RefusalCause.CONTROLLER_NODE, node=proposal.node.identity.host)


def not_in_repair(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    if not proposal.node.in_repair:
        return None
    return refusal(RefusalCause.ALREADY_IN_REPAIR, node=proposal.node.identity.host)


def confirmed(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """A code that the hardware printed is a fact; what a checker infers has to be seen twice (hyperpod-cli 425)."""
    needed = 1 if proposal.fault.confidence is Confidence.STATED else fleet.limits.confirmations
    if proposal.confirmations >= needed:
        return None
    return refusal(RefusalCause.NOT_CONFIRMED, seen=proposal.confirmations, needed=needed)


def own_cordon(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """Somebody else's cordon means that somebody else is at work there (NVSentinel 1424)."""
    owner = proposal.node.cordoned_by
    if owner is None or owner == MUSTER:
        return None
    return refusal(RefusalCause.CORDONED_BY_OTHER, node=proposal.node.identity.host, owner=owner)


def not_fleet_wide(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """The same code on many nodes within an hour came with a roll-out: repairing would take the cluster down."""
    since = fleet.now - fleet.limits.fleet_wide_window
    code = proposal.fault.code
    hosts = {seen.node.host for seen in fleet.faults if seen.fault_code == code and since <= seen.at <= fleet.now}
    hosts.add(proposal.node.identity.host)
    limit = max(fleet.limits.fleet_wide_nodes, math.ceil(fleet.limits.fleet_wide_share * len(fleet.nodes)))
    if len(hosts) < limit:
        return None
    return refusal(RefusalCause.FLEET_WIDE_CODE, code=code, count=len(hosts), total=len(fleet.nodes))


def breaker_closed(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    if fleet.breaker is BreakerState.TRIPPED:
        return refusal(RefusalCause.BREAKER_TRIPPED)
    since = fleet.now - fleet.limits.breaker_window
    taken = {
        repair.node.host
        for repair in fleet.repairs
        if repair.remediation.takes_node and since <= repair.at <= fleet.now
    } | {proposal.node.identity.host}
    allowed = max(1, math.floor(fleet.limits.breaker_share * len(fleet.nodes)))
    if len(taken) <= allowed:
        return None
    return refusal(RefusalCause.BREAKER_WOULD_TRIP, count=len(taken), allowed=allowed)


def no_storm(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """While too few nodes are healthy, and for a while after, the cause is more likely common than local."""
    if fleet.healthy_share < fleet.limits.minimum_healthy_share and len(fleet.nodes) > 1:
        return refusal(RefusalCause.STORM, percent=round(100 * fleet.healthy_share))
    if fleet.storm_ended_at is None:
        return None
    over_at = fleet.storm_ended_at + fleet.limits.storm_exit_delay
    if fleet.now >= over_at:
        return None
    return refusal(RefusalCause.STORM_EXIT_DELAY, over_at, until=over_at.isoformat())


def within_node_budget(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    since = fleet.now - fleet.limits.repairs_window
    count = sum(
        repair.remediation.takes_node and repair.at > since and repair.node.is_same_machine(proposal.node.identity)
        for repair in fleet.repairs
    )
    if count < fleet.limits.repairs_per_node:
        return None
    days = fleet.limits.repairs_window.days
    return refusal(RefusalCause.NODE_BUDGET_SPENT, node=proposal.node.identity.host, count=count, days=days)


def not_flapping(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """Repaired, failed, repaired, failed: the repair is not the cure."""
    since = fleet.now - fleet.limits.flap_window
    count = sum(
        repair.remediation.takes_node
        and repair.at > since
        and repair.remediation is not Remediation.REPLACE
        and repair.node.is_same_machine(proposal.node.identity)
        for repair in fleet.repairs
    )
    if count < fleet.limits.flap_count or proposal.remediation is Remediation.REPLACE:
        return None
    return refusal(RefusalCause.FLAPPING, node=proposal.node.identity.host, count=count)


def not_replaced_already(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """A new machine under the same name with the same fault: it is not the machine."""
    since = fleet.now - fleet.limits.look_back
    replaced = any(
        repair.remediation is Remediation.REPLACE
        and repair.node.host == proposal.node.identity.host
        and repair.fault_code == proposal.fault.code
        and repair.at > since
        for repair in fleet.repairs
    )
    if not replaced:
        return None
    return refusal(RefusalCause.REPLACED_ALREADY, node=proposal.node.identity.host, code=proposal.fault.code)


def no_innocent_job(proposal: Proposal, fleet: Fleet) -> RemediationRefusal | None:
    """A job that can go on is not killed for a repair that can wait (soperator 2635)."""
    if proposal.fault.is_fatal or not proposal.node.running_jobs:
        return None
    return refusal(RefusalCause.JOB_RUNNING, job=", ".join(proposal.node.running_jobs))


GUARDS: Final[tuple[Guard, ...]] = (
    not_paused,
    managed,
    not_the_controller,
    not_in_repair,
    confirmed,
    own_cordon,
    not_fleet_wide,
    breaker_closed,
    no_storm,
    within_node_budget,
    not_flapping,
    not_replaced_already,
    no_innocent_job,
)
