"""The decision about one fault: what, by whom, under whose approval, or why not.

With NodeRecovery `Automatic` HyperPod reboots and replaces what its own agent sees; Muster follows, verifies and
resumes the job, and only proposes by itself what HyperPod cannot see or did not do in time. With `None` Muster
proposes, and acts under an approval or a standing approval.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from core.cluster.clusters import NodeHealthStatus, NodeRecovery
from core.health.diagnosis.explain import cause_name, remediation_name
from core.health.faults import Fault, Remediation
from core.health.remediation.fleet import Fleet, FleetNode
from core.health.remediation.guards import Proposal, refusals
from core.health.remediation.refusals import RefusalCause, RemediationRefusal, refusal
from core.health.signals import NodeIdentity
from core.messages.message import Message, message


class Verdict(StrEnum):
    NOTHING = "nothing"
    """No remediation of a node or job is called for."""
    ACT = "act"
    """A standing approval covers it."""
    PROPOSE = "propose"
    """Ask for approval."""
    FOLLOW = "follow"
    """HyperPod acts; watch, verify, resume the job."""
    DEFER = "defer"
    """A guard objects for now: ask again at `ask_again_at`, or when the state changes."""
    ESCALATE = "escalate"
    """A person has to look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlastRadius:
    """What the remediation takes with it."""

    nodes: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    volumes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RemediationDecision:
    verdict: Verdict
    remediation: Remediation
    """What is meant, also where it is refused, deferred or followed."""
    node: NodeIdentity | None
    explanation: Message
    refusals: tuple[RemediationRefusal, ...] = ()
    blast_radius: BlastRadius = BlastRadius()
    spare: NodeIdentity | None = None
    """A healthy idle spare that takes the node's place at once."""
    cordon_now: bool = False
    """Keep new work away although the repair waits."""
    ask_again_at: datetime | None = None


_SEEN_BY_HYPERPOD: Final = frozenset(
    {"xid", "node_condition", "health_label", "fault_type", "gpu_off_bus", "gpu_lost", "gpu_count_short"}
    | {"ecc_uncorrectable", "row_remap_failed", "row_remap_pending", "neuron_hw_error", "neuron_count_short"}
    | {"diag_failed", "deep_check"}
)
"""What the health-monitoring agent looks at: kernel log, NVML, DCGM policies, Neuron. EFA is not in its list."""
_PENDING: Final = {
    NodeHealthStatus.UNSCHEDULABLE_PENDING_REBOOT: Remediation.REBOOT,
    NodeHealthStatus.UNSCHEDULABLE_PENDING_REPLACEMENT: Remediation.REPLACE,
}


def decide(
    fault: Fault, fleet: Fleet, *, confirmations: int = 1, first_seen_at: datetime | None = None
) -> RemediationDecision:
    """What to do about `fault` now. `first_seen_at` says how long HyperPod has had to act already."""
    remediation = next_remediation(fault, fleet, first_seen_at)
    if not remediation.takes_node:
        return _without_node(fault, remediation)
    node = fleet.find(fault.node) if fault.node is not None else None
    if node is None:
        return _unknown_target(fault, remediation, fleet)
    if followed := _followed(fault, node, fleet, first_seen_at):
        return followed
    proposal = Proposal(fault=fault, remediation=remediation, node=node, confirmations=confirmations)
    if objections := refusals(proposal, fleet):
        return _objected(proposal, objections)
    return _allowed(proposal, fleet)


def next_remediation(fault: Fault, fleet: Fleet, first_seen_at: datetime | None = None) -> Remediation:
    """The rung of the ladder: first, then on repeat, then a person. The same fault twice always escalates.

    Earlier incidents on the same machine count: those seen before `first_seen_at` of the present one (default now).
    """
    if fault.node is None:
        return fault.first_remediation
    since, before = fleet.now - fleet.limits.look_back, first_seen_at or fleet.now
    times = sum(
        seen.fault_code == fault.code and since < seen.at < before and seen.node.is_same_machine(fault.node)
        for seen in fleet.faults
    )
    if times == 0:
        return fault.first_remediation
    return fault.repeat_remediation if times == 1 else Remediation.ESCALATE


def _without_node(fault: Fault, remediation: Remediation) -> RemediationDecision:
    verdict = Verdict.ESCALATE if remediation is Remediation.ESCALATE else Verdict.NOTHING
    if remediation is Remediation.RESTART_WORKLOAD:
        verdict = Verdict.PROPOSE
    return RemediationDecision(
        verdict=verdict, remediation=remediation, node=fault.node, explanation=_explained(fault, remediation)
    )


def _unknown_target(fault: Fault, remediation: Remediation, fleet: Fleet) -> RemediationDecision:
    """A node that vanished, or returned under its name as another machine: nothing is done to a stranger."""
    host = fault.node.host if fault.node is not None else "?"
    namesake = any(node.identity.host == host for node in fleet.nodes)
    cause = RefusalCause.TARGET_IS_ANOTHER_INSTANCE if namesake else RefusalCause.TARGET_UNKNOWN
    return RemediationDecision(
        verdict=Verdict.ESCALATE,
        remediation=remediation,
        node=fault.node,
        explanation=_explained(fault, remediation),
        refusals=(refusal(cause, node=host),),
    )


def _followed(
    fault: Fault, node: FleetNode, fleet: Fleet, first_seen_at: datetime | None
) -> RemediationDecision | None:
    if fleet.node_recovery is not NodeRecovery.AUTOMATIC:
        return None
    pending = _PENDING.get(node.health)
    is_seen = fault.leading is not None and fault.leading.kind in _SEEN_BY_HYPERPOD
    deadline = (first_seen_at or fleet.now) + fleet.limits.follow_patience
    if pending is None and (not is_seen or fleet.now >= deadline):
        return None
    remediation = pending or next_remediation(fault, fleet, first_seen_at)
    return RemediationDecision(
        verdict=Verdict.FOLLOW,
        remediation=remediation,
        node=node.identity,
        explanation=message(
            "health.follows_hyperpod", node=node.identity.host, remediation=remediation_name(remediation)
        ),
        blast_radius=_radius(node, remediation),
        spare=_spare(node, remediation, fleet),
        ask_again_at=None if pending else deadline,
    )


def _objected(proposal: Proposal, objections: tuple[RemediationRefusal, ...]) -> RemediationDecision:
    needs_person = any(objection.cause.needs_person for objection in objections)
    only_the_job = {objection.cause for objection in objections} == {RefusalCause.JOB_RUNNING}
    times = [objection.ask_again_at for objection in objections if objection.ask_again_at is not None]
    return RemediationDecision(
        verdict=Verdict.ESCALATE if needs_person else Verdict.DEFER,
        remediation=proposal.remediation,
        node=proposal.node.identity,
        explanation=_explained(proposal.fault, proposal.remediation),
        refusals=objections,
        blast_radius=_radius(proposal.node, proposal.remediation),
        cordon_now=only_the_job,
        ask_again_at=max(times, default=None),
    )


def _allowed(proposal: Proposal, fleet: Fleet) -> RemediationDecision:
    node, remediation = proposal.node, proposal.remediation
    covered = any(standing.covers(remediation, node.group, fleet.now) for standing in fleet.standing)
    return RemediationDecision(
        verdict=Verdict.ACT if covered else Verdict.PROPOSE,
        remediation=remediation,
        node=node.identity,
        explanation=_explained(proposal.fault, remediation),
        blast_radius=_radius(node, remediation),
        spare=_spare(node, remediation, fleet),
        cordon_now=True,
    )


def _radius(node: FleetNode, remediation: Remediation) -> BlastRadius:
    destroys = remediation is Remediation.REPLACE
    return BlastRadius(
        nodes=(node.identity.host,), jobs=node.running_jobs, volumes=node.local_volumes if destroys else ()
    )


def _spare(node: FleetNode, remediation: Remediation, fleet: Fleet) -> NodeIdentity | None:
    """Spares first: the job need not wait until the node is back."""
    if remediation not in {Remediation.REPLACE, Remediation.ISOLATE}:
        return None
    return next((spare.identity for spare in fleet.spares(node.group)), None)


def _explained(fault: Fault, remediation: Remediation) -> Message:
    return message(
        "health.because",
        remediation=remediation_name(remediation),
        cause=cause_name(fault.fault_class),
        rule=fault.rule,
        source=fault.source,
    )
