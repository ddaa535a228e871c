"""delete_cluster as something to ask for: destructive, so everything that is lost is listed first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.choices import ChoiceKind
from core.cluster.clusters import ClusterStatus
from core.ids import ClusterName
from core.messages.message import Message, message
from core.reasons import RefusalReason
from core.risk import Risk
from tools.arguments import ByName, NoArgs
from tools.belongings import BELONGINGS
from tools.clusters import LIST_CLUSTERS, ClusterDetails
from tools.jobs import LIST_JOBS, JobsArgs
from tools.volumes import CLAIMS, ClaimsArgs
from workflows.catalogue.delete_cluster.params import DeleteClusterParams
from workflows.catalogue.preparing import reading
from workflows.catalogue.targets import ask_which, find_target
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused


class DeleteClusterRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster to delete, as the requester gave it.")


class DeleteCluster:
    """`workflows.operations.Operation`."""

    name: Final = "delete_cluster"
    description: Final = (
        "Delete a HyperPod cluster with all of its nodes and jobs, and what Muster made for it. Only when the"
        " requester asked for a deletion."
    )
    params: Final[type[BaseModel]] = DeleteClusterRequest
    human_choices: Final[frozenset[ChoiceKind]] = frozenset()

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        return reading(lambda: _prepare(draft, reads, planned))


def _prepare(draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    request = DeleteClusterRequest.model_validate(draft.params)
    if request.cluster is None:
        # Also when there is only one: nothing is deleted that nobody named.
        names = [summary.name for summary in reads.read(LIST_CLUSTERS, NoArgs())]
        if not names:
            return Refused(reason=RefusalReason.NAME_UNKNOWN, message=message("targets.no_clusters"))
        return Missing(question=ask_which(planned=(), existing=names))
    target = find_target(request.cluster, reads, {})
    if isinstance(target, Missing | Refused):
        return target
    if isinstance(target, PlannedCluster) or target.cluster.status is ClusterStatus.DELETING:
        text = message("delete_cluster.already_going", name=request.cluster)
        return Refused(reason=RefusalReason.TARGET_BUSY, message=text)
    return _ready(target, reads)


def _ready(target: ClusterDetails, reads: Reads) -> Ready:
    cluster = target.cluster
    jobs = reads.read(LIST_JOBS, JobsArgs(eks_name=target.eks_name)) if target.eks_name else ()
    lost = tuple(f"{job.namespace}/{job.name}" for job in jobs if not job.state.is_finished)
    params = DeleteClusterParams(name=cluster.name, arn=cluster.arn, lost_jobs=lost)
    return Ready(
        run_params=params.model_dump(mode="json"),
        cluster=cluster.name,
        risk=Risk.DESTRUCTIVE,
        card=(message("delete_cluster.card_what", name=cluster.name, arn=cluster.arn), *_fate(target, reads)),
        cost_cents_per_hour=0,
        blast_radius=_blast_radius(target, lost, reads),
    )


def _fate(target: ClusterDetails, reads: Reads) -> list[Message]:
    """What goes with the cluster, and what stays because Muster did not make it."""
    found = reads.read(BELONGINGS, ByName(name=target.cluster.name))
    kinds = sorted({item.kind for item in found})
    lines = [message("delete_cluster.card_also", kinds=", ".join(kinds))] if kinds else []
    if target.eks_name and not any(item.kind == "eks" for item in found):
        lines.append(message("delete_cluster.card_eks_stays", eks=target.eks_name))
    if not any(item.kind == "vpc" for item in found):
        lines.append(message("delete_cluster.card_network_stays"))
    return lines


def _blast_radius(target: ClusterDetails, jobs: tuple[str, ...], reads: Reads) -> tuple[Message, ...]:
    groups = [
        message(
            "delete_cluster.loses_nodes",
            group=group.name,
            count=max(group.current_count, group.target_count),
            type=", ".join(group.instance_types),
        )
        for group in target.cluster.groups
    ]
    claims = reads.read(CLAIMS, ClaimsArgs(eks_name=target.eks_name)) if target.eks_name else ()
    return (
        *groups,
        *(message("delete_cluster.loses_job", job=job) for job in jobs),
        *(message("delete_cluster.loses_claim", claim=claim) for claim in claims),
        message("delete_cluster.loses_disks"),
    )
