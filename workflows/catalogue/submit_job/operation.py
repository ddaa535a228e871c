"""submit_job as something to ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.choices import ChoiceKind
from core.cluster.instance_types import AcceleratorKind, InstanceType
from core.ids import ClusterName
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from core.risk import Risk
from tools.arguments import ByName, NoArgs
from tools.clusters import ClusterDetails
from tools.identity import PLACE
from tools.jobs import DESCRIBE_JOB, PRIORITY_CLASS_NAMES, TAKES_JOBS, JobName, team_namespace
from tools.offers import TYPE_FIGURES, OfferArgs
from workflows.catalogue.create_cluster.params import MAX_NODES, CreateClusterParams
from workflows.catalogue.preparing import reading
from workflows.catalogue.submit_job.params import (
    DEFAULT_NAMESPACE,
    MAX_NAME_LENGTH,
    NAME_PATTERN,
    SAMPLE_IMAGE,
    SubmitJobParams,
)
from workflows.catalogue.targets import Target, find_target, refuse_unusable
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused


class SubmitJobRequest(BaseModel):
    """What the model may fill in. A job's nodes are a parameter: it takes what the cluster has."""

    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster, which may be one of the open plan.")
    name: str | None = Field(default=None, description="Name of the job, when the requester gave one.")
    nodes: int | None = Field(default=None, description="On how many nodes the job runs.")
    image: str | None = Field(
        default=None,
        description="Container image; null when none was named.",
    )
    is_sample: bool | None = Field(default=None, description="True when the requester asked for the sample job.")
    command: list[str] | None = Field(default=None, description="Command of the container, when one was given.")
    accelerators_per_node: int | None = Field(
        default=None, description="GPUs or Neuron devices per node, when fewer than all of a node's."
    )
    team: str | None = Field(default=None, description="Team whose namespace and quota the job uses.")
    priority: str | None = Field(default=None, description="Priority class of task governance, such as `training`.")
    max_restarts: int | None = Field(default=None, description="Restarts of the whole job before it counts as failed.")


class SubmitJob:
    """`workflows.operations.Operation`."""

    name: Final = "submit_job"
    description: Final = (
        "Submit one training job (HyperPodPyTorchJob) to a cluster that exists or is made earlier in the same plan,"
        " and follow it to its end."
    )
    params: Final[type[BaseModel]] = SubmitJobRequest
    human_choices: Final[frozenset[ChoiceKind]] = frozenset()

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        return reading(lambda: _prepare(draft, reads, planned))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where the job would run: the nodes of one type of one cluster."""

    cluster: str
    eks_name: str
    """Empty for a cluster that is still to be made."""
    kind: InstanceType
    nodes: int
    depends_on: tuple[str, ...]


def _prepare(draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    request = SubmitJobRequest.model_validate(draft.params)
    refusal = _refuse_words(request)
    if refusal is not None:
        return refusal
    target = find_target(request.cluster, reads, planned)
    if isinstance(target, Missing | Refused):
        return target
    place = _place(target, reads)
    if isinstance(place, Refused):
        return place
    team = request.team if request.team is not None else draft.requested_by.project or ""
    refusal = _refuse_on(place, request, team, reads)
    if refusal is not None:
        return refusal
    if request.nodes is None:
        return Missing(question=_nodes_question(place))
    is_sample = request.is_sample is True or reads.read(PLACE, NoArgs()).is_local
    image = request.image or (SAMPLE_IMAGE if is_sample else None)
    if image is None:
        return Missing(question=_image_question())
    name = request.name or _free_name(draft, place, team, reads)
    return _ready(request, place, team, name, request.nodes, image)


def _refuse_words(request: SubmitJobRequest) -> Refused | None:
    """What is wrong whatever the cluster looks like."""
    for field, value in (("name", request.name), ("team", request.team)):
        if value is not None and (len(value) > MAX_NAME_LENGTH or re.fullmatch(NAME_PATTERN, value) is None):
            text = message("submit_job.name_invalid", field=field, name=value[:80], longest=MAX_NAME_LENGTH)
            return Refused(reason=RefusalReason.NAME_INVALID, message=text)
    if request.nodes is not None and not 1 <= request.nodes <= MAX_NODES:
        text = message("market.count_out_of_range", count=request.nodes, most=MAX_NODES)
        return Refused(reason=RefusalReason.COUNT_OUT_OF_RANGE, message=text)
    if request.max_restarts is not None and request.max_restarts < 0:
        text = message("submit_job.restarts_invalid", count=request.max_restarts)
        return Refused(reason=RefusalReason.PARAMETER_INVALID, message=text)
    return None


def _place(target: Target, reads: Reads) -> _Place | Refused:
    """The group with most accelerated nodes; of a planned cluster the one that it begins with."""
    after = (target.node_id,) if isinstance(target, PlannedCluster) else ()
    if isinstance(target, PlannedCluster):
        planned = CreateClusterParams.model_validate(target.details)
        candidates, cluster, eks_name = [(planned.instance_type, planned.count)], planned.name, ""
    else:
        refusal = refuse_unusable(target)
        if refusal is not None:
            return refusal
        if not reads.read(TAKES_JOBS, ByName(name=target.eks_name)):
            text = message("submit_job.no_operator", name=target.cluster.name)
            return Refused(reason=RefusalReason.PREFLIGHT_FAILED, message=text)
        candidates, cluster, eks_name = _groups(target), str(target.cluster.name), target.eks_name
    found = [
        (kind, count)
        for name, count in candidates
        if (kind := reads.read(TYPE_FIGURES, OfferArgs(instance_type=name))) is not None and count > 0
    ]
    if not found:
        text = message("submit_job.cluster_empty", name=cluster)
        return Refused(reason=RefusalReason.CAPACITY_SHORT, message=text)
    kind, count = max(found, key=lambda item: (item[0].accelerators > 0, item[1] * item[0].accelerators, item[1]))
    return _Place(cluster=cluster, eks_name=eks_name, kind=kind, nodes=count, depends_on=after)


def _groups(details: ClusterDetails) -> list[tuple[str, int]]:
    """Nodes by type, over all groups."""
    counts: dict[str, int] = {}
    for group in details.cluster.groups:
        for name in group.instance_types[:1]:
            counts[name] = counts.get(name, 0) + group.current_count
    return sorted(counts.items())


def _refuse_on(place: _Place, request: SubmitJobRequest, team: str, reads: Reads) -> Refused | None:
    """What this cluster cannot do."""
    if request.nodes is not None and request.nodes > place.nodes:
        short = message(
            "submit_job.wants_too_many",
            name=place.cluster,
            nodes=place.nodes,
            type=place.kind.name,
            wanted=request.nodes,
        )
        remedies = (message("market.fewer", count=place.nodes), message("submit_job.add_capacity"))
        return Refused(reason=RefusalReason.CAPACITY_SHORT, message=short, remedies=remedies)
    wanted = request.accelerators_per_node
    if wanted is not None and not 0 <= wanted <= place.kind.accelerators:
        text = message(
            "submit_job.accelerators_invalid", wanted=wanted, type=place.kind.name, most=place.kind.accelerators
        )
        return Refused(reason=RefusalReason.COUNT_OUT_OF_RANGE, message=text)
    if request.priority is not None:
        classes = reads.read(PRIORITY_CLASS_NAMES, ByName(name=place.eks_name)) if place.eks_name else ()
        if _priority_class(request.priority) not in classes:
            text = message("submit_job.priority_unknown", priority=request.priority, known=", ".join(classes) or "-")
            return Refused(reason=RefusalReason.PARAMETER_INVALID, message=text)
    if request.name is not None and place.eks_name and _exists(place, team, request.name, reads):
        text = message("submit_job.name_taken", name=request.name, namespace=_namespace(team))
        return Refused(reason=RefusalReason.NAME_TAKEN, message=text)
    return None


def _ready(request: SubmitJobRequest, place: _Place, team: str, name: str, nodes: int, image: str) -> Ready:
    kind = place.kind
    accelerators = kind.accelerators if request.accelerators_per_node is None else request.accelerators_per_node
    has_some = accelerators > 0 and kind.accelerator is not AcceleratorKind.NONE
    params = SubmitJobParams(
        cluster=place.cluster,
        name=name,
        image=image,
        nodes=nodes,
        instance_type=kind.name,
        accelerator_resource=kind.accelerator.value if has_some else "",
        accelerators_per_node=accelerators if has_some else 0,
        # A gang over several nodes talks over EFA where there is any: all of a node's, as it takes whole nodes.
        efa_per_node=kind.efa_interfaces if nodes > 1 and accelerators == kind.accelerators else 0,
        command=tuple(request.command or ()),
        team=team,
        priority_class=_priority_class(request.priority) if request.priority is not None else "",
        max_restarts=request.max_restarts,
    )
    return Ready(
        run_params=params.model_dump(mode="json"),
        cluster=ClusterName(place.cluster),
        risk=Risk.REVERSIBLE,
        card=_card(params, request),
        cost_cents_per_hour=0,
        depends_on=place.depends_on,
    )


def _card(params: SubmitJobParams, request: SubmitJobRequest) -> tuple[Message, ...]:
    lines = [
        message(
            "submit_job.card_what",
            name=params.name,
            cluster=params.cluster,
            nodes=params.nodes,
            type=params.instance_type,
            accelerators=params.accelerators_per_node,
        ),
        message("submit_job.card_image", image=params.image)
        if request.image or request.is_sample
        else message("submit_job.card_sample", image=params.image),
        message("submit_job.card_namespace", namespace=params.namespace),
    ]
    if params.command:
        lines.append(message("submit_job.card_command", command=" ".join(params.command)))
    if params.priority_class:
        lines.append(message("submit_job.card_priority", priority=params.priority_class))
    return tuple(lines)


def _nodes_question(place: _Place) -> QuestionDraft:
    """Without a list: beside numbered options a typed 2 could mean the second of them or two nodes."""
    return QuestionDraft(
        name="params.nodes",
        kind=QuestionKind.MISSING,
        prompt=message("submit_job.ask_nodes", name=place.cluster, nodes=place.nodes, type=place.kind.name),
        options=(),
        takes_other=True,
        field="nodes",
    )


def _image_question() -> QuestionDraft:
    return QuestionDraft(
        name="params.image",
        kind=QuestionKind.MISSING,
        prompt=message("submit_job.ask_image"),
        options=(),
        takes_other=True,
        field="image",
    )


def _free_name(draft: Draft, place: _Place, team: str, reads: Reads) -> str:
    """Nobody has to name a job. On a cluster still to be made the plan's own node tells its jobs apart."""
    if not place.eks_name:
        return "train-" + re.sub(r"[^a-z0-9]+", "-", draft.node_id.lower()).strip("-").rpartition("-")[2]
    number = 1
    while _exists(place, team, f"train-{number}", reads):
        number += 1
    return f"train-{number}"


def _exists(place: _Place, team: str, name: str, reads: Reads) -> bool:
    job = JobName(eks_name=place.eks_name, namespace=_namespace(team), name=name)
    return reads.read(DESCRIBE_JOB, job) is not None


def _namespace(team: str) -> str:
    return team_namespace(team) if team else DEFAULT_NAMESPACE


def _priority_class(priority: str) -> str:
    """HyperPod's name for the Kueue class of a cluster policy's priority class."""
    return priority if priority.endswith("-priority") else f"{priority}-priority"
