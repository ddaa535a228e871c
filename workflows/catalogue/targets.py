"""Which cluster is meant: one that exists, one that an earlier step of the plan makes, or a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.cluster.clusters import ClusterStatus, Orchestrator
from core.ids import ClusterName
from core.messages.message import message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from tools.arguments import ByName, NoArgs
from tools.clusters import DESCRIBE_CLUSTER, LIST_CLUSTERS, ClusterDetails
from workflows.catalogue.options import option
from workflows.operations import Missing, PlannedCluster, Reads, Refused

Target: TypeAlias = ClusterDetails | PlannedCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """What else could have been meant."""

    existing: tuple[str, ...]
    planned: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.planned, *self.existing)


def find_target(
    name: str | None, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]
) -> Target | Missing | Refused:
    """The named cluster; without a name the only one there is, and a question when there are several."""
    if name is None:
        return _the_only_one(reads, planned)
    if (ours := planned.get(ClusterName(name))) is not None:
        return ours
    details = reads.read(DESCRIBE_CLUSTER, ByName(name=name))
    if details is None:
        known = ", ".join(_others(reads, planned).names)
        remedy = message("targets.known_clusters", names=known) if known else message("targets.no_clusters")
        unknown = message("targets.cluster_unknown", name=name)
        return Refused(reason=RefusalReason.NAME_UNKNOWN, message=unknown, remedies=(remedy,))
    return details


def refuse_unusable(details: ClusterDetails) -> Refused | None:
    """For work that runs on the cluster: it must be in service and orchestrated by EKS."""
    cluster = details.cluster
    if cluster.orchestrator is not Orchestrator.EKS:
        text = message("targets.only_eks", name=cluster.name)
        return Refused(reason=RefusalReason.NOT_SUPPORTED, message=text)
    if cluster.status is not ClusterStatus.IN_SERVICE:
        text = message("targets.wrong_status", name=cluster.name, status=cluster.status.value)
        return Refused(reason=RefusalReason.TARGET_IN_WRONG_STATE, message=text)
    return None


def _the_only_one(reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Target | Missing | Refused:
    others = _others(reads, planned)
    if not others.names:
        text = message("targets.no_clusters")
        return Refused(reason=RefusalReason.NAME_UNKNOWN, message=text)
    if len(others.names) == 1:
        return find_target(others.names[0], reads, planned)
    return Missing(question=ask_which(planned=others.planned, existing=others.existing))


def ask_which(*, planned: Sequence[str], existing: Sequence[str]) -> QuestionDraft:
    """No cluster is recommended over another: which one is meant, only the requester knows."""
    return QuestionDraft(
        name="params.cluster",
        kind=QuestionKind.TARGET,
        prompt=message("targets.which_cluster"),
        options=(
            *(option(name, message("targets.planned", name=name)) for name in planned),
            *(option(name, message("targets.existing", name=name)) for name in existing),
        ),
    )


def _others(reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Others:
    return Others(
        existing=tuple(cluster.name for cluster in reads.read(LIST_CLUSTERS, NoArgs())), planned=tuple(planned)
    )
